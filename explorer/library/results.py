"""Base of all results: the endpoint's JSON, a frame, a figure, and HTML for a notebook."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from explorer.analysis.records import Records
from explorer.inference.runs import first_runs
from explorer.library import strings

if TYPE_CHECKING:
    import pandas
    import plotly.graph_objects as go

    from explorer.models.run import Run
    from explorer.views.notebook import Sketch


class Result(ABC):
    """Frozen answer of a public function; its numbers are unrounded and its arrays read-only."""

    __slots__ = ("_notes",)
    COLUMNS: ClassVar[tuple[str, ...]] = ()
    """Names of the columns of ``to_frame``."""
    SKETCH: "ClassVar[Sketch]"
    """Roles of the columns in ``figure``."""
    BAR: ClassVar[str] = ""
    """Column drawn as bars in a notebook."""

    def __post_init__(self) -> None:
        """Keep the notes on the models and on the text as they read it."""
        # Assigned past the frozen dataclass: the notes are of the context and no field.
        object.__setattr__(self, "_notes", notes_on(first_runs()))

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what a reader has to know of these numbers; none for most results.

        They name the share of a text's pieces that a model reads as [UNK] and the characters
        that cause it, words that share a token, and how a user's files are read.
        """
        return tuple(getattr(self, "_notes", ()))

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

        return sketch(self.records(), self.SKETCH)

    def _repr_html_(self) -> str:
        from explorer.views.notebook import notebook_html

        return str(notebook_html(self.records(), self.BAR))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self.rows())} rows of {', '.join(self.COLUMNS)}>"


def notes_on(runs: Sequence["Run"]) -> tuple[str, ...]:
    """Return notes on the checkpoints of runs, and on the text as their models read it."""
    of_files = [f"{run.spec.label}: {note}" for run in runs for note in run.spec.notes]
    return (*of_files, *strings.reading_notes(runs))


class AttributionResult(Result):
    """Result in which each model attributes a value to the words of a text, by two methods.

    The second of ``COLUMNS`` names the attribute that a row has beside the model's key.
    """

    __slots__ = ()
    models: Mapping[str, Any]

    def rows(self) -> list[tuple[Any, ...]]:
        """Return a row for each model and word."""
        return [
            (key, getattr(result, self.COLUMNS[1]), word, float(gradient), float(left_out))
            for key, result in self.models.items()
            for word, gradient, left_out in zip(
                result.words, result.integrated_gradients, result.leave_one_out, strict=True
            )
        ]

    def _repr_html_(self) -> str:
        from explorer.views.notebook import attributed_html

        words = {k: (r.words, r.integrated_gradients.tolist()) for k, r in self.models.items()}
        return str(attributed_html(words))


def attribution_fields(result: Any) -> dict[str, Any]:  # noqa: ANN401 - two results with these
    """Return the JSON fields that every attribution of an endpoint has."""
    return {
        "words": list(result.words),
        "integrated_gradients": result.integrated_gradients.tolist(),
        "leave_one_out": result.leave_one_out.tolist(),
        "completeness_error": result.completeness_error,
        "baseline": result.baseline,
    }
