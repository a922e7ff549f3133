"""Distillation tab: what did the student learn from its teacher?"""
