"""What do the models read: documents, pieces, single sentences, and what is hidden in them?"""
