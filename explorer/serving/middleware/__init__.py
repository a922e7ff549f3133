"""Between a request and Gradio: what is answered, in what order, with which headers."""
