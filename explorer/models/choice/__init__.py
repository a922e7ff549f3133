"""Which models are compared, what they weigh, and which of them are in memory."""
