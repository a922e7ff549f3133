"""List of texts through all models: the tab, and the endpoint for programs."""
