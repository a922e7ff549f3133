"""Fine-tuning for a task: small adapters on frozen weights, the same schedule for each model."""
