"""The models of a recipe and the text as they read it: put in front of a recipe that loads one."""

from pathlib import Path

import torch
from transformers import AutoTokenizer

MODELS = {
    "mini-BERT": ["assets/models/mini-bert", "main"],
    "mini-DistilBERT": ["assets/models/mini-distilbert", "main"],
    "mini-ALBERT": ["assets/models/mini-albert", "main"],
}


def load(label, kind, **options):
    """The tokenizer and the model of one column."""
    source, revision = MODELS[label]
    if not revision and not Path(source).is_dir():  # a folder, whose path the page keeps private
        raise SystemExit(
            f"Write the path of your copy of {source} into MODELS: it is no public model."
        )
    tokenizer = AutoTokenizer.from_pretrained(source, revision=revision)
    options["dtype"] = torch.float32  # also of weights that are stored in half precision
    return tokenizer, kind.from_pretrained(source, revision=revision, **options).eval()


def parts_of(text):
    """The two parts of a text with [SEP], or the whole text."""
    parts = text.split("[SEP]", 1)
    return parts if all(part.strip() for part in parts) else [text]


def encode(tokenizer, model, text):
    """The token ids of a text or of a pair, with segments where the model has them."""
    parts = parts_of(text.replace("[MASK]", tokenizer.mask_token))
    inputs = tokenizer(*parts, return_tensors="pt", return_token_type_ids=True)
    if getattr(model.config, "type_vocab_size", 0) < 2:  # one segment or none
        del inputs["token_type_ids"]
    return inputs
