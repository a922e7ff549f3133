"""Which weights each layer of a pass uses: hooks see every call of the attention's output."""

import re

import torch
from transformers import AutoModel

MODELS = {
    "mini-BERT": ["assets/models/mini-bert", "main"],
    "mini-DistilBERT": ["assets/models/mini-distilbert", "main"],
    "mini-ALBERT": ["assets/models/mini-albert", "main"],
}
MIXING = r"attention\.(output\.dense|out_lin|dense)$"  # what reads the outputs of all heads

columns = ["model", "layer_of_the_pass", "tensor"]
rows = []
for source, revision in MODELS.values():
    model = AutoModel.from_pretrained(source, revision=revision).eval()
    called = []
    for name, module in model.named_modules():
        if re.search(MIXING, name):
            module.register_forward_hook(lambda module, *_: called.append(id(module.weight)))
    with torch.inference_mode():
        model(input_ids=torch.zeros(1, 2, dtype=torch.long))
    numbers = {tensor: number for number, tensor in enumerate(dict.fromkeys(called), 1)}
    name = source.split("/")[-1]
    rows += [[name, layer, numbers[tensor]] for layer, tensor in enumerate(called, 1)]
FIGURE = ("bars", "model", "tensor", ["layer_of_the_pass"])
