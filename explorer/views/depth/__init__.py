"""When does each model know? The pictures."""
