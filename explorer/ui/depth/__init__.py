"""Depth tab: at which layer does each model know its answer?"""
