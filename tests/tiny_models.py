"""A whole random family in the bundled shapes with a vocabulary of a hundred pieces.

The weights are spread wider than usual so that attention is far from uniform and no two heads agree.
"""

from pathlib import Path

import torch
from transformers import (
    AddedToken,
    AlbertConfig,
    AlbertForPreTraining,
    AlbertTokenizer,
    BertConfig,
    BertForPreTraining,
    BertTokenizer,
    DistilBertConfig,
    DistilBertForMaskedLM,
)

LETTERS = "abcdefghijklmnopqrstuvwxyz"
MARKS = "0123456789.,?!'"
WORDS = [
    "the",
    "a",
    "cat",
    "mat",
    "dog",
    "sat",
    "on",
    "in",
    "paris",
    "london",
    "france",
    "of",
    "is",
    "capital",
    "he",
    "she",
    "it",
    "was",
    "not",
    "and",
    "good",
    "bad",
    "play",
    "##ing",
    "##ed",
]
SPREAD = 0.08


def wordpieces() -> list[str]:
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    return [*special, *LETTERS[1:], *MARKS, *("##" + c for c in LETTERS), *WORDS]


def sentencepieces() -> list[tuple[str, float]]:
    special = [(piece, 0.0) for piece in ("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]")]
    words = [(word.removeprefix("##"), word.startswith("##")) for word in WORDS if len(word) > 1]
    pieces = [(word if inside else "▁" + word, -3.0) for word, inside in words]
    return [*special, *pieces, *((c, -8.0) for c in "▁" + LETTERS + MARKS)]


def save_bert(path: Path) -> None:
    tokenizer = BertTokenizer(vocab={piece: i for i, piece in enumerate(wordpieces())})
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=384,
        num_hidden_layers=6,
        num_attention_heads=12,
        intermediate_size=1536,
        initializer_range=SPREAD,
    )
    _save(BertForPreTraining(config), tokenizer, path)


def save_distilbert(path: Path) -> None:
    tokenizer = BertTokenizer(vocab={piece: i for i, piece in enumerate(wordpieces())})
    config = DistilBertConfig(
        vocab_size=len(tokenizer),
        dim=384,
        n_layers=3,
        n_heads=12,
        hidden_dim=1536,
        initializer_range=SPREAD,
    )
    _save(DistilBertForMaskedLM(config), tokenizer, path)


def save_albert(path: Path) -> None:
    mask = AddedToken("[MASK]", lstrip=True, rstrip=False, normalized=False, special=True)
    tokenizer = AlbertTokenizer(vocab=sentencepieces(), mask_token=mask)
    config = AlbertConfig(
        vocab_size=len(tokenizer),
        hidden_size=384,
        embedding_size=128,
        num_hidden_layers=6,
        num_attention_heads=12,
        intermediate_size=1536,
        initializer_range=SPREAD,
        pad_token_id=0,
        bos_token_id=2,
        eos_token_id=3,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    _save(AlbertForPreTraining(config), tokenizer, path)


def _save(network, tokenizer, path: Path) -> None:
    network.save_pretrained(path)
    tokenizer.save_pretrained(path)


def save_tiny_family(folder: Path) -> None:
    """Three plain transformers directories with the bundled family's names."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        save_bert(folder / "mini-bert")
        save_distilbert(folder / "mini-distilbert")
        save_albert(folder / "mini-albert")
