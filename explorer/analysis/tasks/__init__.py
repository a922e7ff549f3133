"""Downstream tasks: sentence pairs, sentiment, question answering."""
