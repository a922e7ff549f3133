"""How close a word in one sentence is to a word in another at every layer, and unrelated words."""

import itertools

import torch
from torch.nn.functional import normalize
from transformers import AutoModel

FIRST = ["After ten years she got a promotion at work.", 26, 35]  # a sentence, its word's ends
SECOND = ["The shop had a promotion on summer shoes.", 15, 24]
UNRELATED = [["The sun was hot.", 4, 7], ["He had a dog.", 9, 12]]  # one word of each sentence

columns = ["model", "layer", "cosine", "unrelated", "low", "high"]
rows = []
for label in MODELS:
    tokenizer, model = load(label, AutoModel)
    vectors = []
    for text, start, end in [FIRST, SECOND, *UNRELATED]:
        _, spans = token_spans(tokenizer, text)
        inputs = encode(tokenizer, model, text)
        with torch.inference_mode():
            states = torch.cat(model(**inputs, output_hidden_states=True).hidden_states).double()
        word = states[:, tokens_of(spans, start, end)].mean(1)
        vectors.append(normalize(word, dim=-1))
    first, second, *others = vectors
    pairs = [(one * other).sum(-1) for one, other in itertools.combinations(others, 2)]
    control = torch.stack(pairs)
    ends = torch.quantile(control, torch.tensor([0.05, 0.95]).double(), dim=0)
    for layer, cosine in enumerate((first * second).sum(-1)):
        found = cosine, control[:, layer].mean(), *ends[:, layer]
        rows.append([label, layer, *(value.item() for value in found)])
FIGURE = ("lines", "model", "layer", ["cosine", "unrelated", "low", "high"])
