"""Middleware between a request and Gradio: filters, limits, queue, headers, log."""
