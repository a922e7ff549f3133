"""One text, three vocabularies: the words on which every model can be compared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from explorer.models.tokens import MASK, Tokens

Groups = tuple[tuple[int, ...], ...]
"""For each word, the token positions it is made of."""
OPENING, BETWEEN, CLOSING = -1, -2, -3
"""The added tokens by where they stand: between two sentences a model may put more than one."""


@dataclass(frozen=True, slots=True)
class AlignedWord:
    """A stretch of text that no model splits across another; or an added [CLS], [SEP]."""

    text: str
    start: int
    end: int
    special: bool = False
    """True for tokens every tokenizer added; ``start`` and ``end`` are 0 then."""

    @property
    def is_mask(self) -> bool:
        """Whether the word is a mask to be filled."""
        return self.text == MASK


@dataclass(frozen=True, slots=True)
class Alignment:
    """The words shared by all models, in reading order with [CLS] and [SEP], and their tokens."""

    words: tuple[AlignedWord, ...]
    groups: Mapping[str, Groups]
    """By model key, parallel to ``words``: every token is in one group, and no group is empty
    unless a model reads no word at all."""

    @property
    def content(self) -> tuple[int, ...]:
        """The indices of the words that stand in the text, without [CLS] and [SEP]."""
        return tuple(i for i, word in enumerate(self.words) if not word.special)

    def __len__(self) -> int:
        return len(self.words)


def first_shown(words: Sequence[AlignedWord]) -> int:
    """The word that is looked at first: the first mask, else the last word that is no sign."""
    masks = [i for i, word in enumerate(words) if word.is_mask]
    last = max((i for i, word in enumerate(words) if word.text[0].isalnum()), default=0)
    return masks[0] if masks else last


def align(tokens_by_model: Mapping[str, Tokens]) -> Alignment:
    """The finest words on which the models' tokens agree: no token lies in two of them.

    Text words are merged where a token of any model straddles them, or where a model has no
    token for one (it dropped those characters); a word that no model reads is left out.
    """
    models = list(tokens_by_model.values())
    blocks = _blocks(models)
    first, order = models[0], max((_order(m, blocks) for m in models), key=len)
    words = tuple(
        AlignedWord(_added_piece(first, i), 0, 0, special=True)
        if i < 0
        else _word(first, blocks, i)
        for i in order
    )
    groups = {key: _groups(tokens, blocks, order) for key, tokens in tokens_by_model.items()}
    return Alignment(words, groups)


def word_attention(attention: np.ndarray, groups: Groups) -> np.ndarray:
    """Attention between words: [..., query, key] over tokens becomes [..., word, word].

    What a word receives is the sum over its tokens; what it gives is the mean over them: rows
    keep their sums (Clark et al. 2019, section 4.1).
    """
    members = np.zeros((len(groups), attention.shape[-1]), attention.dtype)
    for i, group in enumerate(groups):
        members[i, list(group)] = 1
    mean = members / np.maximum(members.sum(axis=1, keepdims=True), 1)
    return mean @ attention @ members.T


def _blocks(models: Sequence[Tokens]) -> list[int]:
    """The merged word each text word belongs to, by its first word; -1 where nobody reads it."""
    n_words = len(models[0].words)
    read = [{word for word in tokens.word_index if word >= 0} for tokens in models]
    for tokens, words in zip(models, read, strict=True):
        words.update(i for span in _stretches(tokens) for i in span)
    anybody, everybody = sorted(set.union(*read)), set.intersection(*read)
    joined = {i for tokens in models for span in _stretches(tokens) for i in span[1:]}
    # A word that some model lacks goes with the word before it, the first one with the next.
    joined |= {
        i if i > anybody[0] else next(iter(anybody[1:]), i) for i in anybody if i not in everybody
    }
    blocks, block = [-1] * n_words, -1
    for i in anybody:
        block = block if i in joined and block >= 0 else i
        blocks[i] = block
    return blocks


def _stretches(tokens: Tokens) -> list[range]:
    """The words each token of the text reaches into."""
    spans = zip(tokens.word_index, tokens.spans, strict=True)
    found = [(first, end) for first, (_, end) in spans if first >= 0]
    return [
        range(
            first,
            next((i for i in range(first, len(tokens.words)) if tokens.words[i].end >= end), first)
            + 1,
        )
        for first, end in found
    ]


def _places(tokens: Tokens, blocks: list[int]) -> list[int]:
    """For each token its block; for an added one, where it stands (added tokens have no block)."""
    added = [i for i, special in enumerate(tokens.special) if special]
    ends = dict.fromkeys(added, BETWEEN)
    ends |= {added[-1]: CLOSING, added[0]: OPENING} if added else {}
    return [ends[i] if word < 0 else blocks[word] for i, word in enumerate(tokens.word_index)]


def _added_piece(tokens: Tokens, place: int) -> str:
    added = [piece for piece, special in zip(tokens.pieces, tokens.special, strict=True) if special]
    return added[{OPENING: 0, BETWEEN: 1, CLOSING: -1}[place]]


def _order(tokens: Tokens, blocks: list[int]) -> list[int]:
    """Blocks and places of added tokens, each once, in reading order."""
    return list(dict.fromkeys(_places(tokens, blocks)))


def _groups(tokens: Tokens, blocks: list[int], order: list[int]) -> Groups:
    members: dict[int, list[int]] = {i: [] for i in order}
    for position, place in enumerate(_places(tokens, blocks)):
        members[place].append(position)
    return tuple(tuple(members[i]) for i in order)


def _word(tokens: Tokens, blocks: list[int], block: int) -> AlignedWord:
    last = max(i for i, b in enumerate(blocks) if b == block)
    start, end = tokens.words[block].start, tokens.words[last].end
    return AlignedWord(tokens.text[start:end], start, end)
