"""What each attention and feed-forward block adds to the log-probability of one piece."""

from itertools import pairwise

import torch
from transformers import AutoModelForMaskedLM

TEXT = "The ship sailed across the [MASK] to America."
POSITIONS = {"mini-BERT": 6, "mini-DistilBERT": 6, "mini-ALBERT": 6}
IDS = {"mini-BERT": 1000, "mini-DistilBERT": 1000, "mini-ALBERT": 1000}
NORMS = {
    "bert": "attention.output.LayerNorm",
    "distilbert": "sa_layer_norm",
    "albert": "attention.LayerNorm",
}  # what ends an attention block
NORMS |= dict.fromkeys(("roberta", "xlm-roberta", "camembert"), NORMS["bert"])

columns = ["model", "layer", "block", "log_probability", "step"]
rows = []
for label, token_id in IDS.items():
    tokenizer, model = load(label, AutoModelForMaskedLM)
    kind, attended = model.config.model_type, []
    for name, module in model.named_modules():
        if name.endswith(NORMS[kind]):
            module.register_forward_hook(lambda _, __, out, into=attended: into.append(out))
    inputs = encode(tokenizer, model, TEXT)
    with torch.inference_mode():
        embedded, *layers = model(**inputs, output_hidden_states=True).hidden_states
        blocks = [embedded] + [s for pair in zip(attended, layers, strict=True) for s in pair]
        at_word = torch.stack([states[0, POSITIONS[label]] for states in blocks])
        logs = MLM_HEAD[kind](model, at_word).double().log_softmax(-1)[:, token_id].tolist()
    rows.append([label, 0, "embedding", logs[0], None])
    for i, (before, after) in enumerate(pairwise(logs)):
        block = ("attention", "feed_forward")[i % 2]
        rows.append([label, i // 2 + 1, block, after, after - before])
FIGURE = ("lines", "model", "layer block", ["log_probability"])
