"""Teacher's and student's logits for one hidden word, each below its largest.

Divide them by a temperature and take the softmax over all of them for soft probabilities.
"""

import re

import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

TEXT = "The ship sailed across the [MASK] to America."
MODELS = {
    "mini-BERT": ["assets/models/mini-bert", "main"],
    "mini-DistilBERT": ["assets/models/mini-distilbert", "main"],
    "mini-ALBERT": ["assets/models/mini-albert", "main"],
}
PLACE = 5  # the hidden word, counted from 0
IDS = [1, 2]
WORD = r"\[(?:MASK|SEP|CLS|UNK|PAD)\]|[\w\u0300-\u036f]+(?:['’][\w\u0300-\u036f]+)*|[^\w\s]"

words = list(re.finditer(WORD, TEXT))
start, end = words[PLACE].span()
mask = sum(word[0] == "[MASK]" for word in words[:PLACE])
columns = ["model", "id", "token", "logit_below_largest"]
rows = []
for label, (source, revision) in list(MODELS.items())[:2]:
    tokenizer = AutoTokenizer.from_pretrained(source, revision=revision)
    model = AutoModelForMaskedLM.from_pretrained(source, revision=revision).eval()
    text = (TEXT[:start] + "[MASK]" + TEXT[end:]).replace("[MASK]", tokenizer.mask_token)
    parts = text.split("[SEP]", 1)
    parts = parts if all(part.strip() for part in parts) else [text]
    inputs = tokenizer(*parts, return_tensors="pt", return_token_type_ids=True)
    places = (inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero()[:, 0]
    with torch.inference_mode():
        logits = model(**inputs).logits[0, places[mask]]
    for i in IDS:
        token = tokenizer.convert_ids_to_tokens(i)
        rows.append([label, i, token, (logits[i] - logits.max()).item()])
FIGURE = ("bars", "model", "id token", ["logit_below_largest"])
