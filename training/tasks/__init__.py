"""Task fine-tuning: small adapters on frozen weights, the same schedule for each model."""
