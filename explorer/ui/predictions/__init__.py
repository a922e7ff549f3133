"""Predictions tab: what does each model predict for a mask, and how sure is it?"""
