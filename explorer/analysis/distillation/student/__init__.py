"""A student trained before the reader's eyes."""
