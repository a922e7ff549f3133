"""The named endpoints: one JSON object each, bad input refused in one plain sentence."""
