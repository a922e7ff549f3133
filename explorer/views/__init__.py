"""Charts, HTML and JSON of analysis results (no models, no Gradio)."""
