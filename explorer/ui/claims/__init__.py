"""Claims tab: which of the statements printed about these models hold?"""
