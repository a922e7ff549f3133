"""What are they used for? Sentence pairs, sentiment, questions."""
