"""What each model puts in each [MASK]: softmax over its whole vocabulary, likeliest first."""

import re

import torch
from transformers import AutoModelForMaskedLM

TEXT = "The ship sailed across the [MASK] to America."
TOP = 50
HIDDEN = [""]  # the word that the reader hid in each gap, where one is known

columns = ["gap", "model", "rank", "word", "token", "probability"]
columns += ["left_to_all_further_words", "perplexity"]
rows = []
gaps = [gap.span() for gap in re.finditer(r"\[MASK\]", TEXT)]
for label in MODELS:
    tokenizer, model = load(label, AutoModelForMaskedLM)
    inputs = encode(tokenizer, model, TEXT)
    with torch.inference_mode():
        probabilities = model(**inputs).logits[0].double().softmax(-1)
    masks = (inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero()[:, 0]
    for gap, position in enumerate(masks.tolist(), 1):
        top = probabilities[position].topk(TOP)
        choices = torch.special.entr(probabilities[position]).sum().exp().item()
        ids = top.indices.tolist()
        for rank, (i, p) in enumerate(zip(ids, top.values.tolist(), strict=True), 1):
            piece = tokenizer.convert_ids_to_tokens(i)
            left = max(0.0, 1 - top.values[:rank].sum().item())
            rows.append([gap, label, rank, spelled(tokenizer, i), piece, p, left, choices])
        word, (start, end) = HIDDEN[gap - 1], gaps[gap - 1]
        whole, spans = token_spans(tokenizer, TEXT[:start] + word + TEXT[end:])
        inside = tokens_of(spans, start, start + len(word)) if word else []
        own = [whole["input_ids"][i] for i in inside]
        if len(own) == 1 and own[0] not in ids and own[0] != tokenizer.unk_token_id:
            p = probabilities[position, own[0]].item()
            rank = 1 + (probabilities[position] > p).sum().item()
            rows.append([gap, label, rank, word, None, p, None, choices])
FIGURE = ("bars", "model", "gap rank token", ["probability"])
