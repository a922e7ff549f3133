"""Activation patching: a second text that differs in one place, and what each state brings back."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from explorer.analysis.alignment import AlignedWord, Groups, align
from explorer.analysis.measures import log_softmax
from explorer.models.run import Patch, Run, read_only
from explorer.models.tokens import MASK, BadText, Tokens, Word, clean_text, spelling_of, split_words

NOUNS = (
    "king queen ship dog cat bird horse boy girl car train boat house room door window table book "
    "letter river mountain island bank road street town village school church bridge hospital "
    "team player game song film album teacher nurse doctor soldier officer president minister "
    "writer artist friend mother father brother sister son daughter student year month week day "
    "hour night war battle train plane capital state government law party key tree flower star "
    "planet museum hotel novel winter summer storm machine engine computer number nation author"
)
"""Words whose plural takes an s; what stands only here is a beginning, not a dictionary."""
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
"""Words that may stand for each other, by what then changes; each line is tried from its left."""
KINDS = tuple(PAIRS)


@dataclass(frozen=True, slots=True)
class OneChange:
    """A text with one word changed."""

    kind: str
    """What the change is about, one of ``KINDS``."""
    was: str
    becomes: str
    text: str


def one_changes(text: str) -> Iterator[OneChange]:
    """Every change that the lists know, kind by kind, in the order of the words."""
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
    found: dict[str, list[str]] = {}
    for line in lines:
        for word in line:
            found.setdefault(word, []).extend(other for other in line if other != word)
    return {word: tuple(dict.fromkeys(others)) for word, others in found.items()}


_OTHERS = {kind: _others(kind) for kind in KINDS}
MOST_CHANGED = 4
"""Words that the changed place may have."""
LEAST = {"float32": 0.1, "float16": 0.5, "bfloat16": 2.0}
"""The least difference that is divided by: some ten times what rounding alone can make of it."""
SAME = "The two texts are the same: change a word of the second."
NO_PARTNER = (
    "The second text may only replace words: beside an added or missing word, states cannot be "
    "paired."
)
FAR = (
    "The two texts may differ in one place of at most {most} words; from the first difference to "
    "the last there are {n}."
)
KEEP_MASKS = (
    "Both texts need every [MASK] and [SEP] in the same place: predictions are read at the [MASK]."
)


@dataclass(frozen=True, slots=True)
class TextPair:
    """Two texts that differ in one place, on the words that all models share."""

    words: tuple[str, ...]
    """With [CLS] and [SEP]; the changed place is one word, as the second text has it."""
    changed: int
    """Which of them it is."""
    was: str
    """As the first text has it."""
    masks: tuple[int, ...]
    """The word of each mask, in reading order."""
    groups: Mapping[str, Groups]
    """Of the models that can be patched: each word's token positions, the same in both texts."""
    pieces: Mapping[str, tuple[int, int]]
    """Of every model: its pieces of the changed place in the first text and in the second."""

    @property
    def becomes(self) -> str:
        """The changed place as the second text has it."""
        return self.words[self.changed]


@dataclass(frozen=True, slots=True, eq=False)
class Patching:
    """One model at one mask: how much of the first text's answer each carried state brings."""

    answers: tuple[str, str]
    """The words whose scores are compared: that of the first text, that of the second."""
    are_first: bool
    """Whether they are the first answers; else both texts have the same one."""
    d_first: float
    """Score of the first word minus score of the second, in logits, in the first text."""
    d_second: float
    """The same in the second text."""
    effect: np.ndarray
    """float64 [layer + 1, word]: ``(d_patch - d_second) / (d_first - d_second)``; layer 0 is the
    embeddings. No rows where the texts differ by too little to divide by."""

    def taken_over(self, mask: int, changed: int) -> int:
        """The layer from which on the mask's state carries more than the changed word's.

        There always is one: at the embeddings the changed word has all, at the end the mask.
        """
        behind = np.flatnonzero(self.effect[:, mask] <= self.effect[:, changed])
        return int(behind[-1]) + 1 if behind.size else 0


def text_pair(first: Mapping[str, Tokens], second: Mapping[str, Tokens]) -> TextPair:
    """Two texts, each as all models read it, word by word.

    Raises:
        BadText: they differ in no place, in several, or in words that have no partners.
    """
    ours, theirs = align(first), align(second)
    head, tail = _shared_ends(ours.words, theirs.words)
    was, becomes = (
        _changed(next(iter(tokens.values())).text, found.words[head : len(found) - tail])
        for tokens, found in ((first, ours), (second, theirs))
    )
    groups = {key: _joined(found, head, tail) for key, found in ours.groups.items()}
    others = {key: _joined(found, head, tail) for key, found in theirs.groups.items()}
    key, tokens = next(iter(first.items()))
    words = [word.text for word in ours.words]
    return TextPair(
        (*words[:head], becomes, *words[len(words) - tail :]),
        head,
        was,
        tuple(_word_at(groups[key], position) for position in tokens.mask_positions),
        {key: found for key, found in groups.items() if found == others[key]},
        {key: (len(groups[key][head]), len(others[key][head])) for key in groups},
    )


