"""The same network under another runtime: compiled, exported, in a process of its own."""
