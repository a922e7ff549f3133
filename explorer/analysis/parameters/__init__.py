"""Parameter counts, operations and memory, and the effect of sharing and factorising."""
