"""Charts of the Distillation tab."""
