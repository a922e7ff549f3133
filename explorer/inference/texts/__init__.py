"""A list of texts through all models of a family: batches, and the result of a whole list."""
