"""The words' states of all models on three common axes: Procrustes rotations, then PCA."""

import numpy as np
import torch
from transformers import AutoModel

TEXT = "The ship sailed across the [MASK] to America."
WORDS = ["The", "ship"]
GROUPS = {
    "mini-BERT": [[1], [2]],
    "mini-DistilBERT": [[1], [2]],
    "mini-ALBERT": [[1], [2]],
}  # the tokens of each word on which all the models agree

turned = {}
for label, groups in GROUPS.items():
    tokenizer, model = load(label, AutoModel)
    inputs = encode(tokenizer, model, TEXT)
    with torch.inference_mode():
        states = torch.cat(model(**inputs, output_hidden_states=True).hidden_states)
    words = torch.stack([states[:, tokens].mean(1) for tokens in groups], 1).double().numpy()
    words -= words.mean((0, 1))
    words /= np.sqrt((words**2).sum(-1).mean())
    first = next(iter(turned.values()), words)
    target = first[np.linspace(0, len(first) - 1, len(words)).round().astype(int)]
    left, _, right = np.linalg.svd(np.einsum("lwi,lwj->ij", words, target))
    turned[label] = words @ (left @ right)

flat = np.concatenate([words.reshape(-1, words.shape[-1]) for words in turned.values()])
axes = np.linalg.svd(flat - flat.mean(0), full_matrices=False)[2][:3]
axes *= np.sign(axes[range(3), np.abs(axes).argmax(1)])[:, None]

columns = ["model", "layer", "word", "pc1", "pc2", "pc3"]
rows = []
for label, words in turned.items():
    for layer, points in enumerate((words - flat.mean(0)) @ axes.T):
        rows += [[label, layer, word, *at] for word, at in zip(WORDS, points.tolist(), strict=True)]
FIGURE = ("points", "model word", "pc1", ["pc2"])
