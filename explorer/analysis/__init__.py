"""Pure functions from a run to a frozen result (numpy and torch; no page, no charts)."""
