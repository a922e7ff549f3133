"""Evaluation: the held-out measures, the probe, and the model cards."""
