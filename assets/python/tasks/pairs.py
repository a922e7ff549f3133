"""What the heads for sentence pairs say of two sentences in three orders: NSP and SOP."""

import torch
from transformers import AutoModelForPreTraining, AutoTokenizer

MODELS = {
    "mini-BERT": ["assets/models/mini-bert", "main"],
    "mini-DistilBERT": ["assets/models/mini-distilbert", "main"],
    "mini-ALBERT": ["assets/models/mini-albert", "main"],
}
PAIRS = {
    "written": "The sun went down. [SEP] It was dark in the house.",
    "swapped": "It was dark in the house. [SEP] The sun went down.",
}
ASKED = ["mini-BERT", "mini-ALBERT"]  # the models that have such a head
SCORES = {"bert": "seq_relationship_logits", "albert": "sop_logits"}

columns = ["model", "order", "pair", "probability_in_order"]
rows = []
for label in ASKED:
    source, revision = MODELS[label]
    tokenizer = AutoTokenizer.from_pretrained(source, revision=revision)
    model = AutoModelForPreTraining.from_pretrained(source, revision=revision).eval()
    for order, pair in PAIRS.items():
        sides = pair.replace("[MASK]", tokenizer.mask_token).split("[SEP]", 1)
        inputs = tokenizer(*sides, return_tensors="pt", return_token_type_ids=True)
        with torch.inference_mode():
            scores = model(**inputs)[SCORES[model.config.model_type]][0]
        rows.append([label, order, pair, scores.double().softmax(-1)[0].item()])
FIGURE = ("bars", "model", "order", ["probability_in_order"])
