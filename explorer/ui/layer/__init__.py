"""Layer tab: what does one layer do to a word?"""
