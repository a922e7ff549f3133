"""How the heads of a shared layer change from one application to the next: JS of their rows."""

import torch
from transformers import AutoModel

TEXT = "The ship sailed across the [MASK] to America."
GROUPS = {"mini-ALBERT": [[0], [1], [2], [3], [4], [5], [6], [7], [8], [9], [10]]}  # by word
READ = [1, 2, 3, 4, 5, 6, 7, 8, 9]  # the words whose rows are compared


def js(first, second):
    middle, both = (first + second) / 2, [first, second]
    own = sum(torch.special.entr(one).sum(-1).mean(-1) for one in both) / 2
    return (torch.special.entr(middle).sum(-1).mean(-1) - own).clamp(min=0)


columns = ["layer", "head", "js_from_first_nats", "js_from_layer_before_nats"]
rows = []
for label, groups in GROUPS.items():
    tokenizer, model = load(label, AutoModel, attn_implementation="eager")
    inputs = encode(tokenizer, model, TEXT)
    with torch.inference_mode():
        attention = torch.cat(model(**inputs, output_attentions=True).attentions)
    words = between_words(attention, groups)[:, :, READ].double()
    for layer in range(len(words)):
        first = js(words[0], words[layer])
        step = js(words[layer - 1], words[layer]) if layer else [None] * len(first)
        for head, (one, other) in enumerate(zip(first, step, strict=True), 1):
            rows.append([layer + 1, head, float(one), None if other is None else float(other)])
FIGURE = ("lines", "head", "layer", ["js_from_first_nats", "js_from_layer_before_nats"])
