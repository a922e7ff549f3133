"""From the command line to a page that is served, in this process or over Ray."""
