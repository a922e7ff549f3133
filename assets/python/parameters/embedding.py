"""What one table V x H of words stores, and what a narrow one with its matrix does."""

from transformers import AutoConfig

MODELS = {
    "mini-BERT": ["assets/models/mini-bert", "main"],
    "mini-DistilBERT": ["assets/models/mini-distilbert", "main"],
    "mini-ALBERT": ["assets/models/mini-albert", "main"],
}

columns = ["model", "vocabulary", "hidden", "embedding", "one_table", "stored"]
rows = []
for source, revision in MODELS.values():
    config = AutoConfig.from_pretrained(source, revision=revision)
    v, h = config.vocab_size, config.hidden_size
    e = getattr(config, "embedding_size", h)
    stored = v * h if e == h else v * e + e * h
    rows.append([source.split("/")[-1], v, h, e, v * h, stored])
FIGURE = ("bars", "", "model", ["one_table", "stored"])
