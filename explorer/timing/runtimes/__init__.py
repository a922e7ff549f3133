"""Other runtimes for the same network: compiled or exported, each in its own process."""
