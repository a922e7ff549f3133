"""First page: what the server sends before any script, with the answer of the link in it."""
