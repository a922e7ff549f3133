"""Labels that a token classifier gives to the words of a text, and the spans that they make."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from explorer.analysis.measures import softmax
from explorer.analysis.scoring import by_word
from explorer.analysis.spans import label_names, parted, spans_of
from explorer.analysis.tasks.labels import MAX_WORDS, PREDICTED, LabelAttribution
from explorer.analysis.tasks.tuned import few_words
from explorer.models.run import read_only
from explorer.models.tokens import BadText, Tokens
from explorer.refusal import Sentence

if TYPE_CHECKING:
    from explorer.models.loading import LoadedModel

NO_TOKEN = Sentence(
    "word-without-token", "{label} has no token of its own for “{word}”: it has no label there."
)
ONE_LABEL = Sentence(
    "head-with-one-label",
    "{label}'s head has no other label than {name}, so no word can decide between them.",
)


@dataclass(frozen=True, slots=True)
class Entity:
    """Span of a text with one label."""

    label: str
    """Without the prefix of its tags: ``PER`` of B-PER, I-PER."""
    start: int
    end: int
    """Characters of the text, half-open."""
    first: int
    last: int
    """Words, both included."""
    score: float
    """Mean probability of the tags of its words."""
    is_whole: bool
    """False where its tags break their scheme, as an I- that follows no B-."""


@dataclass(frozen=True, slots=True, eq=False)
class WordTags:
    """Tag of each word of a text by one model: that of the word's first token."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    """Empty for a word that has no token of its own, because one token covers two words."""
    probabilities: np.ndarray
    """float64 [word]: probability of the tag; 0 where there is none."""
    entities: tuple[Entity, ...]
    """Spans in reading order."""


def word_tags(tokens: Tokens, logits: np.ndarray, labels: Sequence[str]) -> WordTags:
    """Return the tag of each word, and the spans that they make.

    Args:
        tokens: The tokens of a text.
        logits: The head's logits, float [token, label].
        labels: The names of the labels, in the order of the head's outputs.
    """
    p = softmax(logits.astype(np.float64))
    first = {word: place for place, word in reversed([*enumerate(tokens.word_index)]) if word >= 0}
    tagged = sorted(first)
    best = {word: int(p[first[word]].argmax()) for word in tagged}
    probabilities = np.zeros(len(tokens.words))
    for word in tagged:
        probabilities[word] = p[first[word], best[word]]
    entities = [
        Entity(
            label,
            tokens.words[tagged[a]].start,
            tokens.words[tagged[b]].end,
            tagged[a],
            tagged[b],
            float(np.mean([probabilities[word] for word in tagged[a : b + 1]])),
            is_whole,
        )
        for label, a, b, is_whole in spans_of([labels[best[word]] for word in tagged], labels)
    ]
    tags = tuple(labels[best[word]] if word in best else "" for word in range(len(tokens.words)))
    words = tuple(word.text for word in tokens.words)
    return WordTags(words, tags, read_only(probabilities), tuple(entities))


def text_tags(loaded: "LoadedModel", text: str) -> WordTags:
    """Return the tags that a model's head gives to the words of a text.

    Raises:
        BadText: the text is empty or too long. NotTuned: the model has no head for tokens.
    """
    from explorer.models.forward import tokenize
    from explorer.models.task_heads.adapters import head_for, tuned_of
    from explorer.models.task_heads.classifiers import token_logits

    tokens = tokenize(loaded, text)
    task, head = head_for(loaded.spec, "tokens")
    tuned = tuned_of(loaded, task)
    return word_tags(tokens, token_logits(tuned, tokens), head.labels)


def tags_of(labels: Sequence[str], name: str) -> list[int]:
    """Return the places of the tags of one label among all tags of a head.

    Raises:
        KeyError: the head has no such label.
    """
    places = [place for place, tag in enumerate(labels) if parted(tag)[1] == name]
    if not places:
        raise KeyError(name)
    return places


def word_attribution(loaded: "LoadedModel", text: str, word: int, label: str) -> LabelAttribution:
    """Return the attribution of a word's label, such as that of the first word of a span.

    The attributed number is the log-odds of the label at the first token of the word,
    ln (p / (1 - p)), where p is the sum of the probabilities of its tags: for PER, those of B-PER
    and I-PER. A word is left out by masking it, since one that is removed has no tag.

    Args:
        loaded: The model.
        text: The text.
        word: The word, from 0.
        label: The label without a prefix; ``predicted`` for the one that the model gives the word.

    Raises:
        BadText: the text has too many words, or no such token. NotTuned: there is no head for
            tokens. KeyError: the head has no such label.
    """
    from explorer.models.forward import tokenize
    from explorer.models.task_heads.adapters import head_for, tuned_of
    from explorer.models.task_heads.classifiers import (
        at_token,
        log_odds,
        margin_slopes,
        masked_margins,
    )

    few_words(text, MAX_WORDS)
    tokens = tokenize(loaded, text)
    task, head = head_for(loaded.spec, "tokens")
    tuned = tuned_of(loaded, task)
    if word not in tokens.word_index:
        raise BadText(NO_TOKEN.format(label=loaded.spec.label, word=tokens.words[word].text))
    name = parted(text_tags(loaded, text).tags[word])[1] if label == PREDICTED else label
    if label_names(head.labels) == (name,):
        raise BadText(ONE_LABEL.format(label=loaded.spec.label, name=name))
    margin = at_token(tokens.word_index.index(word), log_odds(*tags_of(head.labels, name)))
    slopes = margin_slopes(tuned, text, margin)
    left_out = masked_margins(tuned, tokens, margin)
    return LabelAttribution(
        name,
        tuple(each.text for each in tokens.words),
        slopes.difference,
        slopes.baseline,
        by_word(tokens, slopes.attributions),
        read_only(slopes.difference - left_out),
    )
