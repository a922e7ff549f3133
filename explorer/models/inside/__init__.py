"""Internals of a network during a pass: activations, gradients, ablated heads."""
