"""Inference: runs and their cache, backends, batching."""
