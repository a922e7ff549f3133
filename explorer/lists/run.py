"""The result of a whole list of texts, or of those rows that were done when it was stopped."""

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from explorer.analysis.precision import ListPrecision, list_differences
from explorer.inference.ask import Ask
from explorer.lists.batches import (
    Part,
    Prepared,
    costs_of,
    feature_parts,
    in_row_order,
    logits_in_row_order,
    masked_parts,
    prepare_features,
    prepare_masked,
    prepare_sentences,
    sentence_parts,
    shortened,
)
from explorer.lists.cut import WAYS
from explorer.lists.fast import FastList, not_fast
from explorer.lists.head_questions import asked_heads, with_classified
from explorer.lists.heads import AskedHeads
from explorer.lists.labelled import usable
from explorer.lists.masked import joined_blocks
from explorer.lists.multilabel import MultilabelList, multilabel_steps, sets_of
from explorer.lists.results import (
    POOLINGS,
    EncodedList,
    LabelledList,
    ListResult,
    ScoredList,
    TextsOptions,
    UnjudgedList,
    labelled_steps,
    masked_list,
    pair_list,
    scored_list_steps,
    sentence_list,
)
from explorer.lists.roles import BadRows
from explorer.lists.rows import JUDGED, TextList, left_out_said
from explorer.lists.rule import PRECISIONS, FastReport
from explorer.lists.scored import truth_of
from explorer.lists.sentences import SCORES
from explorer.lists.tag_batches import prepare_tags, tag_parts
from explorer.lists.tagged import tagged_list, types_of
from explorer.models.choice.labels import BAD_LABELS
from explorer.models.specs import ModelSpec
from explorer.refusal import Refusal, Sentence, joined
from explorer.scheduling.cancel import CancelToken
from explorer.timing.workload import is_whole

BAD_OPTION = Sentence("no-such-option", "{name} must be one of: {known}.")
NO_LAYER = Sentence("no-such-layer", "{label} has the layers 0 (the embeddings) to {last}.")
NOT_CUT = Sentence(
    "not-cut",
    "Only texts with a label or a score are cut where they are too long: a sentence or a mask "
    "would be another one. Rows that are too long are left out.",
)
NOTHING_DONE = Sentence("list-stopped", "It was stopped before any row was done.")


Training = Generator[tuple[int, int], None, LabelledList | MultilabelList | ScoredList]
"""Steps of the training of all classifiers, and their result."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Rows done so far, and trainings of classifiers once all rows are done."""

    done: int
    total: int
    trained: tuple[int, int] = (0, 0)
    """Steps done, and all steps."""


