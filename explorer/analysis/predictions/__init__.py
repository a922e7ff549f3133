"""What does each model put in the gap, and how sure is it? The numbers."""
