"""Live training of a small student: objective, sentences, training loop."""