def _shared_ends(ours: Sequence[AlignedWord], theirs: Sequence[AlignedWord]) -> tuple[int, int]:
    """How many words two texts share at their beginning, and how many at their end."""
    shortest, ends = min(len(ours), len(theirs)), []
    for step in (1, -1):
        same = [a.text == b.text for a, b in zip(ours[::step], theirs[::step], strict=False)]
        ends.append(same.index(False) if False in same else shortest)
    head, tail = ends[0], min(ends[1], shortest - ends[0])
    n_ours, n_theirs = len(ours) - head - tail, len(theirs) - head - tail
    if not n_ours and not n_theirs:
        raise BadText(SAME)
    if not n_ours or not n_theirs:
        raise BadText(NO_PARTNER)
    if max(n_ours, n_theirs) > MOST_CHANGED:
        raise BadText(FAR.format(most=MOST_CHANGED, n=max(n_ours, n_theirs)))
    return head, tail


def _changed(text: str, words: Sequence[AlignedWord]) -> str:
    """What stands in the changed place."""
    changed = text[words[0].start : words[-1].end]
    if MASK in changed or any(word.special for word in words):
        raise BadText(KEEP_MASKS)
    return changed


def _joined(groups: Groups, head: int, tail: int) -> Groups:
    """The groups of a text with those of the changed place as one."""
    end = len(groups) - tail
    middle = tuple(position for group in groups[head:end] for position in group)
    return (*groups[:head], middle, *groups[end:])


def _word_at(groups: Groups, position: int) -> int:
    return next(i for i, group in enumerate(groups) if position in group)


def patches(first: Run, second: Run, groups: Groups) -> tuple[Patch, ...]:
    """Every word at every layer before the last, but where both texts have the same state."""
    states = zip(first.hidden_states[:-1], second.hidden_states[:-1], strict=True)
    return tuple(
        Patch(layer, group)
        for layer, (ours, theirs) in enumerate(states)
        for group in groups
        if not np.array_equal(ours[list(group)], theirs[list(group)])
    )


def rival_answers(first: np.ndarray, second: np.ndarray) -> tuple[int, int]:
    """The two answers whose scores are compared, from the logits [vocabulary] of both texts.

    The first answers. Where both texts have the same one, the two words that part most: those
    with the largest terms of ``KL(first || second)`` and of ``KL(second || first)``.
    """
    own = int(first.argmax()), int(second.argmax())
    if own[0] != own[1]:
        return own
    p, q = log_softmax(first), log_softmax(second)
    return int((np.exp(p) * (p - q)).argmax()), int((np.exp(q) * (q - p)).argmax())


def score_gap(logits: np.ndarray, answers: tuple[int, int]) -> np.ndarray:
    """How far the first answer's score is above the second's: [..., vocabulary] to [...]."""
    return logits[..., answers[0]].astype(np.float64) - logits[..., answers[1]]


def patching(
    runs: tuple[Run, Run], mask: int, groups: Groups, gaps: Mapping[Patch, float]
) -> Patching:
    """What was carried by every state.

    Args:
        runs: One model's, of the first text and of the second.
        mask: Which of the masks.
        groups: The positions of each word, the same in both texts.
        gaps: ``score_gap`` with each of ``patches``.
    """
    first, second = runs
    answers = rival_answers(first.mask_logits[mask], second.mask_logits[mask])
    ours, theirs = (float(score_gap(run.mask_logits[mask], answers)) for run in runs)
    n_layers, whole = len(first.hidden_states) - 1, ours - theirs
    effect = np.zeros((0, len(groups)))
    if whole >= LEAST[first.dtype]:
        d = [[gaps.get(Patch(n, group), theirs) for group in groups] for n in range(n_layers)]
        effect = (np.array(d) - theirs) / whole
        # Behind the last layer nothing is read but the mask's own state.
        at_the_end = [float(first.tokens.mask_positions[mask] in group) for group in groups]
        effect = np.vstack([effect, at_the_end])
    return Patching(_named(first, answers), _are_first(runs, mask), ours, theirs, read_only(effect))


def _named(run: Run, ids: tuple[int, int]) -> tuple[str, str]:
    spelling = spelling_of(run.vocabulary)
    return spelling.word(run.vocabulary[ids[0]]), spelling.word(run.vocabulary[ids[1]])


def _are_first(runs: tuple[Run, Run], mask: int) -> bool:
    first, second = (int(run.mask_logits[mask].argmax()) for run in runs)
    return first != second
