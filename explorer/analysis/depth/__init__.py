"""Numbers of the Depth tab: logit lens, hidden states, activation patching."""
