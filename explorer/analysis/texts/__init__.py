"""A reader's own list of texts through all models: which of them serves the task?"""
