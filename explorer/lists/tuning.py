"""Fine-tuning of all models of a family on a labelled list, with what it is compared to."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.inference.ask import Ask
from explorer.inference.runs import device_of
from explorer.lists.batches import (
    Part,
    Prepared,
    costs_of,
    feature_parts,
    in_row_order,
    prepare_features,
)
from explorer.lists.labelled import (
    FEATURES,
    WORDS,
    Cost,
    Judged,
    bag_cost,
    judged,
    labels_of,
    majority,
)
from explorer.lists.rows import TextList
from explorer.lists.tuned import (
    BAG,
    FROZEN,
    GUESS,
    TUNED,
    Answers,
    BestModel,
    Live,
    SeedRun,
    TuningOptions,
    TuningProgress,
    TuningResult,
    TuningScores,
    enough,
    plan_of,
    tuning_scores,
)
from explorer.models.specs import ModelSpec
from explorer.refusal import Refusal, Sentence, joined
from explorer.scheduling.cancel import Cancelled, CancelToken

if TYPE_CHECKING:
    from explorer.models.loading import LoadedModel
    from explorer.models.tuning.training import EncodedRows, Tuning, TuningPlan

POOLING = "mean"
"""Frozen features are the mean of all tokens of the last layer."""
NO_HALF = Sentence(
    "tuning-precision",
    "Fine-tuning computes in float32 or bfloat16, and these models are asked in {dtype}.",
)
NONE_TUNED = Sentence("nothing-tuned", "No model could be fine-tuned.")


@dataclass(slots=True, eq=False)
class _Column:
    """One model of a fine-tuning as it goes on."""

    spec: ModelSpec
    rows: "EncodedRows"
    plan: "TuningPlan"
    peak: int | None = None
    megabytes: float = 0.0
    runs: list[SeedRun] = field(default_factory=list)
    predicting: list[float] = field(default_factory=list)
    """Milliseconds a row of each run."""
    best: BestModel | None = None

    def keep(self, model: BestModel) -> None:
        """Keep a model if it is better than the one before."""
        if self.best is None or model.quality > self.best.quality:
            self.best = model


class TuningQuestion:
    """Fine-tuning of a list: iterate over ``run`` for its progress, then read ``result``."""

    def __init__(
        self, texts: TextList, ask: Ask, options: TuningOptions, cancel: CancelToken | None = None
    ) -> None:
        """Tokenize the rows with every model and divide them.

        Raises:
            Refusal: an option is not offered, the rows are too few or of one label, or no model can
                be asked. Cancelled: the token was cancelled meanwhile.
        """
        from explorer.models.tuning.networks import check_method
        from explorer.models.tuning.training import usual_epochs

        check_method(options.method)
        if ask.dtype not in ("float32", "bfloat16"):
            raise Refusal(NO_HALF.format(dtype=ask.dtype))
        self.options, self._cancel = options, cancel or CancelToken()
        ready: Prepared[Any] = prepare_features(enough(texts), ask, self._cancel)
        self.texts = enough(ready.texts)
        kept = {row.number for row in self.texts.rows}
        places = [i for i, row in enumerate(ready.texts.rows) if row.number in kept]
        plans = {key: [of_model[i] for i in places] for key, of_model in ready.plans.items()}
        self.ready = replace(ready, texts=self.texts, plans=plans)
        self.labels, self.missing = labels_of(self.texts), dict(ready.missing)
        self.plan = plan_of(self.labels)
        if not options.epochs:
            epochs = usual_epochs(len(self.plan.early[0][0]))
            self.options = replace(options, epochs=epochs)
        self._columns = {key: self._column(key, spec) for key, spec in ready.specs.items()}
        self._others: list[Answers] = []
        self._done = 0

    @property
    def total(self) -> int:
        """Steps of all trainings, if none is stopped early."""
        return len(self._columns) * self.options.seeds * self._steps_of_seed

    @property
    def _steps_of_seed(self) -> int:
        from explorer.models.tuning.training import steps_of

        return sum(steps_of(len(train), self.options.epochs) for train, _ in self.plan.early)

    def run(self) -> Iterator[TuningProgress]:
        """Train and score everything, and yield the progress after each step; all is kept.

        Seed by seed, every fold and every column is trained, so that a stop leaves columns that
        can be compared.

        Raises:
            Cancelled: the token was cancelled; ``result`` then has what there is.
            Refusal: no model could be fine-tuned.
        """
        yield self._progress()
        self._others = self._baselines()
        for seed in range(self.options.seeds):
            for fold in range(len(self.plan.splits)):
                for key in [*self._columns]:
                    try:
                        yield from self._train(key, seed, fold)
                    except Refusal as refusal:  # the others go on without it
                        self.missing[key] = refusal
                        del self._columns[key]
                    if not self._columns:
                        first = str(next(iter(self.missing.values())))
                        raise Refusal(joined([NONE_TUNED, first]))

    def result(self) -> TuningResult:
        """Return the result of what is done."""
        columns, n_folds = self._columns, len(self.plan.splits)
        seeds = min(len(column.runs) // n_folds for column in columns.values())
        return TuningResult(
            self.texts,
            self.labels.names,
            self.options,
            self.plan,
            {key: column.spec.label for key, column in columns.items()},
            {key: column.plan.rate for key, column in columns.items()},
            {key: tuple(column.runs) for key, column in columns.items()},
            seeds,
            {key: column.peak for key, column in columns.items()},
            self._scores(seeds) if seeds else None,
            {key: column.best for key, column in columns.items() if column.best},
            self.missing,
        )

    def _column(self, key: str, spec: ModelSpec) -> _Column:
        from explorer.models.tuning.training import EncodedRows, TuningPlan, usual_rate

        options = self.options
        with self._lease(spec) as loaded:
            texts = self.ready.plans[key]
            rows = EncodedRows.of(loaded, texts, self.labels.truth, self.ready.ask.dtype)
        rate = options.rate or usual_rate(options.method, spec.architecture.d_model)
        return _Column(spec, rows, TuningPlan(options.method, options.epochs, rate))

    def _lease(self, spec: ModelSpec) -> Any:  # noqa: ANN401 - a context of a loaded model
        from explorer.models.loading import leased

        return leased(spec, device_of(self.ready.ask), self.ready.ask.dtype)

    def _progress(self, live: Live | None = None) -> TuningProgress:
        runs = {key: tuple(column.runs) for key, column in self._columns.items()}
        labels = {key: column.spec.label for key, column in self._columns.items()}
        peaks = {key: column.peak for key, column in self._columns.items()}
        trainings = self.options.seeds * len(self.plan.splits)
        return TuningProgress(self._done, self.total, runs, labels, peaks, trainings, live)

    def _network(self, column: _Column, loaded: "LoadedModel", seed: int) -> Any:  # noqa: ANN401
        """Return a new network to train: plain, or with LoRA."""
        from explorer.models.tuning.networks import LORA, classifier_on, with_lora

        network = classifier_on(loaded, self.labels.names, seed)
        if self.options.method != LORA:
            return network
        return with_lora(network, column.spec.kind, seed).to(loaded.device)

    def _train(self, key: str, seed: int, fold: int) -> Iterator[TuningProgress]:
        """Train one column on one fold with one seed, and yield after every step."""
        from explorer.models.tuning.training import Tuning

        column, done = self._columns[key], self._done
        with self._lease(column.spec) as loaded:
            if column.peak is None and not column.runs:
                column.peak = self._peak(column, loaded)
            tuning = Tuning(self._network(column, loaded, seed), column.rows, column.plan, seed)
            tokenizer = loaded.tokenizer
        train, early = self.plan.early[fold]
        try:
            for step in tuning.run(train.tolist(), early.tolist(), self._cancel.check):
                self._done = done + len(step.curves.losses)
                yield self._progress(Live(key, seed, fold, step.curves, step.seconds))
        except (Cancelled, KeyboardInterrupt):
            if fold == 0 and tuning.curves.epochs:
                column.keep(_kept(column.spec, tuning, tokenizer, _unscored(seed, tuning)))
            raise
        self._done = done + tuning.curves.steps  # early stopping leaves some out
        run = self._predict(column, tuning, (seed, fold))
        column.runs.append(run)
        if fold == 0:
            column.keep(_kept(column.spec, tuning, tokenizer, run))

    def _predict(self, column: _Column, tuning: "Tuning", place: tuple[int, int]) -> SeedRun:
        from explorer.models.tuning.training import predicted

        seed, fold = place
        test = self.plan.splits[fold][1]
        begun = time.perf_counter()
        found = predicted(tuning.network, column.rows, test.tolist())
        column.predicting.append(1e3 * (time.perf_counter() - begun) / len(test))
        return SeedRun(seed, fold, tuning.curves, tuning.seconds, found)

    def _peak(self, column: _Column, loaded: "LoadedModel") -> int | None:
        """Return the bytes of a training step on the longest rows, its weights included.

        A network of its own takes the step, and is dropped.
        """
        from explorer.models.tuning.networks import weight_bytes_of
        from explorer.models.tuning.training import BATCH_ROWS, Tuning
        from explorer.timing.protocol import peak_bytes

        network = self._network(column, loaded, 0)
        column.megabytes = weight_bytes_of(network) / 1e6
        tuning = Tuning(network, column.rows, column.plan)
        lengths = [len(text.ids) for text in column.rows.texts]
        longest = np.argsort(lengths)[-BATCH_ROWS:].tolist()
        more = peak_bytes(lambda: tuning.step(longest, 0.0), str(loaded.device))
        return None if more is None else more + weight_bytes_of(network)

    def _baselines(self) -> list[Answers]:
        """Return the predictions from frozen features, from words, and of the largest class."""
        from threadpoolctl import threadpool_limits

        parts: list[Part[Any]] = [*feature_parts(self.ready, POOLING, self._cancel)]
        features = in_row_order(parts, len(self.texts.rows))
        costs, words = costs_of(self.ready, parts), [row.read for row in self.texts.rows]
        passes = {key: sum(part.value[key].seconds for part in parts) for key in features}
        found = []
        with threadpool_limits(1, user_api="blas"):
            for key, of_model in features.items():
                last = of_model[:, -1]
                answered, seconds = self._judged(last, FEATURES)
                work = (seconds + passes[key], costs[key])
                label = self._columns[key].spec.label
                found.append(self._answers((FROZEN, key), label, answered, work))
            answered, seconds = self._judged(words, WORDS)
            cost = bag_cost(words, self.labels.truth, answered.choices)
        found.append(self._answers((BAG, ""), "", answered, (seconds, cost)))
        guess = majority(self.labels.truth)
        found.append(self._answers((GUESS, ""), "", guess, (0.0, Cost(0.0, 0.0))))
        return found

    def _judged(self, inputs: Any, recipe: Any) -> tuple[Judged, float]:  # noqa: ANN401
        begun = time.perf_counter()
        splits = self.plan.splits
        found = judged(inputs, self.labels, recipe, self._cancel.check, splits)
        return found, time.perf_counter() - begun

    def _answers(
        self, key: tuple[str, str], label: str, found: Judged, work: tuple[float, Cost]
    ) -> Answers:
        seconds, cost = work
        predicted = found.predicted[self.plan.tested][None]
        return Answers(key, label, predicted, seconds, cost.ms_per_row, cost.megabytes)

    def _scores(self, seeds: int) -> TuningScores:
        """Return the scores of the seeds that all columns have finished."""
        n_folds, tested = len(self.plan.splits), self.plan.tested
        order = np.concatenate([test for _, test in self.plan.splits])
        tuned = []
        for key, column in self._columns.items():
            runs = column.runs[: seeds * n_folds]
            rows = np.empty((seeds, int(tested.max()) + 1), np.int64)
            for seed in range(seeds):
                of_seed = runs[seed * n_folds : (seed + 1) * n_folds]
                rows[seed, order] = np.concatenate([run.predicted for run in of_seed])
            seconds = sum(run.seconds for run in runs) / seeds
            ms = float(np.median(column.predicting))
            tuned.append(
                Answers(
                    (TUNED, key),
                    column.spec.label,
                    rows[:, tested],
                    seconds,
                    ms,
                    column.megabytes,
                )
            )
        others = [each for each in self._others if each.key[1] in ("", *self._columns)]
        return tuning_scores(self.labels, self.plan, [*tuned, *others])


def _unscored(seed: int, tuning: "Tuning") -> SeedRun:
    """Return a training that was stopped, which predicts no test rows."""
    return SeedRun(seed, 0, tuning.curves, tuning.seconds, np.zeros(0, np.int64))


def _kept(spec: ModelSpec, tuning: "Tuning", tokenizer: Any, run: SeedRun) -> BestModel:  # noqa: ANN401
    """Return a trained model as it is kept: LoRA merged, on the processor."""
    from explorer.models.tuning.networks import merged

    return BestModel(spec, merged(tuning.network).cpu(), tokenizer, run)
