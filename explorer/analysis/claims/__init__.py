"""Printed claims about the models, and live checks of them."""
