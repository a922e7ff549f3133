"""Specs, loading, tokens and the one forward pass (torch and transformers live here)."""
