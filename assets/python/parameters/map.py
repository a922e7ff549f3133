"""Where every weight sits: the tensors of each network by layer and part, shared ones once."""

import re

import torch
from transformers import AutoConfig, AutoModel

MODELS = {
    "mini-BERT": ["assets/models/mini-bert", "main"],
    "mini-DistilBERT": ["assets/models/mini-distilbert", "main"],
    "mini-ALBERT": ["assets/models/mini-albert", "main"],
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

columns = ["model", "layer", "part", "weights"]
counts = {}
for label, (source, revision) in MODELS.items():
    with torch.device("meta"):  # shapes alone: no weight is loaded
        model = AutoModel.from_config(AutoConfig.from_pretrained(source, revision=revision))
    for name, tensor in model.named_parameters():
        part = next(part for part, rule in PARTS.items() if re.search(rule, name.lower()))
        found = re.search(r"\.(?:layer|albert_layer_groups)\.(\d+)\.", name)
        layer = int(found[1]) + 1 if found else None
        if layer is None and part == "layer_norm":
            part = "embedding_norm"
        key = label, layer, part
        counts[key] = counts.get(key, 0) + tensor.numel()
rows = [[*key, n] for key, n in counts.items()]
FIGURE = ("bars", "model", "layer part", ["weights"])
