"""Base of all results: the endpoint's JSON, a frame, a figure, and HTML for a notebook."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ClassVar

from explorer.analysis.records import Records
from explorer.inference.runs import first_runs
from explorer.library import strings

if TYPE_CHECKING:
    import pandas
    import plotly.graph_objects as go

    from explorer.models.run import Run
    from explorer.views.notebook import Sketch

_columns: ContextVar[tuple[str, ...]] = ContextVar("columns", default=())


@contextmanager
def results_of(columns: Iterable[str]) -> Iterator[None]:
    """Make results inside this context results of a family's columns, which give the colours."""
    token = _columns.set(tuple(columns))
    try:
        yield
    finally:
        _columns.reset(token)


class Result(ABC):
    """Frozen answer of a public function; its numbers are unrounded and its arrays read-only."""

    __slots__ = ("_columns", "_notes")
    COLUMNS: ClassVar[tuple[str, ...]] = ()
    """Names of the columns of ``to_frame``."""
    SKETCH: "ClassVar[Sketch]"
    """Roles of the columns in ``figure``."""
    BAR: ClassVar[str] = ""
    """Column drawn as bars in a notebook."""

    def __post_init__(self) -> None:
        """Keep the notes on the models and on the text as they read it, and the columns' order."""
        # Assigned past the frozen dataclass: both are of the context and no fields.
        object.__setattr__(self, "_notes", notes_on(first_runs()))
        object.__setattr__(self, "_columns", _columns.get())

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what a reader has to know of these numbers; none for most results.

        They name the share of a text's pieces that a model reads as [UNK] and the characters
        that cause it, words that share a token, and how a user's files are read.
        """
        return tuple(getattr(self, "_notes", ()))

    @property
    def model_columns(self) -> tuple[str, ...]:
        """The columns of the family that was asked, in their order; empty where none was."""
        return tuple(getattr(self, "_columns", ()))

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object that the endpoint of the same name answers with."""

    @abstractmethod
    def rows(self) -> list[tuple[Any, ...]]:
        """Return the rows of ``to_frame``, in the order of ``COLUMNS``."""

    def records(self) -> Records:
        """Return the rows under the names of their columns."""
        return Records(self.COLUMNS, self.rows())

    def sentences(self) -> tuple[str, ...]:
        """Return what the rows say as a whole, in sentences; none for most results."""
        return ()

    @property
    def is_as_expected(self) -> bool:
        """False where a result says that something is wrong: a shell ends with code 1."""
        return True

    def to_frame(self) -> "pandas.DataFrame":
        """Return the rows as a pandas frame."""
        return self.records().to_frame()

    def figure(self) -> "go.Figure":
        """Return a Plotly figure of the rows."""
        from explorer.views.notebook import sketch

        return sketch(self.records(), self.SKETCH, self.model_columns)

    def _repr_html_(self) -> str:
        from explorer.views.notebook import notebook_html

        return str(notebook_html(self.records(), self.BAR, self.model_columns))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self.rows())} rows of {', '.join(self.COLUMNS)}>"


def notes_on(runs: Sequence["Run"]) -> tuple[str, ...]:
    """Return notes on the checkpoints of runs, and on the text as their models read it."""
    of_files = [f"{run.spec.label}: {note}" for run in runs for note in run.spec.notes]
    return (*of_files, *strings.reading_notes(runs))


class AttributionResult(Result):
    """Result in which each model attributes a value to the words of a text, by two methods.

    The second of ``COLUMNS`` names the attribute that a row has next to the model's key. The last
    is the value before any word, with which the integrated gradients add up to the text's.
    """

    __slots__ = ()
    models: Mapping[str, Any]

    def rows(self) -> list[tuple[Any, ...]]:
        """Return a row for each model and word."""
        return [
            (
                *(key, getattr(result, self.COLUMNS[1]), word),
                *(float(gradient), float(left_out), float(result.baseline)),
            )
            for key, result in self.models.items()
            for word, gradient, left_out in zip(
                result.words, result.integrated_gradients, result.leave_one_out, strict=True
            )
        ]

    def _repr_html_(self) -> str:
        from explorer.views.notebook import attributed_html

        words = {
            key: (found.words, found.integrated_gradients.tolist(), float(found.baseline))
            for key, found in self.models.items()
        }
        return str(attributed_html(words, self.model_columns))


def attribution_fields(result: Any) -> dict[str, Any]:  # noqa: ANN401 - two results with these
    """Return the JSON fields that every attribution of an endpoint has."""
    return {
        "words": list(result.words),
        "integrated_gradients": result.integrated_gradients.tolist(),
        "leave_one_out": result.leave_one_out.tolist(),
        "completeness_error": result.completeness_error,
        "baseline": result.baseline,
    }
