"""Latency tab: what does a forward pass cost on this machine, measured reproducibly?"""
