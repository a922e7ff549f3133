"""Charts of the Layer tab."""
