"""Charts of the Attention tab."""
