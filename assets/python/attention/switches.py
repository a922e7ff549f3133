"""What the answers lose when one head is switched off: KL(before || after), over the masks."""

import re

import torch
from transformers import AutoModelForMaskedLM

TEXT = "The ship sailed across the [MASK] to America."
MIXING = r"attention\.(output\.dense|out_lin|dense)$"  # what reads the outputs of all heads

columns = ["model", "layer", "head", "nats_lost_without_it"]
rows = []
for label in MODELS:
    tokenizer, model = load(label, AutoModelForMaskedLM)
    n_layers, n_heads = model.config.num_hidden_layers, model.config.num_attention_heads
    inputs = encode(tokenizer, model, TEXT)
    masks = (inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero()[:, 0]
    off, calls = None, 0  # ALBERT's one layer is called again and again, so calls are counted

    def switch(_, arguments):
        global calls
        heads = arguments[0].unflatten(-1, (n_heads, -1)).clone()
        if calls == off:
            every = torch.arange(n_heads)
            heads[every, :, every] = 0  # row i of the batch goes without head i
        calls += 1
        return heads.flatten(-2)

    for name, module in model.named_modules():
        if re.search(MIXING, name):
            module.register_forward_pre_hook(switch)
    batch = {name: value.expand(n_heads, -1) for name, value in inputs.items()}
    logs = []
    for off in [None, *range(n_layers)]:
        calls = 0
        with torch.inference_mode():
            logs.append(model(**batch).logits[:, masks].double().log_softmax(-1))
    for layer, after in enumerate(logs[1:], 1):
        nats = (logs[0].exp() * (logs[0] - after)).sum(-1).mean(-1)
        rows += [[label, layer, head + 1, nats[head].item()] for head in range(n_heads)]
FIGURE = ("heatmap", "model", "head", ["nats_lost_without_it"], "layer")
