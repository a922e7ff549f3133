"""Where each head looks from either sentence of a pair: to A, to B, to the added tokens."""

import torch
from transformers import AutoModel

TEXT = "The sun went down. [SEP] It was dark in the house."
GROUPS = {
    "mini-BERT": [[0], [1], [2], [3], [4], [5], [6], [7], [8], [9], [10]],
    "mini-DistilBERT": [[0], [1], [2], [3], [4], [5], [6], [7], [8], [9], [10]],
    "mini-ALBERT": [[0], [1], [2], [3], [4], [5], [6], [7], [8], [9], [10]],
}  # the tokens of each word on which all the models agree

columns = ["model", "layer", "head"]
columns += [f"{a}_to_{b}" for a in ("a", "b") for b in ("a", "b", "added")]
rows, means = [], []
for label, groups in GROUPS.items():
    tokenizer, model = load(label, AutoModel, attn_implementation="eager")
    inputs = encode(tokenizer, model, TEXT)
    with torch.inference_mode():
        attention = torch.cat(model(**inputs, output_attentions=True).attentions).double()
    words = between_words(attention, groups)
    side = [inputs.sequence_ids()[tokens[0]] for tokens in groups]
    at = [[i for i, one in enumerate(side) if one == wanted] for wanted in (0, 1, None)]
    shares = [words[:, :, at[a]][..., at[b]].sum(-1).mean(-1) for a in (0, 1) for b in (0, 1, 2)]
    for layer in range(attention.shape[0]):
        for head in range(attention.shape[1]):
            found = [share[layer, head].item() for share in shares]
            rows.append([label, layer + 1, head + 1, *found])
    means.append([label, None, None, *(share.mean().item() for share in shares)])
rows += means  # over all heads
FIGURE = ("bars", "model", "layer head", columns[3:])
