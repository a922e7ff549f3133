"""Who goes first on the machine, who waits, and how a computation is cancelled."""
