"""What stands between the page and whoever asks for it: limits, headers, and a line per request."""