class TextsQuestion:
    """Question about a list: iterate over ``run`` for its progress, then read ``result``."""

    def __init__(
        self,
        texts: TextList,
        ask: Ask,
        options: TextsOptions | None = None,
        cancel: CancelToken | None = None,
    ) -> None:
        """Tokenize the rows with every model.

        Raises:
            BadRows: an option is not offered, no row can be read, or too few can be learnt from and
                no model's own head is asked. ModelUnavailable: the weights
                of a model cannot be loaded. Cancelled: the token was cancelled meanwhile.
        """
        self.options, self._ask = options or TextsOptions(), ask
        _check(self.options)
        cancel = cancel or CancelToken()
        refused = None
        try:
            texts = judgeable(texts)
        except BadRows as refusal:
            if texts.kind != "labelled":
                raise
            refused = refusal
        if self.options.too_long != WAYS[0]:
            if texts.kind not in JUDGED:
                raise BadRows(NOT_CUT)
            texts = shortened(texts, ask, self.options.too_long, cancel)
        self.ready, self.heads = _prepared(texts, ask, self.options, cancel)
        """The rows and models, the models' own heads that are scored, and why others are not."""
        if refused and not self.heads.heads:
            raise refused
        self._parts: list[Part[Any]] = []
        self._scores: LabelledList | MultilabelList | ScoredList | None = None
        self._fast: FastList | None = None
        self.precision: ListPrecision | None = None
        """The differences that half precision makes, once all rows are done; None in float32."""

    @property
    def total(self) -> int:
        """The number of rows that all models can run."""
        return len(self.ready.texts.rows)

    @property
    def n_done(self) -> int:
        """The number of rows that are done."""
        return len(self._rows_done())

    def run(self, cancel: CancelToken) -> Iterator[Progress]:
        """Run all rows and yield the progress after each part; what is done is kept.

        Raises:
            Cancelled: the token was cancelled; ``result`` then has the rows that are done.
        """
        yield Progress(0, self.total)
        for part in self._asked_parts(cancel):
            self._parts.append(part)
            yield Progress(self.n_done, self.total)
        if self.ready.ask.dtype != "float32":
            self.precision = self._against_float32(cancel)
        if self.ready.texts.kind in JUDGED:
            # A deadline is for the rows: what all of them are for is not given up at the end.
            steps = self._trained(lambda: cancel.check() if cancel.cancelled else None)
            while self._scores is None:
                try:
                    yield Progress(self.n_done, self.total, next(steps))
                except StopIteration as end:
                    self._scores = end.value

    def result(self) -> ListResult:
        """Return the result of the rows that are done.

        Rows with a label or a score have no prediction before all rows are done, and what predicts
        them is trained.

        Raises:
            BadRows: no row is done.
        """
        if not self._parts:
            raise BadRows(NOTHING_DONE)
        texts, labels = self._done(), self._labels()
        if texts.kind == "masked":
            blocks = [(part.rows, part.value) for part in self._parts]
            return masked_list(texts, labels, joined_blocks(blocks))
        if texts.kind in JUDGED:
            return self._scores or UnjudgedList(texts, labels, self.options.pooling)
        by_row = self._by_row()
        if texts.kind == "tagged":
            asked = {key: spec.label for key, spec in self._ask.specs.items()}
            return tagged_list(texts, asked, self.heads, by_row)
        if texts.kind == "pairs":
            return pair_list(texts, labels, by_row, self.options.score)
        return sentence_list(
            texts, labels, {key: [sides[0] for sides in rows] for key, rows in by_row.items()}
        )

    @property
    def fast(self) -> FastReport | None:
        """Report of the rows that are done; None where float32 was asked for."""
        if self.options.precision == PRECISIONS[0]:
            return None
        done = self._rows_done()
        return self._fast.report(done) if self._fast else not_fast(self.ready, len(done))

    def _asked_parts(self, cancel: CancelToken) -> Iterator[Part[Any]]:
        """Yield the parts in the precision that is asked for; a later one replaces its rows."""
        is_head = self.ready.texts.kind in (*JUDGED, "tagged")
        is_other = is_head or self.ready.ask.dtype != "float32"
        if self.options.precision == PRECISIONS[0] or is_other:
            return self._all_parts(self.ready, cancel)
        self._fast = FastList(self.ready, self.options.score, cancel)
        if not self._fast.models:
            return self._all_parts(self.ready, cancel)
        return self._fast.parts()

    def _rows_done(self) -> list[int]:
        return sorted({row for part in self._parts for row in part.rows})

    def _done(self) -> TextList:
        """Return the list of the rows that are done."""
        texts = self.ready.texts
        rows = tuple(texts.rows[row] for row in self._rows_done())
        return replace(texts, rows=rows)

    def _labels(self) -> dict[str, str]:
        return {key: spec.label for key, spec in self.ready.specs.items()}

    def _trained(self, check: Callable[[], None] = lambda: None) -> Training:
        """Return the training of all classifiers on the rows that are done, step by step."""
        features = in_row_order(self._parts, self.n_done)
        logits = logits_in_row_order(self._parts)
        encoded = EncodedList(features, costs_of(self.ready, self._parts), self.heads, logits)
        steps: dict[str, Any] = {
            "labelled": labelled_steps,
            "multilabel": multilabel_steps,
            "scored": scored_list_steps,
        }
        how = (self._done(), self._labels(), encoded, self.options, check)
        found: Training = steps[self.ready.texts.kind](*how)
        return found

    def _all_parts(self, ready: Prepared[Any], cancel: CancelToken) -> Iterator[Part[Any]]:
        if ready.texts.kind == "masked":
            return masked_parts(ready, cancel)
        if ready.texts.kind == "tagged":
            return tag_parts(ready, cancel)
        if ready.texts.kind in JUDGED:
            return feature_parts(ready, self.options.pooling, cancel)
        return sentence_parts(ready, cancel)

    def _against_float32(self, cancel: CancelToken) -> ListPrecision:
        """Run the first part, which holds the shortest rows, again in float32, and compare."""
        texts, ask = self.ready.texts, self.ready.ask
        exact = replace(self.ready, ask=replace(ask, dtype="float32"))
        try:
            part = next(iter(self._all_parts(exact, cancel)))
        except Refusal as refusal:
            return ListPrecision(ask.dtype, {}, str(refusal))
        half, score = self._parts[0].value, self.options.score
        differences = list_differences(texts.kind, score, half, part.value)
        return ListPrecision(ask.dtype, differences)

    def _by_row(self) -> dict[str, list[Any]]:
        """Return the scores by model, in the order of the rows."""
        places = {
            row: (number, place)
            for number, part in enumerate(self._parts)
            for place, row in enumerate(part.rows)
        }
        return {
            key: [
                self._parts[number].value[key][place]
                for number, place in (places[row] for row in sorted(places))
            ]
            for key in self.ready.specs
        }


