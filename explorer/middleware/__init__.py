"""Code between a request and Gradio: filters, limits, queue, headers, sessions, patches, log."""
