"""Everything the reader chose, and the link that holds it."""
