"""Alignment of one text's tokens across models: words on which all vocabularies agree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from explorer.models.tokens import MASK, Tokens

Groups = tuple[tuple[int, ...], ...]
"""The token positions of each word."""
OPENING, BETWEEN, CLOSING = -1, -2, -3
"""Special tokens by their place in the text; a model may have several between two sentences."""


@dataclass(frozen=True, slots=True)
class AlignedWord:
    """A span of text whose edges no model's token crosses, or an added [CLS] or [SEP]."""

    text: str
    start: int
    end: int
    special: bool = False
    """True for tokens that every tokenizer adds; ``start`` and ``end`` are then 0."""

    @property
    def is_mask(self) -> bool:
        """Return whether the word is a mask."""
        return self.text == MASK


@dataclass(frozen=True, slots=True)
class Alignment:
    """The words shared by all models, in reading order with [CLS] and [SEP], and their tokens."""

    words: tuple[AlignedWord, ...]
    groups: Mapping[str, Groups]
    """By model key, parallel to ``words``: every token is in one group, and no group is empty
    unless a model has no token for any word."""

    @property
    def content(self) -> tuple[int, ...]:
        """The indices of the words of the text, without [CLS] and [SEP]."""
        return tuple(i for i, word in enumerate(self.words) if not word.special)

    @property
    def readable(self) -> tuple[int, ...]:
        """The indices of the words of the text that every model has tokens for."""
        groups = self.groups.values()
        return tuple(i for i in self.content if all(group[i] for group in groups))

    def __len__(self) -> int:
        return len(self.words)


def first_shown(words: Sequence[AlignedWord]) -> int:
    """Return the word selected at first: the first mask, else the last that is not punctuation."""
    masks = [i for i, word in enumerate(words) if word.is_mask]
    last = max((i for i, word in enumerate(words) if word.text[0].isalnum()), default=0)
    return masks[0] if masks else last


def align(tokens_by_model: Mapping[str, Tokens]) -> Alignment:
    """Compute the smallest words on which all models agree: no token lies in two of them.

    Text words are merged where a token of any model spans them, or where a model has no token
    for one (it dropped those characters); a word that no model has a token for is left out.
    """
    models = list(tokens_by_model.values())
    blocks = _blocks(models)
    # The blocks and the places of special tokens, each once, in reading order.
    orders = (list(dict.fromkeys(_places(tokens, blocks))) for tokens in models)
    first, order = models[0], max(orders, key=len)
    words = tuple(
        AlignedWord(_added_piece(first, i), 0, 0, special=True)
        if i < 0
        else _word(first, blocks, i)
        for i in order
    )
    groups = {key: _groups(tokens, blocks, order) for key, tokens in tokens_by_model.items()}
    return Alignment(words, groups)


def word_attention(attention: np.ndarray, groups: Groups) -> np.ndarray:
    """Convert attention between tokens, [..., query, key], to words, [..., word, word].

    Attention to a word is the sum over its tokens, attention from it the mean over them, so rows
    keep their sums (Clark et al. 2019, section 4.1).
    """
    members = np.zeros((len(groups), attention.shape[-1]), attention.dtype)
    for i, group in enumerate(groups):
        members[i, list(group)] = 1
    mean = members / np.maximum(members.sum(axis=1, keepdims=True), 1)
    return mean @ attention @ members.T


def _blocks(models: Sequence[Tokens]) -> list[int]:
    """Return each text word's block, the index of its first word; -1 if no model has a token."""
    n_words = len(models[0].words)
    words_by_model = [{word for word in tokens.word_index if word >= 0} for tokens in models]
    for tokens, known in zip(models, words_by_model, strict=True):
        known.update(i for span in _word_ranges(tokens) for i in span)
    in_any, in_all = sorted(set.union(*words_by_model)), set.intersection(*words_by_model)
    merged = {i for tokens in models for span in _word_ranges(tokens) for i in span[1:]}
    # A word that some model lacks joins the word before it; the first one joins the next.
    merged |= {i if i > in_any[0] else next(iter(in_any[1:]), i) for i in in_any if i not in in_all}
    blocks, block = [-1] * n_words, -1
    for i in in_any:
        block = block if i in merged and block >= 0 else i
        blocks[i] = block
    return blocks


def _word_ranges(tokens: Tokens) -> list[range]:
    """Return the range of words that each token of the text overlaps."""
    spans = zip(tokens.word_index, tokens.spans, strict=True)
    edges = [(first, end) for first, (_, end) in spans if first >= 0]
    return [
        range(
            first,
            next((i for i in range(first, len(tokens.words)) if tokens.words[i].end >= end), first)
            + 1,
        )
        for first, end in edges
    ]


def _places(tokens: Tokens, blocks: list[int]) -> list[int]:
    """Return each token's block, or OPENING, BETWEEN or CLOSING for a special token."""
    added = [i for i, special in enumerate(tokens.special) if special]
    ends = dict.fromkeys(added, BETWEEN)
    ends |= {added[-1]: CLOSING, added[0]: OPENING} if added else {}
    return [ends[i] if word < 0 else blocks[word] for i, word in enumerate(tokens.word_index)]


def _added_piece(tokens: Tokens, place: int) -> str:
    added = [piece for piece, special in zip(tokens.pieces, tokens.special, strict=True) if special]
    return added[{OPENING: 0, BETWEEN: 1, CLOSING: -1}[place]]


def _groups(tokens: Tokens, blocks: list[int], order: list[int]) -> Groups:
    members: dict[int, list[int]] = {i: [] for i in order}
    for position, place in enumerate(_places(tokens, blocks)):
        members[place].append(position)
    return tuple(tuple(members[i]) for i in order)


def _word(tokens: Tokens, blocks: list[int], block: int) -> AlignedWord:
    last = max(i for i, b in enumerate(blocks) if b == block)
    start, end = tokens.words[block].start, tokens.words[last].end
    return AlignedWord(tokens.text[start:end], start, end)
