"""Sentences: pseudo-log-likelihood with each token masked alone, and with the rest of its word."""

from transformers import AutoModelForMaskedLM

ROWS = [
    [1, "The keys to the cabinet are on the table.", ""],
]

columns = ["row", "model", "text", "group", "tokens", "unknown", "pll", "pll_word_l2r"]
rows = []
for label in MODELS:
    tokenizer, model = load(label, AutoModelForMaskedLM)
    for number, text, group in ROWS:
        rows.append([number, label, text, group, *likelihoods(tokenizer, model, text)])
rows.sort(key=lambda row: row[0])  # all models of a row together
FIGURE = ("bars", "model", "row", ["pll_word_l2r"])
