"""What are they used for? The tab."""
