"""The tag of each word by a model's own token classifier, and the span that it is part of.

A word has the tag of its first token; tags are joined as conlleval joins them.
"""

import torch
from transformers import AutoModelForTokenClassification

TEXT = "Anna Berg lives in Paris."
HEADS = {"bert": ["O", "B-PER", "I-PER"]}
PREFIXES = {"B": "B", "I": "I", "E": "E", "L": "E", "S": "S", "U": "S"}


def parted(tag):
    prefix, dash, label = tag.partition("-")
    return (PREFIXES[prefix], label) if dash and prefix in PREFIXES else ("", tag)


columns = ["model", "word", "tag", "probability", "span", "label"]
rows, words = [], words_of(TEXT)
for label, names in HEADS.items():
    tokenizer, model = load(label, AutoModelForTokenClassification, attn_implementation="eager")
    with torch.inference_mode():
        p = model(**encode(tokenizer, model, TEXT)).logits[0].double().softmax(-1)
    coded, spans = token_spans(tokenizer, TEXT)
    first = {}
    for i, ((start, _), side) in enumerate(zip(spans, coded.sequence_ids(), strict=True)):
        if side is not None:  # a token belongs to the first word that ends after its beginning
            first.setdefault(next(w for w, word in enumerate(words) if word.end() > start), i)
    one_each = "O" not in names and not any(parted(name)[0] for name in names)
    number, before = 0, ("", "O")
    for w, word in enumerate(words):
        if w not in first:  # its token is also that of another word
            rows.append([label, word[0], "", None, None, None])
            continue
        best = int(p[first[w]].argmax())
        now = parted(names[best])
        goes_on = now[1] == before[1] and now[0] not in ("B", "S") and before[0] not in ("E", "S")
        number += now[1] != "O" and (one_each or not goes_on)
        inside = [number, now[1]] if now[1] != "O" else [None, None]
        rows.append([label, word[0], names[best], p[first[w], best].item(), *inside])
        before = now
FIGURE = ("bars", "model", "word", ["probability"])
