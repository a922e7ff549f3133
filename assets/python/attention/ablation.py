"""What the answers become with some heads switched off: their probabilities before and after."""

import re

import torch
from transformers import AutoModelForMaskedLM

TEXT = "The ship sailed across the [MASK] to America."
OFF = {"mini-BERT": [[0, 0], [1, 2]]}  # layers and heads, counted from 0
IDS = {"mini-BERT": [[1, 2]]}  # the words that are compared, by gap
MIXING = r"attention\.(output\.dense|out_lin|dense)$"  # what reads the outputs of all heads

columns = ["model", "heads_off", "gap", "kl_nats", "id", "word", "before", "after"]
rows = []
for label, off in OFF.items():
    tokenizer, model = load(label, AutoModelForMaskedLM)
    inputs = encode(tokenizer, model, TEXT)
    masks = (inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero()[:, 0]
    calls = 0  # ALBERT's one layer is called again and again, so calls are counted

    def switch(_, arguments):
        global calls
        heads = arguments[0].unflatten(-1, (model.config.num_attention_heads, -1)).clone()
        heads[..., [head for layer, head in off if layer == calls], :] = 0
        calls += 1
        return heads.flatten(-2)

    with torch.inference_mode():
        before = model(**inputs).logits[0, masks].double().log_softmax(-1)
        for name, module in model.named_modules():
            if re.search(MIXING, name):
                module.register_forward_pre_hook(switch)
        after = model(**inputs).logits[0, masks].double().log_softmax(-1)
    nats = (before.exp() * (before - after)).sum(-1)
    for gap, ids in enumerate(IDS[label]):
        for i in ids:
            both = before[gap, i].exp().item(), after[gap, i].exp().item()
            word = spelled(tokenizer, i)
            rows.append([label, len(off), gap + 1, nats[gap].item(), i, word, *both])
FIGURE = ("bars", "model", "gap id", ["before", "after"])
