"""How many numbers each part of a network stores, and how many one pass applies."""

import re
from collections import Counter

import torch
from transformers import AutoConfig, AutoModelForPreTraining

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
PARTS = {
    "layer_norm": r"layer_?norm",
    "word_embeddings": r"^embeddings\.word_",
    "position_embeddings": r"^embeddings\.position_",
    "token_type_embeddings": r"^embeddings\.token_type_",
    "embedding_projection": r"embedding_hidden_mapping_in",
    "attention": r"\.attention\.",
    "ffn": r"\.(intermediate|output|ffn|ffn_output)\.",
    "pooler": r"^pooler\.",
}

columns = ["model", *PARTS, "total", "applied", "head", "stored_bytes_fp32", "tensors"]
rows = []
for name, known in CONFIGS.items():
    with torch.device("meta"):  # shapes alone: no weight is loaded
        network = AutoModelForPreTraining.from_config(AutoConfig.for_model(**known)).eval()
        ids = torch.zeros(1, 2, dtype=torch.long)
    encoder, calls = network.base_model, Counter()
    if not known.get("has_pooler", True):  # the checkpoint lacks it
        encoder.pooler = None

    def count(module, *_):
        calls.update(id(tensor) for tensor in module.parameters(recurse=False))

    for module in encoder.modules():
        module.register_forward_hook(count)
    with torch.inference_mode():
        encoder(input_ids=ids)
    parts, stored = dict.fromkeys(PARTS, 0), dict(encoder.named_parameters())
    for place, tensor in stored.items():
        part = next(part for part, rule in PARTS.items() if re.search(rule, place.lower()))
        parts[part] += tensor.numel()
    applied = sum(tensor.numel() * calls[id(tensor)] for tensor in stored.values())
    inside = {id(tensor) for tensor in stored.values()}
    absent = known.get("absent_heads", [])  # heads that the checkpoint lacks
    outside = [(name, t) for name, t in network.named_parameters() if id(t) not in inside]
    head = sum(t.numel() for name, t in outside if not any(part in name for part in absent))
    total = sum(parts.values())
    rows.append([name, *parts.values(), total, applied, head, 4 * total, len(stored)])
FIGURE = ("bars", "", "model", list(PARTS))
