"""The words that the page explains where they stand; what they mean is read from GLOSSARY.md."""

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
    "imprecise": "verdict",
}
"""A word as the page shows it, and the entry that says what it means."""


def entries(text: str) -> dict[str, str]:
    """What each word of a glossary means, without the marks of its tables."""
    return {name: re.sub(r"\*\*|`", "", meaning) for name, meaning in ROW.findall(text)}


with read_in(GLOSSARY):
    ENTRIES = entries(GLOSSARY.read_text("utf-8"))


def place(shown: str) -> str:
    """The id of the box that explains a word; a word without an entry is a ``KeyError``."""
    return box_of(TERMS[shown])


def box_of(entry: str) -> str:
    """The id of an entry's box: one for all places that open it."""
    return f"meaning-{list(ENTRIES).index(entry)}"


def places(*shown: str) -> dict[str, str]:
    """The same for the words of a text that the browser draws."""
    return {word: place(word) for word in shown}
