"""What stands on an encoder besides the masked-word head: the pair head, sentiment, answers."""
