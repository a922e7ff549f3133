"""How broadly and how far each head looks, averaged over the words of the text."""

import torch
from transformers import AutoModel

TEXT = "The ship sailed across the [MASK] to America."
GROUPS = {
    "mini-BERT": [[0], [1], [2], [3], [4], [5], [6], [7], [8], [9], [10]],
    "mini-DistilBERT": [[0], [1], [2], [3], [4], [5], [6], [7], [8], [9], [10]],
    "mini-ALBERT": [[0], [1], [2], [3], [4], [5], [6], [7], [8], [9], [10]],
}  # the tokens of each word on which all the models agree
ADDED = [0, 10]  # which of these words the tokenizers added

PLACES = ("previous", "next", "self", "cls", "sep")
KINDS = [*PLACES, "broad", "mixed"]  # how the page calls them
ENOUGH, BROAD = 0.5, 0.85  # of a word's attention for one place; of the most possible entropy

columns = ["model", "layer", "head", "kind", "share_of_kind", "entropy_nats", "distance_words"]
rows = []
for label in MODELS:
    tokenizer, model = load(label, AutoModel, attn_implementation="eager")
    inputs = encode(tokenizer, model, TEXT)
    with torch.inference_mode():
        attention = torch.cat(model(**inputs, output_attentions=True).attentions)
    between = between_words(attention, GROUPS[label])
    n_words = between.shape[-1]
    read = [word for word in range(n_words) if word not in ADDED] or list(range(n_words))
    entropy = torch.special.entr(between.double()).sum(-1)[:, :, read].mean(-1)
    places = torch.arange(n_words)
    distance = (between * (places[:, None] - places).abs()).sum(-1)[:, :, read].mean(-1)
    content = [word for word in range(n_words) if word not in ADDED]
    shares = []
    for place in PLACES:
        added = ADDED[:1] if place == "cls" else ADDED[1:]
        step = {"previous": -1, "next": 1}.get(place, 0)
        kept = content if step else range(n_words)
        pairs = [(word, word + step) for word in read if word + step in kept]
        if place in ("cls", "sep"):
            shares.append(between[:, :, read][..., added].sum(-1).mean(-1))
        elif pairs:
            shares.append(torch.stack([between[:, :, a, b] for a, b in pairs]).mean(0))
        else:
            shares.append(torch.zeros(between.shape[:2]))
    most, kind = torch.stack(shares).max(0)
    broad = entropy / torch.tensor(max(n_words, 2)).double().log() >= BROAD
    for layer in range(entropy.shape[0]):
        for head in range(entropy.shape[1]):
            share = most[layer, head].item()
            unnamed = len(PLACES) + (not broad[layer, head])
            name = KINDS[kind[layer, head] if share >= ENOUGH else unnamed]
            own = share if share >= ENOUGH else None
            numbers = own, entropy[layer, head].item(), distance[layer, head].item()
            rows.append([label, layer + 1, head + 1, name, *numbers])
FIGURE = ("points", "model", "distance_words", ["entropy_nats"])
