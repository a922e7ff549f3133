"""Pairs: by how many nats the good sentence is likelier than the bad one."""

from transformers import AutoModelForMaskedLM

ROWS = [
    [1, "The dogs bark.", "The dogs barks.", "simple"],
]
SCORE = "pll"

columns = ["row", "model", "good", "bad", "group", "unknown_good", "unknown_bad"]
columns += ["pll_good", "pll_bad", "pll_word_l2r_good", "pll_word_l2r_bad", "margin"]
rows = []
for label in MODELS:
    tokenizer, model = load(label, AutoModelForMaskedLM)
    for number, good, bad, group in ROWS:
        (_, *first), (_, *second) = (likelihoods(tokenizer, model, one) for one in (good, bad))
        which = ["pll", "pll_word_l2r"].index(SCORE)
        scores = [value for both in zip(first, second, strict=True) for value in both]
        margin = first[1 + which] - second[1 + which]
        rows.append([number, label, good, bad, group, *scores, margin])
rows.sort(key=lambda row: row[0])  # all models of a row together
FIGURE = ("bars", "model", "row", ["margin"])
