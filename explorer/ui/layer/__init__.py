"""What does one layer do to a word? The tab."""
