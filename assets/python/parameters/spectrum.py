"""Singular values of the word embedding that the layers see, over the largest of them."""

import torch
from transformers import AutoModel

columns = ["model", "index", "singular_value_over_largest"]
rows = []
for label in MODELS:
    model = load(label, AutoModel)[1]
    weights = dict(model.named_parameters())
    table = model.get_input_embeddings().weight.detach().double()
    for name, projection in weights.items():  # ALBERT's narrow table is read through a matrix
        if name.endswith("embedding_hidden_mapping_in.weight"):
            table = table @ projection.detach().double().T
    # The triangular factor has the same values and is much smaller.
    values = torch.linalg.svdvals(torch.linalg.qr(table, mode="r").R)
    shares = (values / values[0]).tolist()
    rows += [[label, index, share] for index, share in enumerate(shares, 1)]
FIGURE = ("lines", "model", "index", ["singular_value_over_largest"])
