"""Each tab's picture as finished HTML: what is in sight before, or without, the browser's code."""
