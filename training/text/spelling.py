"""Spelling of held-out text by a vocabulary: share of whole frequent words, pieces per word."""

from collections import Counter
from typing import Any

from training.report.cloze_eval import Reading, whole_words

FREQUENT = 1000


def spelling_figures(reading: Reading) -> dict[str, Any]:
    """Return the share of frequent words that are one piece, and the mean pieces per word.

    Words are runs of letters or digits, and signs; the frequent ones are of letters alone.
    """
    seen, pieces = Counter[str](), Counter[str]()
    for sentence in range(len(reading.shard.sentences) - 1):
        for word, low, high in reading.words(sentence):
            seen[word] += 1
            pieces[word] += high - low
    frequent = [word for word, _ in seen.most_common() if word.isalpha()][:FREQUENT]
    whole = set(whole_words(reading.names))
    return {
        "frequent_words": len(frequent),
        "frequent_whole": sum(word in whole for word in frequent) / len(frequent),
        "pieces_per_word": pieces.total() / seen.total(),
    }
