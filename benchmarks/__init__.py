"""The latency protocol, from the command line."""
