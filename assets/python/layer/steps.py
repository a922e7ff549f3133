"""What each attention and feed-forward block adds to the log-probability of one piece."""

from itertools import pairwise

import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

TEXT = "The ship sailed across the [MASK] to America."
MODELS = {
    "mini-BERT": ["assets/models/mini-bert", "main"],
    "mini-DistilBERT": ["assets/models/mini-distilbert", "main"],
    "mini-ALBERT": ["assets/models/mini-albert", "main"],
}
POSITIONS = {"mini-BERT": 6, "mini-DistilBERT": 6, "mini-ALBERT": 6}
IDS = {"mini-BERT": 1000, "mini-DistilBERT": 1000, "mini-ALBERT": 1000}
HEADS = {
    "bert": lambda net, hidden: net.cls(hidden),
    "distilbert": lambda net, hidden: net.vocab_projector(
        net.vocab_layer_norm(net.activation(net.vocab_transform(hidden)))
    ),
    "albert": lambda net, hidden: net.predictions(hidden),
    "roberta": lambda net, hidden: net.lm_head(hidden),
}
NORMS = {
    "bert": "attention.output.LayerNorm",
    "distilbert": "sa_layer_norm",
    "albert": "attention.LayerNorm",
    "roberta": "attention.output.LayerNorm",
}  # what ends an attention block

columns = ["model", "layer", "block", "log_probability", "step"]
rows = []
for label, token_id in IDS.items():
    source, revision = MODELS[label]
    tokenizer = AutoTokenizer.from_pretrained(source, revision=revision)
    model = AutoModelForMaskedLM.from_pretrained(source, revision=revision).eval()
    kind, attended = model.config.model_type, []
    for name, module in model.named_modules():
        if name.endswith(NORMS[kind]):
            module.register_forward_hook(lambda _, __, out, into=attended: into.append(out))
    text = TEXT.replace("[MASK]", tokenizer.mask_token)
    parts = text.split("[SEP]", 1)
    parts = parts if all(part.strip() for part in parts) else [text]
    inputs = tokenizer(*parts, return_tensors="pt", return_token_type_ids=True)
    if getattr(model.config, "type_vocab_size", 0) < 2:  # one segment or none
        del inputs["token_type_ids"]
    with torch.inference_mode():
        embedded, *layers = model(**inputs, output_hidden_states=True).hidden_states
        blocks = [embedded] + [s for pair in zip(attended, layers, strict=True) for s in pair]
        at_word = torch.stack([states[0, POSITIONS[label]] for states in blocks])
        logs = HEADS[kind](model, at_word).double().log_softmax(-1)[:, token_id].tolist()
    rows.append([label, 0, "embedding", logs[0], None])
    for i, (before, after) in enumerate(pairwise(logs)):
        block = ("attention", "feed_forward")[i % 2]
        rows.append([label, i // 2 + 1, block, after, after - before])
FIGURE = ("lines", "model", "layer block", ["log_probability"])
