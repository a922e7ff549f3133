"""Texts that are longer than the position tables: cut at words, the same for all models."""

from collections.abc import Mapping, Sequence

import numpy as np

from explorer.models.tokens import SEPARATOR, sides_of

WAYS: tuple[str, ...] = ("leave_out", "head", "head_and_tail")
"""Ways with a text that is too long: its row is left out; its beginning is read; or its beginning
and its end (Sun et al. 2019, who take 128 tokens and 382 of 510)."""
HEAD_SHARE = 128 / 510
"""Share of the tokens that are taken from the beginning of a text of which the end is read too."""
ADDED = 2
"""Tokens that are added to a text, [CLS] and [SEP]; to a second one, one more."""


def cut(text: str, lengths: Sequence[Sequence[np.ndarray]], way: str, most: int) -> str:
    """Return a text of which no model reads more than ``most`` tokens; itself where none does.

    Of two texts the longer one is cut first, as by transformers' ``longest_first``.

    Args:
        text: A text, or ``A [SEP] B``.
        lengths: By model and by part int [word], the tokens of each word.
        way: "head" or "head_and_tail".
        most: Tokens that a text may have, the added ones included.

    Example: of a text of 1,000 words of one token each, "head" keeps the first 510.
    """
    parts = sides_of(text)
    room = most - ADDED - (len(parts) - 1)
    sizes = [max(int(of_model[place].sum()) for of_model in lengths) for place in range(len(parts))]
    if sum(sizes) <= room:
        return text
    least = min(sizes) if len(parts) > 1 else 0
    limits = [room - min(least, room // 2)] * len(parts)
    if len(parts) > 1:
        limits[int(np.argmin(sizes))] = min(least, room // 2)
    kept = [
        _kept(part, [of_model[place] for of_model in lengths], way, limits[place])
        for place, part in enumerate(parts)
    ]
    return f" {SEPARATOR} ".join(kept)


def _kept(text: str, lengths: Sequence[np.ndarray], way: str, most: int) -> str:
    """Return the words of one text that every model reads in at most ``most`` tokens."""
    words = text.split()
    if max(int(each.sum()) for each in lengths) <= most:
        return " ".join(words)
    n_head = most if way == "head" else round(most * HEAD_SHARE)
    first = min(_fitting(each, n_head) for each in lengths)
    last = 0 if way == "head" else min(_fitting(each[::-1], most - n_head) for each in lengths)
    return " ".join((*words[:first], *words[len(words) - last :]))


def _fitting(lengths: np.ndarray, most: int) -> int:
    """Return how many words from the first on have at most ``most`` tokens together."""
    return int(np.searchsorted(np.cumsum(lengths), most, side="right"))


def cut_all(
    texts: Sequence[str], lengths: Mapping[str, Sequence[Sequence[np.ndarray]]], way: str, most: int
) -> list[str]:
    """Return each text as ``cut`` does; ``lengths`` has by model and text those of its parts."""
    return [
        cut(text, each, way, most) for text, *each in zip(texts, *lengths.values(), strict=True)
    ]
