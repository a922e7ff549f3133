"""A random family with the bundled layers and heads, narrow, and with a hundred pieces.

The weights have a larger spread than usual, so that attention is far from uniform and heads differ.
"""

import shutil
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
WIDTH = 72
"""Of the random family; the bundled one has 384, and a network's time goes with its square."""
SPREAD, WIDE_SPREAD = 0.08, 0.16
"""Of weights, usually, and in the random family."""


def wordpieces() -> list[str]:
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    return [*special, *LETTERS[1:], *MARKS, *("##" + c for c in LETTERS), *WORDS]


def sentencepieces() -> list[tuple[str, float]]:
    special = [(piece, 0.0) for piece in ("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]")]
    words = [(word.removeprefix("##"), word.startswith("##")) for word in WORDS if len(word) > 1]
    pieces = [(word if inside else "▁" + word, -3.0) for word, inside in words]
    return [*special, *pieces, *((c, -8.0) for c in "▁" + LETTERS + MARKS)]


def make_bert(n_layers: int, n_heads: int, width: int, spread: float = SPREAD):
    """Return a random BERT with its tokenizer."""
    tokenizer = BertTokenizer(vocab={piece: i for i, piece in enumerate(wordpieces())})
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=width,
        num_hidden_layers=n_layers,
        num_attention_heads=n_heads,
        intermediate_size=4 * width,
        initializer_range=spread,
    )
    return BertForPreTraining(config), tokenizer


def make_distilbert(n_layers: int, n_heads: int, width: int, spread: float = SPREAD):
    """Return a random DistilBERT with its tokenizer."""
    tokenizer = BertTokenizer(vocab={piece: i for i, piece in enumerate(wordpieces())})
    config = DistilBertConfig(
        vocab_size=len(tokenizer),
        dim=width,
        n_layers=n_layers,
        n_heads=n_heads,
        hidden_dim=4 * width,
        initializer_range=spread,
    )
    return DistilBertForMaskedLM(config), tokenizer


def make_albert(n_layers: int, n_heads: int, width: int, embedding: int, spread: float = SPREAD):
    """Return a random ALBERT with its tokenizer."""
    mask = AddedToken("[MASK]", lstrip=True, rstrip=False, normalized=False, special=True)
    tokenizer = AlbertTokenizer(vocab=sentencepieces(), mask_token=mask)
    config = AlbertConfig(
        vocab_size=len(tokenizer),
        hidden_size=width,
        embedding_size=embedding,
        num_hidden_layers=n_layers,
        num_attention_heads=n_heads,
        intermediate_size=4 * width,
        initializer_range=spread,
        pad_token_id=0,
        bos_token_id=2,
        eos_token_id=3,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    return AlbertForPreTraining(config), tokenizer


def save(network, tokenizer, path: Path) -> None:
    """Save a transformers directory."""
    network.save_pretrained(path)
    tokenizer.save_pretrained(path)


def save_tiny_family(folder: Path) -> None:
    """Save three transformers directories with the bundled family's names."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        save(*make_bert(6, 12, WIDTH, WIDE_SPREAD), folder / "mini-bert")
        save(*make_distilbert(3, 12, WIDTH, WIDE_SPREAD), folder / "mini-distilbert")
        save(*make_albert(6, 12, WIDTH, WIDTH // 3, WIDE_SPREAD), folder / "mini-albert")


def with_random_head(folder: Path, encoder: Path, kind, labels, card: str = "", **config) -> Path:
    """Save an encoder's folder anew with a random head of a class of transformers, and a card."""
    shutil.copytree(encoder, folder)
    torch.manual_seed(len(labels))
    network = kind.from_pretrained(
        folder, id2label=dict(enumerate(labels)), num_labels=len(labels), **config
    )
    torch.nn.init.normal_(network.classifier.weight, std=0.5)
    network.save_pretrained(folder)
    (folder / "README.md").write_text(card, "utf-8")
    return folder
