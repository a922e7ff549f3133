"""PageState: all choices of the reader, as one frozen value."""

from dataclasses import dataclass

from explorer.assets import examples
from explorer.inference.ask import Ask
from explorer.models.choice.family import specs_by_key
from explorer.models.choice.labels import with_written_labels

RUN_FIELDS: tuple[str, ...] = ("text", "family", "device", "dtype")
"""Fields that a run depends on: a change of another field needs no model."""
DEFAULT_TEXT: str = examples()[0]["text"]


@dataclass(frozen=True, slots=True)
class PageState:
    """State of one view of the explorer; equal states show equal pages."""

    text: str = DEFAULT_TEXT
    family: str = "mini"
    """A preset, or the size in each column, as ``family_name`` writes it."""
    tab: str = "predictions"
    model: str = "bert"
    layer: int = 0
    """Counted from 0, like ``head``; the page prints layer 1 for 0."""
    head: int = 0
    order: str = "place"
    """Order of the heads on the wall."""
    lit: int = -1
    """Word chosen on the wall, from 0 with [CLS] and [SEP]; -1: none, or chosen by the order."""
    view: str = "matrix"
    """View of the chosen head."""
    temperature: float = 2.0
    word: int = -1
    """Word that only Distillation masks, from 0; -1: the text's own mask."""
    mask: int = 0
    """Mask shown by Depth, and by Predictions where there are many; from 0."""
    times: int = 0
    """Number of applications of a shared layer in Depth; 0: as usual."""
    lens: str = "mask"
    """Subject of Depth: one mask, or every word."""
    at: int = -1
    """Word that Layer and Depth follow, from 0; -1: chosen by the tab."""
    other: str = ""
    """Second text for the difference in Depth; empty: proposed by the page."""
    first: str = ""
    """First of the two sentences in which Depth compares a word; empty: an example."""
    second: str = ""
    """Second of these sentences; empty: an example."""
    hidden: str = ""
    """Words behind the masks, in reading order, separated by bars; empty where unknown."""
    sentiment: str = ""
    """Text for sentiment in Tasks; empty: the page's text, or an example if that has a mask."""
    question: str = ""
    """Question about the passage in Tasks; empty: an example."""
    passage: str = ""
    """Passage for the question; empty: an example."""
    labels: str = ""
    """Names for the labels of the columns' own heads: ``bert=negative,positive; albert=no,yes``."""
    label: str = ""
    """Label of a text that Tasks explains; empty: each model's own first one."""
    span: str = ""
    """Word whose label Tasks explains, from 0, and that label: ``3:PER``; empty: the first span."""
    list: str = ""
    """Rows of Your texts as they are written, where they are short; empty: none, or too long."""
    fold: str = ""
    """Open folds of the tab and its visible part, comma-separated, in the order of opening."""
    timed: str = ""
    """Workload of Latency: sizes, tokens, texts, part, clock, precision, seconds, with dashes."""
    search: str = ""
    """Search text in the list of claims."""
    form: str = ""
    """Settings of folds (sizes, rounds, a seed ...): `name:value` pairs for their controls."""
    look: str = ""
    """Display options (words shown, units ...): `name:value` pairs for the browser."""
    teacher: str = ""
    """Column that Distillation and Attention take as the teacher; empty: the family's own pair."""
    student: str = ""
    """Column that they take as the student, like ``teacher``."""
    device: str = "cpu"
    """Never part of a link: the recipient's machine differs from the sender's."""
    dtype: str = "float32"
    """Never part of a link, like ``device``."""

    @property
    def ask(self) -> Ask:
        """The text, models, device and precision of the page, for its runs.

        The labels of the models' heads have the reader's names where these fit.
        """
        specs, _ = with_written_labels(specs_by_key(self.family), self.labels)
        return Ask(self.text, specs, self.device, self.dtype)


def hidden_words(state: PageState) -> tuple[str, ...]:
    """Return the word behind each mask, in order; empty where none is known."""
    return tuple(state.hidden.split("|")) if state.hidden else ()


def open_folds(state: PageState) -> tuple[str, ...]:
    """Return the names of the open folds and of the visible part, in the order of opening."""
    return tuple(state.fold.split(",")) if state.fold else ()


def looks_of(state: PageState) -> dict[str, str]:
    """Return the display options by their names."""
    pairs = (pair.partition(":") for pair in state.look.split(",") if pair)
    return {name: value for name, _, value in pairs}
