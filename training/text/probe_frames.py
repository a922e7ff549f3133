"""What the primer may not say: the probe's own sentences; and which of them ask what it teaches."""

import json
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from explorer.assets import DATA

MASK = "[mask]"
WORD = re.compile(r"\[mask\]|[^\W_]+(?:['’][^\W_]+)?")
# Words that make no difference to what a sentence asks.
SMALL = """
a an and are as at be by for from has have he her his in is it its my of on or she so that the their
them they this to was we were with you your
"""
FUNCTION_WORDS = frozenset(SMALL.split())


@dataclass(frozen=True, slots=True)
class ProbeFrames:
    """The content words, in order, of every sentence of the probe: masked, and with each answer."""

    frames: frozenset[tuple[str, ...]]

    @classmethod
    @cache
    def load(cls) -> "ProbeFrames":
        """From the probe as it stands."""
        return cls(
            frozenset(
                content_words(one["text"].replace("[MASK]", word))
                for one in probe_sentences()
                for word in ("[MASK]", *one["accepted"])
            )
        )

    def holds(self, text: str) -> bool:
        """Whether a sentence, masked or whole, says what one of the probe says, in its words."""
        return content_words(text) in self.frames


@cache
def probe_sentences() -> tuple[dict[str, Any], ...]:
    """The probe: text, accepted words and kind of each sentence."""
    return tuple(json.loads((DATA / "probe.json").read_text("utf-8"))["sentences"])


def content_words(text: str) -> tuple[str, ...]:
    """The words of a text that are no function words, in lower case; the mask is one of them."""
    return tuple(word for word in WORD.findall(text.lower()) if word not in FUNCTION_WORDS)
