"""Charts and tables of the Latency tab."""
