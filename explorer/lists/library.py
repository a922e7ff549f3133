"""A list of texts through all models: which of them serves the task?"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BufferedIOBase, BytesIO
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

from explorer.analysis.digits import counted
from explorer.analysis.precision import ListPrecision
from explorer.analysis.records import Records
from explorer.assets import DATA
from explorer.library import refusals
from explorer.library.family import Family, asked, missing_reasons
from explorer.library.progress import each
from explorer.library.results import Result
from explorer.lists.read import MAX_BYTES, read_table
from explorer.lists.results import ListResult, TextsOptions
from explorer.lists.roles import MAX_ROWS, BadRows, RawTable
from explorer.lists.rows import text_list
from explorer.lists.rule import FastReport
from explorer.lists.run import NOTHING_DONE, Progress, TextsQuestion
from explorer.lists.views.fast import fast_json, fast_sentence, precisions
from explorer.lists.views.rows import COLUMNS, as_json, table_rows
from explorer.lists.views.strings import precision_sentence, read_as
from explorer.lists.views.verdict import lines_said
from explorer.models.choice.labels import LabelNames
from explorer.refusal import Refusal, brief
from explorer.scheduling.cancel import Cancelled, CancelToken
from explorer.views.notebook import Sketch

GROUP = "group"
INTERRUPTED = "Interrupted: the {n:,} rows that are done follow.\n"
WITH_PANDAS = {
    ".parquet": ("read_parquet", "pyarrow"),
    ".xlsx": ("read_excel", "openpyxl"),
}
"""Files that pandas reads, by what, and the package that it needs for them."""
Rows = str | Path | BinaryIO | Iterable[str | Mapping[str, Any]]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Texts(Result):
    """Answers of all models to the rows of a list."""

    family: str
    done: bool
    """False: it was stopped, and ``answers`` has the rows that were done."""
    answers: ListResult
    """The frozen result of the list's kind, with its summary and all arrays."""
    missing: Mapping[str, Refusal]
    precision: ListPrecision | None = None
    """The differences that half precision makes in the shortest rows; None in float32."""
    fast: FastReport | None = None
    """Report of the rows in bfloat16, and of all others; None without ``precision="fast"``."""

    @property
    def read_as(self) -> str:
        """Sentence on how the list was read: its kind, its columns, and those not used."""
        return read_as(self.answers.texts)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``/texts``.

        The kind, the columns, the rows left out with their reasons, a summary, and a row for each
        row and model. ``done`` is false where the time ran out: it then has the rows that were
        done, without predicted labels. ``missing`` says which model was not asked, and why.
        """
        answer: dict[str, Any] = {"family": self.family, "done": self.done} | as_json(self.answers)
        if self.fast:
            answer["precision"] = fast_json(self.fast)
            for row, precision in zip(
                answer["rows"], precisions(self.answers, self.fast), strict=False
            ):
                row["precision"] = precision
        return answer | missing_reasons(self.missing)

    def rows(self) -> list[tuple[Any, ...]]:
        """Return a row for each row of the list and each model."""
        return table_rows(self.answers)

    def records(self) -> Records:
        """Return the rows under the names of their columns; of a fast list with the precision."""
        own = precisions(self.answers, self.fast)
        if not own:
            return Records(self.COLUMNS, self.rows())
        rows = [(*row, precision) for row, precision in zip(self.rows(), own, strict=True)]
        return Records((*self.COLUMNS, "precision"), rows)

    def sentences(self) -> tuple[str, ...]:
        """Return the verdict with intervals, or the advice, and what comparisons allow to say."""
        half = precision_sentence(self.answers, self.precision)
        fast = fast_sentence(self.answers, self.fast)
        return (*lines_said(self.answers), *filter(None, (half, fast)))


class MaskedTexts(Texts):
    """Masked rows: first words, and ranks and probabilities of the given answers."""

    __slots__ = ()
    COLUMNS: ClassVar = COLUMNS["masked"]
    SKETCH: ClassVar = Sketch("bars", "row", "answer_log_probability")
    BAR: ClassVar = "probability"


class PlainTexts(Texts):
    """Sentences with both pseudo-log-likelihoods."""

    __slots__ = ()
    COLUMNS: ClassVar = COLUMNS["plain"]
    SKETCH: ClassVar = Sketch("bars", "row", "pll")


class PairedTexts(Texts):
    """Pairs of sentences, of which the good one should be likelier."""

    __slots__ = ()
    COLUMNS: ClassVar = COLUMNS["pairs"]
    SKETCH: ClassVar = Sketch("bars", "row", "margin")


class LabelledTexts(Texts):
    """Labelled rows with each classifier's prediction, made without that row."""

    __slots__ = ()
    COLUMNS: ClassVar = COLUMNS["labelled"]
    SKETCH: ClassVar = Sketch("bars", "row", "right")


class MultilabelTexts(Texts):
    """Rows with any number of labels, with each classifier's labels, given without that row."""

    __slots__ = ()
    COLUMNS: ClassVar = COLUMNS["multilabel"]
    SKETCH: ClassVar = Sketch("bars", "row", "right")


