"""Activation patching between two texts that differ in one place."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from explorer.analysis.alignment import AlignedWord, Groups, align
from explorer.analysis.measures import log_softmax
from explorer.models.run import Patch, Run, read_only
from explorer.models.tokens import MASK, BadText, Tokens, Word, clean_text, spelling_of, split_words
from explorer.refusal import Sentence

NOUNS = (
    "king queen ship dog cat bird horse boy girl car train boat house room door window table book "
    "letter river mountain island bank road street town village school church bridge hospital "
    "team player game song film album teacher nurse doctor soldier officer president minister "
    "writer artist friend mother father brother sister son daughter student year month week day "
    "hour night war battle train plane capital state government law party key tree flower star "
    "planet museum hotel novel winter summer storm machine engine computer number nation author"
)
"""Nouns with a regular plural in -s: a small selection, not a dictionary."""
PAIRS = {
    "number": "man men, woman women, child children, city cities, country countries, army armies, "
    "company companies, family families, story stories, wife wives, leaf leaves, foot feet, "
    "is are, was were, has have, this these, one two, two three, three four, four five",
    "gender": "he she, him her, his her, himself herself, man woman, men women, boy girl, "
    "boys girls, king queen, father mother, son daughter, brother sister, husband wife, "
    "prince princess, uncle aunt, actor actress, lord lady, mr mrs",
    "negation": "always never, with without, everything nothing, everybody nobody, "
    "everyone nobody, every no, some no, all no, very not, also not, can cannot, a no, an no, "
    "the no",
    "name": "paris london berlin rome, france germany england italy spain, america africa asia "
    "europe, australia canada, french german english italian spanish, british american, "
    "john james william george, mary anne elizabeth margaret, monday tuesday sunday, "
    "january june july",
}
"""Interchangeable words by the kind of change; the words of a group are tried from the left."""
KINDS = tuple(PAIRS)


@dataclass(frozen=True, slots=True)
class OneChange:
    """A text with one word changed."""

    kind: str
    """The kind of change, one of ``KINDS``."""
    original: str
    replacement: str
    text: str


def one_changes(text: str) -> Iterator[OneChange]:
    """Yield every change of one word that the lists know, by kind, then in text order."""
    text = clean_text(text)
    for kind in KINDS:
        for word in split_words(text):
            for other in _OTHERS[kind].get(word.text.lower(), ()):
                yield _changed_words(text, word, kind, other)


def _changed_words(text: str, word: Word, kind: str, other: str) -> OneChange:
    becomes = other.capitalize() if word.text[0].isupper() else other
    return OneChange(kind, word.text, becomes, text[: word.start] + becomes + text[word.end :])


def _others(kind: str) -> dict[str, tuple[str, ...]]:
    lines = [line.split() for line in PAIRS[kind].split(",")]
    if kind == "number":
        lines += [[noun, f"{noun}s"] for noun in NOUNS.split()]
    others_of: dict[str, list[str]] = {}
    for line in lines:
        for word in line:
            others_of.setdefault(word, []).extend(other for other in line if other != word)
    return {word: tuple(dict.fromkeys(others)) for word, others in others_of.items()}


_OTHERS = {kind: _others(kind) for kind in KINDS}
MAX_CHANGED = 4
"""The most words of the changed place."""
LEAST = {"float32": 0.1, "float16": 0.5, "bfloat16": 2.0}
"""The smallest score difference to divide by: about ten times the rounding error of a dtype."""
SAME = Sentence("same-texts", "The two texts are the same: change a word of the second.")
NO_PARTNER = Sentence(
    "words-not-paired",
    "The second text may only replace words: with an added or missing word, states cannot be "
    "paired.",
)
FAR = Sentence(
    "change-too-long",
    "The two texts may differ in one place of at most {most} words; from the first difference to "
    "the last there are {n}.",
)
KEEP_MASKS = Sentence(
    "masks-moved",
    "Both texts need every [MASK] and [SEP] in the same place: predictions are read at the [MASK].",
)


@dataclass(frozen=True, slots=True)
class TextPair:
    """Two texts that differ in one place, split into the words that all models share."""

    words: tuple[str, ...]
    """The second text's words with [CLS] and [SEP]; the changed place counts as one word."""
    changed: int
    """Index of the changed place in ``words``."""
    original: str
    """The changed place in the first text."""
    masks: tuple[int, ...]
    """Index of each mask's word, in reading order."""
    groups: Mapping[str, Groups]
    """Token positions of each word, by key of the models that split both texts alike."""
    pieces: Mapping[str, tuple[int, int]]
    """The number of tokens of the changed place in the first and second text, by model key."""

    @property
    def replacement(self) -> str:
        """The changed place in the second text."""
        return self.words[self.changed]


@dataclass(frozen=True, slots=True, eq=False)
class Patching:
    """Effect of each patched state on one model's answer at one mask."""

    answers: tuple[str, str]
    """The two words whose scores are compared: the first text's and the second text's."""
    are_first: bool
    """True where they are the texts' top answers; False where both texts have the same one."""
    d_first: float
    """Logit of the first word minus logit of the second, in the first text."""
    d_second: float
    """The logit difference in the second text."""
    effect: np.ndarray
    """float64 [layer + 1, word]: ``(d_patch - d_second) / (d_first - d_second)``; layer 0 is the
    embeddings. No rows where the texts differ by too little to divide by."""

    def takeover_layer(self, mask: int, changed: int) -> int:
        """Return the layer from which on the mask's state has more effect than the changed word's.

        It exists: the whole effect is the changed word's at the embeddings, the mask's at the end.
        """
        behind = np.flatnonzero(self.effect[:, mask] <= self.effect[:, changed])
        return int(behind[-1]) + 1 if behind.size else 0


