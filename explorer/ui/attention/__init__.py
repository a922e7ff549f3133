"""Attention tab: where does every head of the three models look?"""
