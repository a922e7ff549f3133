"""Where every weight sits: the tensors of each network by layer and part, shared ones once."""

import re
from collections import Counter

import torch
from transformers import AutoConfig, AutoModelForPreTraining

FAMILY = "mini"
CONFIGS = {
    "mini-BERT": {
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

columns = ["family", "model", "layer", "part", "weights", "applied_times"]
rows = []
for label, known in CONFIGS.items():
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
    sizes, times = Counter(), {}
    for name, tensor in encoder.named_parameters():
        part = next(part for part, rule in PARTS.items() if re.search(rule, name.lower()))
        found = re.search(r"\.(?:layer|albert_layer_groups)\.(\d+)\.", name)
        layer = int(found[1]) + 1 if found else None
        if layer is None and part == "layer_norm":
            part = "embedding_norm"
        for each in ("attention", "ffn", "layer_norm") if layer else ():
            sizes[layer, each] += 0  # the page's order of parts
        sizes[layer, part] += tensor.numel()
        times[layer, part] = calls[id(tensor)]
    inside = {id(tensor) for tensor in encoder.parameters()}
    absent = known.get("absent_heads", [])  # heads that the checkpoint lacks
    outside = [(name, t) for name, t in network.named_parameters() if id(t) not in inside]
    sizes[None, "head"] = sum(
        t.numel() for name, t in outside if not any(part in name for part in absent)
    )
    rows += [[FAMILY, label, *key, n, times.get(key, 0)] for key, n in sizes.items()]
FIGURE = ("bars", "model", "layer part", ["weights"])
