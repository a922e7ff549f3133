"""The sentences of the latency tab and of its endpoint."""

LABEL = "Latency"
QUESTION = "Why is ALBERT, with a tenth of the parameters, not ten times faster?"
BAD_FAMILY = "The family must be mini or base."
NO_ROUND = "The time was over before every model had run once. Please choose less work."
