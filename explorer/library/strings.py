"""Sentences of the public functions: refusals, and remarks inside their answers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from explorer.analysis.digits import percent
from explorer.refusal import brief

if TYPE_CHECKING:
    from explorer.analysis.tasks.pairs import PairAccuracy
    from explorer.models.specs import ModelSpec

BAD_MODEL = "The model must be one of {keys} and {last}."
BAD_FAMILY = "There is no such family. Presets: {presets}. Sizes: {sizes}."
OWN_FAMILY = 'Your own: explorer.load({"bert": FOLDER_OR_MODEL}).'
NOT_A_STRING = "“{name}” must be a string, not {kind}."
MANY_TEXTS = "Many texts go to explorer.texts."
NO_COLUMN = "There is no column {key!r}; models are given as {known}."
NO_DEVICE = "There is no device {device!r} here; take {known} or auto."
BAD_DTYPE = "There is no precision {dtype!r}; there are {known}."
TWO_DEVICES = "The given models lie on several devices or in several precisions; move them to one."
BAD_TOP_K = "top_k must be a whole number from {low} to {high}."
NO_MASK_TO_PREDICT = "The text has no [MASK]: put one where a word is to be predicted."
BAD_HEAD = "{label} has layers 0 to {layers} and heads 0 to {heads}."
BAD_HEADS = (
    "“heads” must be a mapping such as {'bert': [(0, 3), (1, 7)]}: (layer, head) pairs by model."
)
NO_MASK_TO_ABLATE = "The text has no [MASK]: mask a word to see how its prediction changes."
NO_WORD = "No word in this text can be read by all models."
BAD_PLACE = "{label} has layers 0 to {layers} and heads 0 to {heads}; the text, words 0 to {words}."
NO_MASK_TO_READ = "Mask a word first: the readings are compared at a [MASK]."
NO_MASK_TO_FOLLOW = "The text has no [MASK]: mask a word first."
NO_MASK_TO_COMPARE = "The text has no [MASK]: put one where teacher and student are to be compared."
NO_MODEL_TO_PATCH = "No model is available, so there is nothing to patch."
NO_MASK_TO_PATCH = "The text has no [MASK]: mask a word, and its prediction can be followed."
NO_PROPOSAL = "No change is suggested for this text: type a second text that differs in one place."
TOO_LONG_TO_PATCH = (
    "Patching takes texts of at most {most} words and punctuation marks; this one has {n}."
)
TOO_MANY_PIECES = "Patching takes texts of at most {most} pieces; {model} makes {n} of this one."
PIECES = (
    "{model} tokenizes “{was}” into {n_was} and “{becomes}” into {n_becomes}: their states cannot "
    "be paired."
)
RATIO = "{of} takes {ratio:.2f} times as long as {over}"
INTERVAL = "[{ci_low:.2f}, {ci_high:.2f}]."
NO_INTERVAL = "(no interval: {rounds})."
NOT_DIFFERENT = "This does not show a difference."
BAD_PAIR = "A pair needs two sentences: give a first and a second one, neither empty."
NO_TEXT = "There is no text to classify: type a sentence."
BAD_ROWS = (
    '“rows” must be a list of texts, or of objects such as {"text": ..., "label": ...}; '
    'pandas gives them by frame.to_dict("records").'
)
BAD_GROUPS = "“group” has {n} names for {rows}: it needs one for each row."
NO_FILE = "The file “{name}” is not there or cannot be read."
BAD_COLUMNS = '“columns” must be a mapping such as {"text": "tweet", "label": 3}.'
NEEDS_PACKAGE = "This file needs {package}: pip install {package}, or save it as .csv."
NO_PIECE = "{label} reads no part of this text, so it has no score."
MASK_TO_SCORE = "The text has a [MASK]: a text is scored with all of its words."
NO_MASK_TO_ATTRIBUTE = "The text has no [MASK]: mask the word whose prediction is to be attributed."
BAD_MASK = "The text has masks 0 to {last}."
ONE_MASK = "The text has one [MASK]; its number is 0."
NOT_ONE_PIECE = (
    "“{word}” is not one piece of the vocabulary of {label}, and one mask stands for one piece."
)

NO_PAIR_HEAD = (
    "{label} has no sentence-pair head: it was trained without such an objective, as Liu et al. "
    "2019 propose."
)
NOT_IN_CHECKPOINT = (
    "The checkpoint of {label} has no weights for its {objective} head, although the model was "
    "trained with one. A newly initialised head would answer at random, so no number is shown."
)
AT_CHANCE = (
    "The {objective} head of {label} classifies {share} of {count:,} held-out pairs correctly "
    "(95% CI {low} to {high}): no better than chance (50%), so its answers are not shown."
)
SKILL = (
    "It classifies {share} of {count:,} held-out pairs correctly.\n95% CI {low} to {high}; "
    "chance is 50%."
)
UNMEASURED = "The accuracy of this checkpoint on held-out pairs was not measured here."


def not_one_piece(word: str, labels: Sequence[str]) -> str:
    """Return that a word is more than one piece in the vocabularies of these models."""
    *first, last = labels
    label = f"{', '.join(first)} and {last}" if first else last
    return NOT_ONE_PIECE.format(word=brief(word), label=label)


def head_said(spec: "ModelSpec", trained: bool, skill: "PairAccuracy | None") -> str:
    """Return how good a model's pair head is, or why it is not shown."""
    if spec.kind.pair is None:
        return NO_PAIR_HEAD.format(label=spec.label)
    objective = spec.kind.pair.objective.upper()
    if not trained:
        return NOT_IN_CHECKPOINT.format(label=spec.label, objective=objective)
    if skill is None:
        return UNMEASURED
    low, high = skill.interval
    shares = {"share": percent(skill.accuracy), "low": percent(low), "high": percent(high)}
    sentence = SKILL if skill.beats_chance else AT_CHANCE
    return sentence.format(label=spec.label, objective=objective, count=skill.count, **shares)


def unpaired_states(label: str, was: str, becomes: str, pieces: tuple[int, int]) -> str:
    """Return why the changed word cannot be patched in one model: its numbers of pieces differ."""
    counts = [f"{n} piece" if n == 1 else f"{n} pieces" for n in pieces]
    return PIECES.format(
        model=label, was=was, becomes=becomes, n_was=counts[0], n_becomes=counts[1]
    )
