"""A list of texts through all models, for programs."""
