"""How a network answers: runs and their cache, backends, batching, scheduling."""
