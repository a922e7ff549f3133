"""Pictures and words of a list of texts through all models: which of them serves the task?"""
