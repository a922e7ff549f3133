"""Sentences of the refusals of the public functions."""

from collections.abc import Sequence

from explorer.analysis.digits import enumerated
from explorer.library.strings import some_labels
from explorer.refusal import Sentence, brief

BAD_MODEL = Sentence("no-such-model", "The model must be one of {keys} and {last}.")
ONE_MODEL = Sentence("only-one-model", "The model must be {last}, the only one of this family.")
BAD_FAMILY = Sentence(
    "no-such-family", "There is no such family. Presets: {presets}. Sizes: {sizes}."
)
NOT_A_STRING = Sentence("not-a-string", "“{name}” must be a string, not {kind}.")
NO_COLUMN = Sentence(
    "bad-column-name",
    "A column cannot be called {key!r}: names have 1 to 16 small letters, digits and underscores, "
    "and begin with a letter.",
)
NO_DEVICE = Sentence("no-such-device", "There is no device {device!r} here; take {known} or auto.")
BAD_DTYPE = Sentence("no-such-precision", "There is no precision {dtype!r}; there are {known}.")
TWO_DEVICES = Sentence(
    "several-devices",
    "The given models lie on several devices or in several precisions; move them to one.",
)
BAD_TOP_K = Sentence("bad-top-k", "top_k must be a whole number from {low} to {high}.")
NO_MASK_TO_PREDICT = Sentence(
    "no-mask-to-predict", "The text has no [MASK]: put one where a word is to be predicted."
)
BAD_HEAD = Sentence("no-such-head", "{label} has layers 0 to {layers} and heads 0 to {heads}.")
BAD_HEADS = Sentence(
    "bad-heads",
    "“heads” must be a mapping such as {'bert': [(0, 3), (1, 7)]}: (layer, head) pairs by model.",
)
NO_MASK_TO_ABLATE = Sentence(
    "no-mask-to-ablate", "The text has no [MASK]: mask a word to see how its prediction changes."
)
NO_WORD = Sentence("no-common-word", "No word in this text can be read by all models.")
BAD_SECONDS = Sentence("bad-seconds", "seconds must be a number from 1 to {high}.")
BAD_PLACE = Sentence(
    "no-such-place",
    "{label} has layers 0 to {layers} and heads 0 to {heads}; the text, words 0 to {words}.",
)
BAD_POOLING = Sentence("no-such-pooling", "pooling must be one of {known}.")
NOT_TWO = Sentence(
    "not-two-texts",
    "Closeness is that of two texts: give two, and the number of a word in each (words=[4, 1]) or "
    'pooling="mean".',
)
BAD_WORDS = Sentence(
    "no-such-words",
    "The first text has words 0 to {first}, the second 0 to {second}: give one of each.",
)
NO_MASK_TO_READ = Sentence(
    "no-mask-to-read", "Mask a word first: the readings are compared at a [MASK]."
)
NO_MASK_TO_FOLLOW = Sentence("no-mask-to-follow", "The text has no [MASK]: mask a word first.")
NO_PAIR = Sentence(
    "no-pair-in-family",
    "No two models of this family can be compared as teacher and student: it takes two with a "
    "masked-LM head and one vocabulary.",
)
ONE_OF_PAIR = Sentence(
    "one-of-pair", "Teacher and student are two columns; both would be {name!r}."
)
NO_MASK_TO_COMPARE = Sentence(
    "no-mask-to-compare",
    "The text has no [MASK]: put one where teacher and student are to be compared.",
)
NO_MODEL_TO_PATCH = Sentence(
    "no-model-to-patch", "No model is available, so there is nothing to patch."
)
NO_MASK_TO_PATCH = Sentence(
    "no-mask-to-patch", "The text has no [MASK]: mask a word, and its prediction can be followed."
)
NO_PROPOSAL = Sentence(
    "no-suggestion",
    "No change is suggested for this text: type a second text that differs in one place.",
)
TOO_LONG_TO_PATCH = Sentence(
    "too-long-to-patch",
    "Patching takes texts of at most {most} words and punctuation marks; this one has {n}.",
)
TOO_MANY_PIECES = Sentence(
    "too-many-pieces-to-patch",
    "Patching takes texts of at most {most} pieces; {model} makes {n} of this one.",
)
PIECES = Sentence(
    "unequal-pieces",
    "{model} tokenizes “{was}” into {n_was} and “{becomes}” into {n_becomes}: their states cannot "
    "be paired.",
)
BAD_PAIR = Sentence(
    "incomplete-pair", "A pair needs two sentences: give a first and a second one, neither empty."
)
NO_TEXT = Sentence("no-text-to-classify", "There is no text to classify: type a sentence.")
NO_LABEL = Sentence("no-such-label", "{model} has no label {label}; it has {known}.")
BAD_LABELLED_WORD = Sentence(
    "no-such-labelled-word", "“word” must be the number of a word of the text, from 0 to {last}."
)
BAD_ROWS = Sentence(
    "bad-rows",
    '“rows” must be a list of texts, or of objects such as {"text": ..., "label": ...}; '
    'pandas gives them by frame.to_dict("records").',
)
BAD_GROUPS = Sentence("bad-groups", "“group” has {n} names for {rows}: it needs one for each row.")
NO_FILE = Sentence("no-such-file", "The file “{name}” is not there or cannot be read.")
BAD_COLUMNS = Sentence(
    "bad-columns", '“columns” must be a mapping such as {"text": "tweet", "label": 3}.'
)
NEEDS_PACKAGE = Sentence(
    "file-needs-package", "This file needs {package}: pip install {package}, or save it as .csv."
)
NO_PIECE = Sentence("no-part-to-score", "{label} reads no part of this text, so it has no score.")
MASK_TO_SCORE = Sentence(
    "mask-to-score", "The text has a [MASK]: a text is scored with all of its words."
)
NO_MASK_TO_ATTRIBUTE = Sentence(
    "no-mask-to-attribute",
    "The text has no [MASK]: mask the word whose prediction is to be attributed.",
)
BAD_MASK = Sentence("no-such-mask", "The text has masks 0 to {last}.")
ONE_MASK = Sentence("one-mask", "The text has one [MASK]; its number is 0.")
NOT_ONE_PIECE = Sentence(
    "not-one-piece",
    "“{word}” is not one piece of the vocabulary of {label}, and one mask stands for one piece.",
)
NO_KIND = Sentence(
    "no-such-type", "{kind} is no type of model that is known here; there are {known}."
)
ONE_COLUMN = Sentence("one-column", "A change is between two columns, and {label} is one.")
TWO_SHAPES = Sentence(
    "different-shapes", "{before} and {after} differ in shape: their {name}, {one} and {other}."
)
TWO_TOKENIZERS = Sentence(
    "different-tokens", "{before} and {after} read this text as different tokens: {text!r}."
)
MASKED_ROW = Sentence("masked-row", "The rows are whole texts: words are masked at random.")
FEW_TOKENS = Sentence(
    "too-few-tokens", "The texts have too few tokens to compare states: at least {least}."
)


def no_such_model(columns: Sequence[str]) -> Sentence:
    """Return why a model is refused: the columns that there are."""
    *keys, last = columns
    return (BAD_MODEL if keys else ONE_MODEL).format(keys=", ".join(keys), last=last)


def not_one_piece(word: str, labels: Sequence[str]) -> Sentence:
    """Return that a word is more than one piece in the vocabularies of these models."""
    return NOT_ONE_PIECE.format(word=brief(word), label=enumerated(labels))


def unpaired_states(label: str, was: str, becomes: str, pieces: tuple[int, int]) -> Sentence:
    """Return why the changed word cannot be patched in one model: its numbers of pieces differ."""
    counts = [f"{n} piece" if n == 1 else f"{n} pieces" for n in pieces]
    return PIECES.format(
        model=label, was=was, becomes=becomes, n_was=counts[0], n_becomes=counts[1]
    )


def no_such_label(model: str, label: str, known: Sequence[str]) -> str:
    """Return that a model has no such label, and the labels that it has."""
    return NO_LABEL.format(model=model, label=brief(label), known=some_labels(known))
