"""Command line, startup and shutdown of the server, in this process or on Ray Serve."""
