"""What did the student learn from its teacher? The tab."""
