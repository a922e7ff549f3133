"""Model specs, loading, tokenization and the forward pass (torch and transformers live here)."""
