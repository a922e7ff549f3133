"""The seven published sizes: what they store, what one pass applies, and its operations."""

from collections import Counter

import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import AutoConfig, AutoModel

CONFIGS = {
    "mini-bert": {
        "model_type": "bert",
        "vocab_size": 8000,
        "hidden_size": 384,
        "num_hidden_layers": 6,
        "num_attention_heads": 12,
        "intermediate_size": 1536,
    },
}
LENGTH = 128  # tokens of the text

columns = ["name", "parameters", "applied", "layers", "hidden", "embedding", "heads"]
columns += ["fp32_bytes", "fp16_bytes", "int8_bytes", f"flops_at_{LENGTH}_tokens"]
columns += ["uses_of_a_weight_per_token"]
rows = []
for name, known in CONFIGS.items():
    config = AutoConfig.for_model(**known)
    with torch.device("meta"):  # shapes alone: no weight is made
        model = AutoModel.from_config(config, attn_implementation="eager").eval()
        ids = torch.zeros(1, LENGTH, dtype=torch.long)
    calls = Counter()

    def count(module, *_):
        calls.update(id(tensor) for tensor in module.parameters(recurse=False))

    for module in model.modules():
        module.register_forward_hook(count)
    with FlopCounterMode(display=False) as counter, torch.inference_mode():
        model(input_ids=ids)
    total = sum(tensor.numel() for tensor in model.parameters())
    applied = sum(tensor.numel() * calls[id(tensor)] for tensor in model.parameters())
    shape = config.num_hidden_layers, config.hidden_size
    embedding = getattr(config, "embedding_size", config.hidden_size)
    n_bytes = 4 * total, 2 * total, total
    row = [name, total, applied, *shape, embedding, config.num_attention_heads, *n_bytes]
    flops = counter.get_total_flops()
    rows.append([*row, flops, flops / (2 * LENGTH * total)])
FIGURE = ("bars", "", "name", ["parameters", "applied"])
