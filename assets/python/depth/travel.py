"""How each word's state moves through the layers: cosines with its first and its last one."""

import torch
from transformers import AutoModel

TEXT = "The ship sailed across the [MASK] to America."
WORDS = ["The", "ship"]
GROUPS = {
    "mini-BERT": [[1], [2]],
    "mini-DistilBERT": [[1], [2]],
    "mini-ALBERT": [[1], [2]],
}  # the tokens of each word on which all the models agree

columns = ["model", "layer", "word", "cosine_to_start", "cosine_to_end"]
rows = []
for label in MODELS:
    tokenizer, model = load(label, AutoModel)
    inputs = encode(tokenizer, model, TEXT)
    with torch.inference_mode():
        states = torch.cat(model(**inputs, output_hidden_states=True).hidden_states).double()
    words = torch.stack([states[:, tokens].mean(1) for tokens in GROUPS[label]], 1)
    words /= words.norm(dim=-1, keepdim=True)
    for layer, now in enumerate(words):
        start, end = ((now * then).sum(-1).tolist() for then in (words[0], words[-1]))
        rows += [[label, layer, *found] for found in zip(WORDS, start, end, strict=True)]
FIGURE = ("lines", "model word", "layer", ["cosine_to_start", "cosine_to_end"])
