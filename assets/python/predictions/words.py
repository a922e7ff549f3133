"""How likely each word is in its place: hidden, then its pieces filled from left to right."""

import math
import re

from transformers import AutoModelForMaskedLM

TEXT = "The ship sailed across the [MASK] to America."

ANSWERS = 3  # of the first piece, listed beside it

columns = ["position", "word", "model", "probability", "surprisal_nats", "rank", "tokens"]
for n in range(1, ANSWERS + 1):
    columns += [f"answer_{n}", f"probability_of_answer_{n}"]
rows = []
for label in MODELS:
    tokenizer, model = load(label, AutoModelForMaskedLM)
    encoding, spans = token_spans(tokenizer, TEXT)
    ids = encoding["input_ids"]
    for position, word in enumerate(words_of(TEXT), 1):
        inside = tokens_of(spans, *word.span())
        if not inside or re.fullmatch(r"\[\w+\]", word[0]):
            continue
        pieces = " ".join(tokenizer.convert_ids_to_tokens([ids[i] for i in inside]))
        nats, first = fill(model, tokenizer, encoding, inside)
        rank = 1 + (first > -nats + 1e-12).sum().item() if len(inside) == 1 else None
        known = tokenizer.unk_token_id not in [ids[i] for i in inside]
        found = [math.exp(-nats), nats, rank] if known else [None, None, None]
        top, listed = first.topk(ANSWERS), []
        for i, p in zip(top.indices.tolist(), top.values.exp().tolist(), strict=True):
            listed += [spelled(tokenizer, i), p]
        rows.append([position, word[0], label, *found, pieces, *listed])
rows.sort(key=lambda row: row[0])  # all models of a word together
FIGURE = ("bars", "model", "position word", ["surprisal_nats"])
