"""When does each model know? The numbers."""
