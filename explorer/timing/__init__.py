"""Timing of forward passes, and the state of the machine meanwhile."""