def _prepared(
    texts: TextList, ask: Ask, options: TextsOptions, cancel: CancelToken
) -> tuple[Prepared[Any], AskedHeads]:
    """Return the rows with each model's input, and the models' own heads."""
    if texts.kind == "tagged":
        return prepare_tags(texts, ask, options.labels, cancel)
    prepare = dict.fromkeys(JUDGED, prepare_features) | {"masked": prepare_masked}
    ready: Prepared[Any] = prepare.get(texts.kind, prepare_sentences)(texts, ask, cancel)
    if texts.kind not in JUDGED:
        return ready, AskedHeads()
    for spec in ready.specs.values():
        layer_of(spec, options.layer)
    heads = asked_heads(ready, label_names_of(ready.texts), options.labels)
    return with_classified(ready, heads), heads


def judgeable(texts: TextList) -> TextList:
    """Return the rows of a list that can be judged; of labelled rows those with frequent labels.

    Raises:
        BadRows: there are too few labelled rows, or rows with a score, or they are all alike; the
            sentence names the first rows that are not read.
    """
    check: dict[str, Callable[[TextList], Any]] = {
        "scored": truth_of,
        "multilabel": sets_of,
        "tagged": types_of,
    }
    try:
        if texts.kind == "labelled":
            return usable(texts)
        check.get(texts.kind, lambda _: None)(texts)
    except BadRows as refusal:
        if not texts.left_out:
            raise
        raise BadRows(joined([str(refusal), left_out_said(texts.left_out)])) from refusal
    return texts


def label_names_of(texts: TextList) -> list[str]:
    """Return the different labels of a list, sorted; none of rows with a score."""
    several = [label for row in texts.rows for label in row.labels or (row.label,)]
    return sorted(set(filter(None, several)))


def layer_of(spec: ModelSpec, layer: int) -> int:
    """Return the index of a layer's features, counted from the embeddings.

    Raises:
        BadRows: the model has no such layer.
    """
    last = spec.architecture.n_layers
    if not is_whole(layer) or not -last - 1 <= layer <= last:
        raise BadRows(NO_LAYER.format(label=spec.label, last=last))
    return layer % (last + 1)


def _check(options: TextsOptions) -> None:
    offered = {"pooling": POOLINGS, "score": SCORES, "too_long": WAYS, "precision": PRECISIONS}
    for name, known in offered.items():
        if getattr(options, name) not in known:
            raise BadRows(BAD_OPTION.format(name=name, known=", ".join(known)))
    if not isinstance(options.labels, Mapping):
        raise BadRows(BAD_LABELS)
