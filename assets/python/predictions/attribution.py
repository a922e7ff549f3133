"""Which words an answer is read from, in nats: two attributions of ln P(answer) at a mask.

Integrated gradients lead from a text of masks to the text (Sundararajan et al. 2017).
"""

import math

import torch
from transformers import AutoModelForMaskedLM

TEXT = "The ship sailed across the [MASK] to America."
GAP = 0  # the mask whose answer is attributed, from 0
ANSWERS = {}  # by model the piece that was typed; empty: each model's own answer


def score(model, position, answer, **inputs):
    logits = model(**inputs).logits[:, position]
    return logits[:, answer] - logits.logsumexp(-1)


columns = ["model", "answer", "probability", "log_probability", "baseline"]
columns += ["word", "integrated_gradients", "leave_one_out"]
rows = []
for label in ANSWERS or MODELS:
    tokenizer, model = load(label, AutoModelForMaskedLM, attn_implementation="eager")
    mask, text = tokenizer.mask_token, TEXT.replace("[MASK]", tokenizer.mask_token)
    words = words_of(text, mask)
    encoding, spans = token_spans(tokenizer, text)
    added = [side is None for side in encoding.sequence_ids()]
    inputs = encode(tokenizer, model, TEXT)
    ids = inputs.pop("input_ids")
    position = (ids[0] == tokenizer.mask_token_id).nonzero()[GAP, 0]
    with torch.inference_mode():
        answer = model(input_ids=ids, **inputs).logits[0, position].argmax().item()
    if ANSWERS:
        answer = tokenizer.convert_tokens_to_ids(ANSWERS[label])
    embed = model.get_input_embeddings()
    start = embed(torch.where(torch.tensor(added), ids, tokenizer.mask_token_id)).detach()
    shares, baseline = integrated(
        lambda at: score(model, position, answer, inputs_embeds=at, **inputs),
        start,
        embed(ids).detach(),
    )
    owners = [  # a piece belongs to the first word that ends after its beginning
        None if of_none else next(i for i, word in enumerate(words) if word.end() > first)
        for (first, _), of_none in zip(spans, added, strict=True)
    ]
    with torch.inference_mode():
        whole = score(model, position, answer, input_ids=ids, **inputs).item()
        for i, word in enumerate(words):
            inside = [place for place, owner in enumerate(owners) if owner == i]
            masked = ids.clone()
            masked[0, inside] = tokenizer.mask_token_id
            left = score(model, position, answer, input_ids=masked, **inputs).item()
            piece = tokenizer.convert_ids_to_tokens(answer)
            named = "[MASK]" if word[0] == mask else word[0]
            share = sum(shares[place] for place in inside)
            ends = [math.exp(whole), whole, baseline]
            rows.append([label, piece, *ends, named, share, whole - left])
FIGURE = ("bars", "model", "word", ["integrated_gradients", "leave_one_out"])
