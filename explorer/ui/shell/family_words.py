"""The sentences of the family's drawing."""

TITLE = "The family: what is shared, left out and applied again"
TEXT = "Your text"
TEXT_SAYS = "goes into each of the three, in pieces of its own; a word for the gap comes out."
AGAIN = "↻"
OWN = "{n} layers, each with weights of its own"
BEGUN = "{n} layers, begun as layers {layers} of {teacher}"
SHARED = "one layer, applied {n} times"
NARROW = "words enter {e} wide instead of {h}"
NO_SEGMENTS = "no segments"
NO_POOLER = "no pooler"
STEPS = (
    ("Predict.", "Your text goes in; a word for each gap comes out.", ("predictions",)),
    (
        "Look inside.",
        "Where the heads look, when each model knows, and what the student took over.",
        ("attention", "depth", "distillation"),
    ),
    ("Put to use.", "Pairs of sentences, sentiment, questions about a text.", ("tasks",)),
    (
        "Count the cost.",
        "What is stored, how long it takes, what of it is said rightly.",
        ("parameters", "latency", "claims"),
    ),
)
"""The path in four steps: its name, what is seen there, the tabs."""
