"""When does each model know? The tab."""
