"""A fourth model, as a contributor would add it: its rows, its colour, and random weights."""

from pathlib import Path

import torch
from tokenizers import ByteLevelBPETokenizer
from transformers import RobertaConfig, RobertaForMaskedLM, RobertaTokenizer

from tests.tiny_models import SPREAD

SENTENCES = [
    "The cat sat on the mat and the dog was not good.",
    "The capital of France is Paris; he was born in London.",
    "She said that it was bad, but he and she play in the garden.",
]
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
LAYERS, HEADS, WIDTH, POSITIONS = 4, 3, 48, 130


def save_roberta(path: Path) -> int:
    """Save a random RoBERTa with a byte-level vocabulary; return the size of the vocabulary."""
    trainer = ByteLevelBPETokenizer()
    trainer.train_from_iterator(SENTENCES, vocab_size=330, special_tokens=SPECIAL)
    path.mkdir(parents=True)
    trainer.save_model(str(path))
    tokenizer = RobertaTokenizer.from_pretrained(str(path))
    config = RobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=4 * WIDTH,
        type_vocab_size=1,
        max_position_embeddings=POSITIONS,
        initializer_range=SPREAD,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        RobertaForMaskedLM(config).save_pretrained(path)
    tokenizer.save_pretrained(path)
    return len(tokenizer)


def roberta_spec(specs, n_pieces: int):
    """Return the RoBERTa's spec, built with the given ``specs`` module."""
    shape = specs.Architecture(
        LAYERS,
        WIDTH,
        HEADS,
        4 * WIDTH,
        n_pieces,
        WIDTH,
        n_positions=POSITIONS,
        n_segments=1,
        has_pooler=False,
    )
    return specs.ModelSpec("roberta", "mini-roberta", shape, "mini", lower_case=False)


def add_rows(put, n_pieces: int) -> None:
    """Add the RoBERTa's three table rows with ``put(table, key, row)``."""
    from explorer.models import specs
    from explorer.views import theme

    put(specs.KINDS, "roberta", specs.ROBERTA)
    put(specs.MINI, "roberta", roberta_spec(specs, n_pieces))
    put(theme.COLOURS, "roberta", theme.Colour("#9161c6", "#6b3fa0", "#c9a6f0"))
