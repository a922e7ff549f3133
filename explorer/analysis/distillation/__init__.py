"""Numbers of the Distillation tab: soft probabilities, losses, agreement, a live student."""
