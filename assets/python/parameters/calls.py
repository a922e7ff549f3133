"""Which weights each layer of a pass uses: hooks see every call of the attention's output."""

import re

import torch
from transformers import AutoConfig, AutoModel

LOADED = {"mini-BERT": "mini-bert"}  # the models whose weights are read, and their names
CONFIGS = {
    "bert-base-uncased": {
        "model_type": "bert",
        "vocab_size": 30522,
        "hidden_size": 768,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "intermediate_size": 3072,
    },
}  # the shapes without weights
KINDS = ["loaded weights", "shape only"]
MIXING = r"attention\.(output\.dense|out_lin|dense)$"  # what reads the outputs of all heads

found = []
for label, name in LOADED.items():
    found.append((name, KINDS[0], load(label, AutoModel)[1]))
for name, known in CONFIGS.items():
    with torch.device("meta"):
        found.append((name, KINDS[-1], AutoModel.from_config(AutoConfig.for_model(**known)).eval()))

columns = ["model", "weights", "layer_of_the_pass", "tensor"]
rows = []
for name, kind, model in found:
    called = []
    for place, module in model.named_modules():
        if re.search(MIXING, place):
            module.register_forward_hook(lambda module, *_: called.append(id(module.weight)))
    with torch.inference_mode():
        model(input_ids=torch.zeros(1, 2, dtype=torch.long, device=model.device))
    numbers = {tensor: number for number, tensor in enumerate(dict.fromkeys(called), 1)}
    rows += [[name, kind, layer, numbers[tensor]] for layer, tensor in enumerate(called, 1)]
FIGURE = ("bars", "weights model", "tensor", ["layer_of_the_pass"])
