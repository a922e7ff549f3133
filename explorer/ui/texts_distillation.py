"""Sentences of the distillation tab."""

LABEL = "Distillation"
QUESTION = "How much of the teacher's knowledge did the student keep?"
BAD_FAMILY = "The family is either mini or base."
TOO_MANY_MASKS = "The text has {found} masks; at most {limit} are compared at once."
