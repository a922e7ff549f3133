"""Pairs: by how many nats the good sentence is likelier than the bad one."""

from difflib import SequenceMatcher

import torch
from transformers import AutoModelForMaskedLM

ROWS = [
    [1, "The dogs bark.", "The dogs barks.", "simple"],
]
SCORE = "pll"
BLANKS = {}  # by number of a row of StereoSet the context and the three words at its gap


def of_both(tokenizer, model, sides):
    """Sums over the tokens that both sentences have, each masked alone (Nangia et al. 2020)."""
    both = [token_spans(tokenizer, one)[0] for one in sides]
    same = SequenceMatcher(None, *(one["input_ids"] for one in both)).get_matching_blocks()
    places = [(a + i, b + i) for a, b, size in same for i in range(size)][1:-1]
    sums = [0.0, 0.0]
    for side, encoding in enumerate(both):
        segments = torch.tensor([encoding["token_type_ids"]])
        for place in (pair[side] for pair in places):
            ids = torch.tensor([encoding["input_ids"]])
            ids[0, place] = tokenizer.mask_token_id
            with torch.inference_mode():
                logits = model(input_ids=ids, token_type_ids=segments).logits[0, place]
            sums[side] += logits.double().log_softmax(-1)[encoding["input_ids"][place]].item()
    return sums


def at_blank(tokenizer, model, context, *words):
    """Each word's score: the mean probability of its pieces, each after the earlier ones."""
    whole = encode(tokenizer, model, context)["input_ids"][0].tolist()
    place, means = whole.index(tokenizer.mask_token_id), []
    for word in words:
        pieces, found = tokenizer(word, add_special_tokens=False)["input_ids"], []
        for n, piece in enumerate(pieces):
            ids = torch.tensor([[*whole[:place], *pieces[:n], *whole[place:]]])
            with torch.inference_mode():
                logits = model(input_ids=ids).logits[0, place + n]
            found.append(logits.double().softmax(-1)[piece].item())
        means.append(sum(found) / len(found))
    return means


columns = ["row", "model", "good", "bad", "group", "unknown_good", "unknown_bad"]
columns += ["pll_good", "pll_bad", "pll_word_l2r_good", "pll_word_l2r_bad", "margin"]
columns += ["pll_unmodified_good", "pll_unmodified_bad"]
columns += ["blank_good", "blank_bad", "blank_unrelated"]
rows = []
for label in MODELS:
    tokenizer, model = load(label, AutoModelForMaskedLM)
    for number, good, bad, group in ROWS:
        (_, *first), (_, *second) = (likelihoods(tokenizer, model, one) for one in (good, bad))
        which = ["pll", "pll_word_l2r"].index(SCORE)
        scores = [value for both in zip(first, second, strict=True) for value in both]
        margin = first[1 + which] - second[1 + which]
        unmodified = of_both(tokenizer, model, (good, bad))
        blank = BLANKS.get(str(number))
        words = at_blank(tokenizer, model, *blank) if blank else [None] * 3
        rows.append([number, label, good, bad, group, *scores, margin, *unmodified, *words])
rows.sort(key=lambda row: row[0])  # all models of a row together
FIGURE = ("bars", "model", "row", ["margin"])
