"""Tasks tab: what are the models used for?"""
