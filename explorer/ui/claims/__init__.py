"""Which of the things printed about these models hold? The tab."""
