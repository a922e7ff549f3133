"""Training data: documents, pieces, single sentences, and masking."""