class ScoredTexts(Texts):
    """Rows with a score, with each regression's prediction, made without that row."""

    __slots__ = ()
    COLUMNS: ClassVar = COLUMNS["scored"]
    SKETCH: ClassVar = Sketch("bars", "row", "predicted")


class TaggedTexts(Texts):
    """Rows whose words have tags, with the tags of each model's own head."""

    __slots__ = ()
    COLUMNS: ClassVar = COLUMNS["tagged"]
    SKETCH: ClassVar = Sketch("bars", "row", "right")


OF_KIND = {
    "masked": MaskedTexts,
    "plain": PlainTexts,
    "pairs": PairedTexts,
    "labelled": LabelledTexts,
    "multilabel": MultilabelTexts,
    "scored": ScoredTexts,
    "tagged": TaggedTexts,
}


class Interrupted(KeyboardInterrupt):
    """Interruption by Ctrl-C that carries what was done: answers to rows, or trained models."""

    def __init__(self, result: Any, said: str) -> None:  # noqa: ANN401 - of any function of lists
        super().__init__()
        self.result = result
        self.said = said
        """Line for a shell."""


def texts(  # noqa: PLR0913 - the endpoint's published arguments
    rows: Rows,
    family: Family | str = "mini",
    kind: str = "",
    pooling: str = "mean",
    layer: int = -1,
    score: str = "pll",
    group: str | Sequence[object] = "",
    columns: Mapping[str, str | int] | None = None,
    too_long: str = "leave_out",
    labels: LabelNames | None = None,
    precision: str = "float32",
) -> Texts:
    """Return each model's answer for every row of a list, and how the models compare.

    A row's numbers do not depend on its batch. A row that cannot be read is left out, and why.

    Args:
        rows: File of texts (.txt, .csv, .tsv, .jsonl), by its path or opened in binary mode; or
            texts, or mappings with ``text`` and any of ``answer``, ``label``, ``group``; for pairs
            ``good``, ``bad``; for tags ``tokens``, ``tags``. At most 2,000 of 512 tokens, 1 MB.
        family: What ``load`` returned, or the name of a family.
        kind: "masked" (one [MASK] a row), "plain", "pairs" (which is likelier), "labelled",
            "multilabel", "scored" (a regression on features), or "tagged". Empty: by the columns.
        pooling: Features of labelled rows: "mean" of all tokens, or "cls", the first token.
        layer: Layer of these features; 0 is the embeddings, ``-1`` the last.
        score: Score that pairs are judged by: "pll" or "pll_word_l2r" (Kauf and Ivanova 2023).
        group: Column of each row's group, or in Python one name a row; no split divides a group.
        columns: Column of a role, by its name or number: ``{"text": 3}``; "" removes it. Roles:
            text, second, answer, good, bad, label, score, group, direction, tokens, tags.
        too_long: Treatment of a labelled or scored row of over 512 tokens: "leave_out", "head" (its
            first words are read) or "head_and_tail" (its first and last: Sun et al. 2019).
        labels: Names for the labels of a model's own head, in the order of its outputs, by column:
            {"bert": ["negative", "positive"]}. It is scored on rows with labels of these names.
        precision: "float32", or "fast": bfloat16 except where a decision is close, see ``fast``.

    Returns:
        ``answers``: by row and model the values of its kind; the summary compares the models.

    Raises:
        Refusal: the list cannot be read, an option is not offered, or no model is available.
        Interrupted: Ctrl-C; its ``result`` has the finished rows, without predicted labels.

    Example:
        >>> explorer.texts("facts", kind="masked").to_frame().shape
        (150, 14)
    """
    table, chosen = with_roles(table_of(rows), columns, group)
    options = TextsOptions(pooling, layer, score, too_long, precision, labels=labels or {})
    return answered(table, family, (kind, chosen, options), CancelToken())


def with_roles(
    table: RawTable, columns: Mapping[str, str | int] | None, group: str | Sequence[object]
) -> tuple[RawTable, dict[str, str]]:
    """Return a table and the columns of its roles; given groups become a column of the table."""
    chosen = named(table, columns or {})
    if not isinstance(group, str):
        return grouped(table, group), chosen | {"group": GROUP}
    return table, chosen | ({"group": group} if group else {})


def named(table: RawTable, columns: Mapping[str, str | int]) -> dict[str, str]:
    """Return the name of each column that is given by its name, or by its number from 1.

    Raises:
        BadRows: they are not a mapping.
    """
    if not isinstance(columns, Mapping):
        raise BadRows(refusals.BAD_COLUMNS)
    names = {str(place): name for place, name in enumerate(table.names, 1)}
    return {
        role: str(given) if given in table.names else names.get(str(given), str(given))
        for role, given in columns.items()
    }


def grouped(table: RawTable, groups: Sequence[object]) -> RawTable:
    """Return a table with a column of groups, in place of one of this name.

    Raises:
        BadRows: there is not one for each row.
    """
    names = [str(each) for each in groups]
    if len(names) != table.n_rows:
        raise BadRows(
            refusals.BAD_GROUPS.format(n=f"{len(names):,}", rows=counted(table.n_rows, "row"))
        )
    kept = [place for place, name in enumerate(table.names) if name != GROUP]
    cells = [
        (*(row[place] for place in kept), name)
        for row, name in zip(table.cells, names, strict=False)
    ]
    header = (*(table.names[place] for place in kept), GROUP)
    return replace(table, names=header, cells=tuple(cells))


