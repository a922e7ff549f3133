"""Terms that the page explains in place, with their meanings from GLOSSARY.md."""

import re

from explorer.assets import GLOSSARY, read_in

ROW = re.compile(r"^\| \*\*([^*]+)\*\* \| (.+) \|$", re.MULTILINE)
TERMS = {
    "[CLS]": "[CLS], [SEP]",
    "JS": "JS divergence",
    "Jensen–Shannon": "JS divergence",
    "KL": "KL divergence",
    "nats": "nat",
    "entropy": "entropy",
    "Entropy": "entropy",
    "logit": "logit",
    "logits": "logit",
    "logit lens": "logit lens",
    "residual": "residual connection",
    "layer norm": "layer norm",
    "rollout": "rollout",
    "CKA": "CKA",
    "temperature": "temperature",
    "Temperature": "temperature",
    "Dark knowledge": "dark knowledge",
    "GFLOP": "FLOPs",
    "pooler": "pooler",
    "NSP": "NSP",
    "SOP": "SOP",
    "median": "median, p90",
    "p90": "median, p90",
    "perplexity": "perplexity",
    "intervals": "ratio",
    "layer.head": "layer.head",
    "near-copy": "near-copy",
    "near-copies": "near-copy",
    "one to one": "one to one",
    "imprecise": "verdict",
    "PLL-word-l2r": "PLL-word-l2r",
    "pseudo-perplexity": "pseudo-perplexity",
    "McNemar's exact test": "McNemar's exact test",
    "Holm's correction": "Holm's correction",
    "expected calibration error": "expected calibration error",
    "Macro F1": "macro F1",
    "Micro F1": "micro F1",
    "one-vs-rest": "one-vs-rest",
    "TF-IDF": "TF-IDF",
    "Out-of-fold": "out-of-fold",
    "Wilson": "Wilson interval",
    "Spearman correlation": "Spearman correlation",
    "mean log-ratio": "mean log-ratio",
}
"""Glossary entry by the word as the page shows it."""


def entries(text: str) -> dict[str, str]:
    """Return each term's meaning in a Markdown glossary, without Markdown marks."""
    return {name: re.sub(r"\*\*|`", "", meaning) for name, meaning in ROW.findall(text)}


with read_in(GLOSSARY):
    ENTRIES = entries(GLOSSARY.read_text("utf-8"))


def place(word: str) -> str:
    """Return the id of the box that explains a word; ``KeyError`` for a word without an entry."""
    return box_of(TERMS[word])


def box_of(entry: str) -> str:
    """Return the id of an entry's box, which is shared by all words that open it."""
    return f"meaning-{list(ENTRIES).index(entry)}"


def places(*words: str) -> dict[str, str]:
    """Return ``place`` of each word, for texts that the browser draws."""
    return {word: place(word) for word in words}
