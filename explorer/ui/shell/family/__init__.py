"""The models in use: their drawing, and the lists in which others are chosen."""
