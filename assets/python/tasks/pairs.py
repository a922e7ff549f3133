"""What the heads for sentence pairs say of two sentences in three orders: NSP and SOP."""

import torch
from transformers import AutoModelForPreTraining

PAIRS = {
    "written": "The sun went down. [SEP] It was dark in the house.",
    "swapped": "It was dark in the house. [SEP] The sun went down.",
}
ASKED = ["mini-BERT", "mini-ALBERT"]  # the models that have such a head
SCORES = {"bert": "seq_relationship_logits", "albert": "sop_logits"}

columns = ["model", "order", "pair", "probability_in_order"]
rows = []
for label in ASKED:
    tokenizer, model = load(label, AutoModelForPreTraining)
    for order, pair in PAIRS.items():
        inputs = encode(tokenizer, model, pair)
        with torch.inference_mode():
            scores = model(**inputs)[SCORES[model.config.model_type]][0]
        rows.append([label, order, pair, scores.double().softmax(-1)[0].item()])
FIGURE = ("bars", "model", "order", ["probability_in_order"])
