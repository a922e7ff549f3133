"""Fine-tuning of all models of a family on labelled rows, from Python and from a shell."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from explorer.library.family import Family, asked, missing_reasons
from explorer.library.progress import result_of
from explorer.library.results import Result
from explorer.lists.library import Interrupted, Rows, named, table_of
from explorer.lists.rows import text_list
from explorer.lists.tuned import TuningOptions, TuningResult
from explorer.lists.tuning import TuningQuestion
from explorer.lists.views import tuned as views
from explorer.lists.views.strings import read_as
from explorer.refusal import Refusal, Sentence
from explorer.timing.workload import whole_number
from explorer.views.notebook import Sketch

if TYPE_CHECKING:
    import plotly.graph_objects as go

EPOCHS, SEEDS = (0, 50), (3, 20)
"""Least and most of each."""
MOST_RATE = 1.0
BAD_RATE = Sentence(
    "bad-learning-rate",
    "The learning rate must be a number from 0, for the usual one, to {most:g}.",
)
NOTHING_TRAINED = Sentence(
    "nothing-to-save", "There is no model to save: no training has finished an epoch."
)
INTERRUPTED = "Interrupted: what is trained so far follows.\n"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FineTuned(Result):
    """Fine-tuned models next to frozen features, a bag of words and the largest class."""

    family: str
    done: bool
    """False: it was stopped, and ``answers`` has the seeds that every model has finished."""
    answers: TuningResult
    """The frozen result: courses, scores, comparisons, and the models that are kept."""

    COLUMNS: ClassVar = views.COLUMNS
    SKETCH: ClassVar = Sketch("bars", "classifier", "accuracy")
    BAR: ClassVar = "accuracy"

    @property
    def advice(self) -> str:
        """The sentence of advice; empty before every model has finished a seed."""
        return self.answers.scores.advice if self.answers.scores else ""

    @property
    def missing(self) -> Mapping[str, Refusal]:
        """By column the reason why it is not fine-tuned."""
        return self.answers.missing

    @property
    def read_as(self) -> str:
        """Sentence on how the list was read: its kind, its columns, and those not used."""
        return read_as(self.answers.texts)

    def to_dict(self) -> dict[str, Any]:
        """Return scores, comparisons and courses as a JSON object."""
        answer = {"family": self.family, "done": self.done} | views.as_json(self.answers)
        return answer | missing_reasons(self.missing)

    def rows(self) -> list[tuple[Any, ...]]:
        """Return a row for each classifier: fine-tuned, frozen, a bag of words, the largest class.

        Accuracies are shares of the tested rows, ``train_seconds`` those of one seed, and points
        are percentage points above the largest class.
        """
        return views.tuned_rows(self.answers)

    def sentences(self) -> tuple[str, ...]:
        """Return the advice, how the rows were divided, the spread over seeds, and the cost."""
        return views.sentences(self.answers)

    def figure(self) -> "go.Figure":
        """Return loss and accuracy on the rows for early stopping, by step, model and seed."""
        return views.figure(self.answers)

    def save(self, folder: str | Path) -> dict[str, Path]:
        """Save each column's best model as an ordinary transformers folder; return the folders.

        LoRA is merged into the weights. The model of a column is that of the seed with the lowest
        loss on the rows for early stopping, of the first fold where there are folds.

        Args:
            folder: The folder in which each column gets a folder of its own.

        Raises:
            Refusal: no model is trained yet, or a folder exists and is not empty.
        """
        from explorer.models.tuning.networks import save_classifier

        if not self.answers.best:
            raise Refusal(NOTHING_TRAINED)
        places = {key: Path(folder) / key for key in self.answers.best}
        for key, best in self.answers.best.items():
            text = views.card(self.answers, key, best)
            save_classifier(places[key], best.network, best.tokenizer, text)
        return places


def finetune(  # noqa: PLR0913 - a call names what it trains, how, and where it is saved
    rows: Rows,
    family: Family | str = "mini",
    method: str = "full",
    epochs: int = 0,
    seeds: int = 3,
    rate: float = 0.0,
    columns: Mapping[str, str | int] | None = None,
    save: str = "",
) -> FineTuned:
    """Fine-tune every model of a family on labelled rows, and compare it with what costs less.

    A quarter of the rows is held out, stratified by label; under 120 rows, each row is tested in
    one of five folds. All models get the same batches: AdamW, linear warm-up and decay, no weight
    decay for biases and layer norms. A sixth of the training rows decides which epoch is kept and
    when a training ends. Frozen features and TF-IDF, each with a logistic regression, and the most
    frequent label are judged on the same rows.

    Args:
        rows: Labelled rows as ``texts`` takes them, at least 40; a ``group`` stays together.
        family: What ``load`` returned, or the name of a family.
        method: "full", all weights, or "lora", which needs the package peft.
        epochs: Most passes over the training rows, to 50; 0: 5, or as many as have 60 steps.
        seeds: Trainings of each model with other random heads and orders, 3 to 20.
        rate: Peak learning rate; 0: 5e-5 (768 / width)², or for "lora" 5e-4 (768 / width).
        columns: Column of a role, by its name or its number from 1, as ``texts`` takes it.
        save: Folder in which the best models of all columns are saved; empty: none is.

    Returns:
        ``advice``, a sentence; by classifier accuracy and macro F1 with 95% intervals, the range
        over seeds, seconds and megabytes; ``answers.runs``, the course of each training.

    Raises:
        Refusal: the list is too small, an option is not offered, or no model could be trained.
        Interrupted: Ctrl-C; its ``result`` has what was trained.

    Example:
        >>> explorer.finetune("reviews.csv", method="lora", save="./tuned")  # doctest: +SKIP
    """
    from explorer.models.tuning.networks import check_places

    options = checked(method, epochs, seeds, rate)
    table = table_of(rows)
    with asked(family) as models:
        check_places([Path(save) / key for key in models.specs] if save else [])
        texts = text_list(table, "", named(table, columns or {}))
        found = answered(TuningQuestion(texts, models.ask(), options), models.name)
        if save:
            found.save(save)
        return found


def answered(question: TuningQuestion, family: str) -> FineTuned:
    """Train what a question asks for, and return the result.

    Raises:
        Interrupted: Ctrl-C; its ``result`` has what was trained. Refusal: no model was trained.
    """
    try:
        result_of(_steps(question), question.total, "steps")
    except KeyboardInterrupt:
        stopped = FineTuned(family, False, question.result())
        raise Interrupted(stopped, INTERRUPTED) from None
    return FineTuned(family, True, question.result())


def checked(method: object, epochs: object, seeds: object, rate: object) -> TuningOptions:
    """Return the options of a fine-tuning.

    Raises:
        Refusal: a number is out of its bounds.
    """
    n_epochs = whole_number("epochs", epochs, *EPOCHS)
    n_seeds = whole_number("seeds", seeds, *SEEDS)
    if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 <= rate <= MOST_RATE:
        raise Refusal(BAD_RATE.format(most=MOST_RATE))
    return TuningOptions(str(method), n_epochs, n_seeds, float(rate))


def _steps(question: TuningQuestion) -> Generator[int, None, None]:
    """Yield the steps that are done."""
    for progress in question.run():
        yield progress.done