def answered(
    table: RawTable,
    family: Family | str,
    how: tuple[str, Mapping[str, str], TextsOptions],
    cancel: CancelToken,
) -> Texts:
    """Return the answers to a list, or to the rows that were done at the token's deadline.

    Args:
        table: The cells of the list.
        family: What ``load`` returned, or the name of a family.
        how: The kind, the columns that are named, and the options.
        cancel: Token that may have a deadline.
    """
    kind, columns, options = how
    with asked(family) as models:
        texts = text_list(table, kind, columns)
        try:
            question = TextsQuestion(texts, models.ask(), options, cancel)
        except Cancelled as cancelled:
            raise (BadRows(NOTHING_DONE) if cancelled.reason == "deadline" else cancelled) from None
        try:
            for _ in each(rows_done(question.run(cancel)), question.total, "rows"):
                pass
        except Cancelled as cancelled:
            if cancelled.reason != "deadline":
                raise
            return _result(question, models, done=False)
        except KeyboardInterrupt:
            if not question.n_done:
                raise
            said = INTERRUPTED.format(n=question.n_done)
            raise Interrupted(_result(question, models, done=False), said) from None
        return _result(question, models, done=True)


def table_of(rows: Rows) -> RawTable:
    """Return the cells of a file, open or by its path, of a bundled list, or of texts or mappings.

    Raises:
        BadRows: there is no such file, or it cannot be read.
    """
    if isinstance(rows, str | Path):
        path, bundled = Path(rows), DATA / "texts" / f"{rows}.csv"
        try:
            if not path.exists() and path.name == str(rows) and bundled.exists():
                path = bundled
            most = -1 if path.suffix.lower() in WITH_PANDAS else MAX_BYTES + 1
            with path.open("rb") as file:
                content = file.read(most)
        except (OSError, ValueError) as error:  # a name may be too long, or hold a zero byte
            raise BadRows(refusals.NO_FILE.format(name=brief(rows))) from error
        if path.suffix.lower() in WITH_PANDAS:
            rows = _records(content, path)
        else:
            return read_table(content, f"{path.parent.name}/{path.name}")
    if isinstance(rows, BufferedIOBase):
        return read_table(rows.read(MAX_BYTES + 1))
    # A mapping would give its keys, and a frame the names of its columns.
    if not isinstance(rows, Iterable) or isinstance(rows, Mapping) or hasattr(rows, "columns"):
        raise BadRows(refusals.BAD_ROWS)
    return read_table("\n".join(_up_to_limit(map(_as_line, rows))), "rows.jsonl")


def _up_to_limit(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines up to the one that is over the limit of bytes: no reader reads further."""
    left = MAX_BYTES
    for line in lines:
        yield line
        left -= len(line) + 1
        if left < 0:
            return


def _records(content: bytes, path: Path) -> list[Mapping[str, Any]]:
    """Return the rows of a Parquet or Excel file.

    Raises:
        BadRows: the package that pandas reads it with is not installed, or the file is damaged.
    """
    import pandas

    reader, package = WITH_PANDAS[path.suffix.lower()]
    try:
        frame = getattr(pandas, reader)(BytesIO(content))
    except ImportError as error:
        raise BadRows(refusals.NEEDS_PACKAGE.format(package=package)) from error
    except Exception as error:
        # Each engine of pandas raises its own errors.
        raise BadRows(refusals.NO_FILE.format(name=brief(str(path)))) from error
    frame = frame.head(MAX_ROWS + 1).astype(object)
    return frame.where(frame.notna(), None).to_dict("records")


def _plain_value(value: Any) -> Any:  # noqa: ANN401 - any value of a cell
    """Return a value of numpy as Python's, and a date as its text."""
    return value.tolist() if hasattr(value, "tolist") else value.isoformat()


def _as_line(row: object) -> str:
    """Return a row as one line of JSON; numpy's numbers are numbers.

    Raises:
        BadRows: it is neither a text nor a mapping of cells.
    """
    if not isinstance(row, str | Mapping):
        raise BadRows(refusals.BAD_ROWS)
    value = row if isinstance(row, str) else dict(row)
    try:
        return json.dumps(value, ensure_ascii=False, default=_plain_value)
    except (TypeError, AttributeError, ValueError) as error:
        raise BadRows(refusals.BAD_ROWS) from error


def rows_done(progress: Iterator[Progress]) -> Iterator[int]:
    """Yield once for each row that is done."""
    before = 0
    for state in progress:
        yield from range(before, state.done)
        before = state.done


def _result(question: TextsQuestion, models: Family, done: bool) -> Texts:
    result, missing = question.result(), question.ready.missing
    seen = question.precision, question.fast
    return OF_KIND[result.texts.kind](models.name, done, result, missing, *seen)
