"""How likely a word is in a gap: hidden, then its pieces filled from left to right."""

import math

from transformers import AutoModelForMaskedLM

STRETCHES = [
    ["The ship sailed across the sea to America.", 27, 30],
    ["The ship sailed across the ocean to America.", 27, 32],
]  # each text with a word in its place, and where that stands
ASKED = [["sea", 1], ["ocean", 1]]  # the words, and into which gap each was put

columns = ["word", "gap", "model", "probability", "surprisal_nats", "rank", "pieces"]
columns.append("vocabulary")
rows = []
for label in MODELS:
    tokenizer, model = load(label, AutoModelForMaskedLM)
    for asked, (text, start, end) in zip(ASKED, STRETCHES, strict=True):
        nats, first, pieces = surprisal(model, tokenizer, text, start, end)
        if nats is None or tokenizer.unk_token in pieces:
            rows.append([*asked, label, None, None, None, None, model.config.vocab_size])
            continue
        rank = 1 + (first > -nats + 1e-12).sum().item() if len(pieces) == 1 else None
        found = math.exp(-nats), nats, rank, " ".join(pieces)
        rows.append([*asked, label, *found, model.config.vocab_size])
rows.sort(key=lambda row: ASKED.index(row[:2]))  # all models of a word together
FIGURE = ("bars", "model", "gap word", ["probability"])
