"""Overlap with the probe: sentences that the primer must not contain, compared by content words."""

import json
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from explorer.assets import DATA

MASK = "[mask]"
WORD = re.compile(r"\[mask\]|[^\W_]+(?:['’][^\W_]+)?")
# Words that do not change what a sentence asks.
SMALL = """
a an and are as at be by for from has have he her his in is it its my of on or she so that the their
them they this to was we were with you your
"""
FUNCTION_WORDS = frozenset(SMALL.split())


@dataclass(frozen=True, slots=True)
class ProbeFrames:
    """The content words, in order, of every probe sentence: masked, and with each answer."""

    frames: frozenset[tuple[str, ...]]

    @classmethod
    @cache
    def load(cls) -> "ProbeFrames":
        """Build from the probe's current file."""
        return cls(
            frozenset(
                content_words(sentence["text"].replace("[MASK]", word))
                for sentence in probe_sentences()
                for word in ("[MASK]", *sentence["accepted"])
            )
        )

    def holds(self, text: str) -> bool:
        """Return whether a sentence, masked or whole, has the content words of a probe sentence."""
        return content_words(text) in self.frames


@cache
def probe_sentences() -> tuple[dict[str, Any], ...]:
    """Return the probe: text, accepted words and kind of each sentence."""
    return tuple(json.loads((DATA / "probe.json").read_text("utf-8"))["sentences"])


def content_words(text: str) -> tuple[str, ...]:
    """Return the words of a text except function words, in lower case; the mask counts as one."""
    return tuple(word for word in WORD.findall(text.lower()) if word not in FUNCTION_WORDS)
