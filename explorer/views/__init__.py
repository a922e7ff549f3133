"""From a result to a figure or to HTML (no model, no page)."""
