"""Components and helpers shared by all tabs."""
