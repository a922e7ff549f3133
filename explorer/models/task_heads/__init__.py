"""Heads on an encoder besides the masked-LM head: sentence pairs, sentiment, answers."""
