"""Checkpoints of other forms, written so that every library reads them alike."""
