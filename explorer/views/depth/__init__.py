"""Charts of the Depth tab."""
