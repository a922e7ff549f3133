"""Rows whose words have tags: the tags of each model's own head, and which spans differ.

A word has the tag of its first token; tags are joined as conlleval joins them.
"""

import torch
from transformers import AutoModelForTokenClassification

ROWS = [[1, "Anna Berg lives in Paris .", "B-PER I-PER O O B-LOC O", "", ""]]
HEADS = {"bert": ["O", "B-PER", "I-PER"]}  # the tags of each head, in the list's names
PREFIXES = {"B": "B", "I": "I", "E": "E", "L": "E", "S": "S", "U": "S"}


def parted(tag):
    prefix, dash, label = tag.partition("-")
    return (PREFIXES[prefix], label) if dash and prefix in PREFIXES else ("", tag)


def spans_of(tags, names):
    """Label, first and last word of each span."""
    one_each = "O" not in names and not any(parted(name)[0] for name in names)
    found, before = [], ("", "O")
    for word, now in enumerate(map(parted, tags)):
        goes_on = now[1] == before[1] and now[0] not in ("B", "S") and before[0] not in ("E", "S")
        if now[1] != "O" and goes_on and not one_each:
            found[-1][2] = word
        elif now[1] != "O":
            found.append([now[1], word, word])
        before = now
    return found


def said(words, spans, others=()):
    """Those spans that are none of the others, in words."""
    kept = [span for span in spans if span not in others]
    return ", ".join(f"{' '.join(words[a : b + 1])} ({label})" for label, a, b in kept)


columns = ["row", "model", "text", "tags", "spans", "group"]
columns += ["predicted", "missed", "in_vain", "right"]
rows, scheme = [], {tag for _, _, tags, *_ in ROWS for tag in tags.split(" ")}
for label, names in HEADS.items():
    tokenizer, model = load(label, AutoModelForTokenClassification, attn_implementation="eager")
    for number, text, tags, _, group in ROWS:
        with torch.inference_mode():
            best = model(**encode(tokenizer, model, text)).logits[0].argmax(-1)
        _, spans = token_spans(tokenizer, text)
        words, guess, start = text.split(" "), [], 0
        for word in words:
            inside = [i for i, (a, b) in enumerate(spans) if b and start <= a < start + len(word)]
            guess.append(names[best[inside[0]]])
            start += len(word) + 1
        true, given = spans_of(tags.split(" "), scheme), spans_of(guess, names)
        told = [" ".join(guess), said(words, true, given), said(words, given, true), true == given]
        rows.append([number, label, text, tags, said(words, true), group, *told])
rows.sort(key=lambda row: row[0])  # all models of a row together
FIGURE = ("bars", "model", "row", ["right"])
