"""Which of several words a model prefers: their shares among those of as many pieces."""

import math

from transformers import AutoModelForMaskedLM

STRETCHES = [
    ["The ship sailed across the sea to America.", 27, 30],
    ["The ship sailed across the ocean to America.", 27, 32],
]  # each text with a word in its place, and where that stands

columns = ["model", "alternative", "pieces", "share_among_equals", "probability"]
rows = []
for label in MODELS:
    tokenizer, model = load(label, AutoModelForMaskedLM)
    found = [(text[a:b], *surprisal(model, tokenizer, text, a, b)) for text, a, b in STRETCHES]
    known = [one for one in found if tokenizer.unk_token not in one[-1]]
    for word, nats, _, pieces in known:
        equals = [math.exp(nats - other[1]) for other in known if len(other[-1]) == len(pieces)]
        share = 1 / sum(equals) if len(equals) > 1 else None
        rows.append([label, word, " ".join(pieces), share, math.exp(-nats)])
FIGURE = ("bars", "model", "alternative", ["probability"])
