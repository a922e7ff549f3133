"""How alike all layers are: linear CKA between the states of the same words of many texts."""

import numpy as np
import torch
from transformers import AutoModel

TEXTS = ["The ship sailed across the sea to America."]
MAX_WORDS = 1000

names, grams = [], []
for label in MODELS:
    tokenizer, model = load(label, AutoModel)
    words = []
    for text in TEXTS:
        coded = tokenizer(text, return_tensors="pt", return_offsets_mapping=True)
        spans = coded.pop("offset_mapping")[0].tolist()
        with torch.inference_mode():
            states = torch.cat(model(**coded, output_hidden_states=True).hidden_states)
        for word in words_of(text):
            inside = [i for i, (a, b) in enumerate(spans) if a < word.end() and b > word.start()]
            words.append(states[:, inside].mean(1).double())
    for layer, found in enumerate(torch.stack(words[:MAX_WORDS], 1)):
        centred = found - found.mean(0)
        gram = centred @ centred.T
        names.append((label, layer))
        grams.append(gram / gram.norm())
order = np.random.default_rng(0).permutation(len(grams[0]))

columns = ["model", "layer", "other_model", "other_layer", "cka", "cka_shuffled"]
rows = []
flat = torch.stack(grams).flatten(1)
for name, gram in zip(names, grams, strict=True):
    shuffled = torch.stack(grams)[:, order][:, :, order].flatten(1) @ gram.flatten()
    for other, cka, chance in zip(names, flat @ gram.flatten(), shuffled, strict=True):
        rows.append([*name, *other, cka.item(), chance.item()])
FIGURE = ("heatmap", "", "other_model other_layer", ["cka"], "model layer")
