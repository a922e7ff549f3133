"""Latency of forward passes: measurement protocol, ratios, variants and model choice."""