def text_pair(first: Mapping[str, Tokens], second: Mapping[str, Tokens]) -> TextPair:
    """Compare two texts, given as each model's tokens, word by word.

    Raises:
        BadText: The texts are equal, or words were added or removed, or the differing stretch is
            too long or contains a [MASK] or [SEP].
    """
    first_alignment, second_alignment = align(first), align(second)
    head, tail = _shared_ends(first_alignment.words, second_alignment.words)
    was, becomes = (
        _changed(next(iter(tokens.values())).text, alignment.words[head : len(alignment) - tail])
        for tokens, alignment in ((first, first_alignment), (second, second_alignment))
    )
    groups = {key: _joined(group, head, tail) for key, group in first_alignment.groups.items()}
    others = {key: _joined(group, head, tail) for key, group in second_alignment.groups.items()}
    key, tokens = next(iter(first.items()))
    words = [word.text for word in first_alignment.words]
    return TextPair(
        (*words[:head], becomes, *words[len(words) - tail :]),
        head,
        was,
        tuple(
            next(i for i, group in enumerate(groups[key]) if position in group)
            for position in tokens.mask_positions
        ),
        {key: group for key, group in groups.items() if group == others[key]},
        {key: (len(groups[key][head]), len(others[key][head])) for key in groups},
    )


def _shared_ends(first: Sequence[AlignedWord], second: Sequence[AlignedWord]) -> tuple[int, int]:
    """Count the words that two texts share at their beginning and at their end."""
    shortest, ends = min(len(first), len(second)), []
    for step in (1, -1):
        same = [a.text == b.text for a, b in zip(first[::step], second[::step], strict=False)]
        ends.append(same.index(False) if False in same else shortest)
    head, tail = ends[0], min(ends[1], shortest - ends[0])
    n_first, n_second = len(first) - head - tail, len(second) - head - tail
    if not n_first and not n_second:
        raise BadText(SAME)
    if not n_first or not n_second:
        raise BadText(NO_PARTNER)
    if max(n_first, n_second) > MAX_CHANGED:
        raise BadText(FAR.format(most=MAX_CHANGED, n=max(n_first, n_second)))
    return head, tail


def _changed(text: str, words: Sequence[AlignedWord]) -> str:
    """Return the text of the changed place."""
    changed = text[words[0].start : words[-1].end]
    if MASK in changed or any(word.special for word in words):
        raise BadText(KEEP_MASKS)
    return changed


def _joined(groups: Groups, head: int, tail: int) -> Groups:
    """Return the groups of a text with those of the changed place merged into one."""
    end = len(groups) - tail
    middle = tuple(position for group in groups[head:end] for position in group)
    return (*groups[:head], middle, *groups[end:])


def patches(first: Run, second: Run, groups: Groups) -> tuple[Patch, ...]:
    """Return every word at every layer but the last, except where both texts' states are equal."""
    states = zip(first.hidden_states[:-1], second.hidden_states[:-1], strict=True)
    return tuple(
        Patch(layer, group)
        for layer, (first_states, second_states) in enumerate(states)
        for group in groups
        if not np.array_equal(first_states[list(group)], second_states[list(group)])
    )


def rival_answers(first: np.ndarray, second: np.ndarray) -> tuple[int, int]:
    """Return the ids of the two answers to compare, from the logits [vocabulary] of both texts.

    The texts' top answers; where these are equal, the two words that differ most: those with the
    largest terms of ``KL(first || second)`` and of ``KL(second || first)``.
    """
    top = int(first.argmax()), int(second.argmax())
    if top[0] != top[1]:
        return top
    p, q = log_softmax(first), log_softmax(second)
    return int((np.exp(p) * (p - q)).argmax()), int((np.exp(q) * (q - p)).argmax())


def score_gap(logits: np.ndarray, answers: tuple[int, int]) -> np.ndarray:
    """Return the first answer's logit minus the second's: [..., vocabulary] to [...]."""
    return logits[..., answers[0]].astype(np.float64) - logits[..., answers[1]]


def patching(
    runs: tuple[Run, Run], mask: int, groups: Groups, gaps: Mapping[Patch, float]
) -> Patching:
    """Compute the effect of patching every state.

    Args:
        runs: One model's runs of the first and of the second text.
        mask: Index of the mask.
        groups: The token positions of each word, the same in both texts.
        gaps: ``score_gap`` of the second text under each of ``patches``.
    """
    first, second = runs
    answers = rival_answers(first.mask_logits[mask], second.mask_logits[mask])
    are_first = first.mask_logits[mask].argmax() != second.mask_logits[mask].argmax()
    d_first, d_second = (float(score_gap(run.mask_logits[mask], answers)) for run in runs)
    n_layers, difference = len(first.hidden_states) - 1, d_first - d_second
    effect = np.zeros((0, len(groups)))
    if difference >= LEAST[first.dtype]:
        d = [[gaps.get(Patch(n, group), d_second) for group in groups] for n in range(n_layers)]
        effect = (np.array(d) - d_second) / difference
        # After the last layer the head reads only the mask's own state.
        at_the_end = [float(first.tokens.mask_positions[mask] in group) for group in groups]
        effect = np.vstack([effect, at_the_end])
    return Patching(_named(first, answers), bool(are_first), d_first, d_second, read_only(effect))


def _named(run: Run, ids: tuple[int, int]) -> tuple[str, str]:
    spelling = spelling_of(run.vocabulary)
    return spelling.word(run.vocabulary[ids[0]]), spelling.word(run.vocabulary[ids[1]])
