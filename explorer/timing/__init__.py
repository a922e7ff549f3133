"""How long does a forward pass take, and what did the machine do meanwhile?"""
