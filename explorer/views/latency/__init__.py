"""What does a forward pass cost here, by a protocol one can trust? The pictures."""
