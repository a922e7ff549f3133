"""Where the networks are, and how the page asks them: in this process, or on other machines."""
