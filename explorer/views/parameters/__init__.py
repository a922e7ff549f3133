"""Charts and tables of the Parameters tab."""
