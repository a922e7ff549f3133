"""What each tuned model reaches and keeps, and what the papers print of the same: two tables."""

from collections.abc import Mapping, Sequence
from typing import Any

from explorer.analysis.digits import percent
from explorer.analysis.tasks.fine_tuning import TASKS, PrintedShare, TunedScore
from explorer.models.specs import ModelSpec
from explorer.views.markup import Markup, table
from explorer.views.numbers import NO_RUN, NOT_RUN, Numbers

Scores = Mapping[str, TunedScore]
Cards = Mapping[str, Mapping[str, Any]]
Shares = Sequence[PrintedShare]


def tuned_table(
    scores: Scores, cards: Cards, specs: Mapping[str, ModelSpec], said: tuple[Sequence[str], str]
) -> Markup:
    """One line a model, below ``said``: the head and the caption."""
    head, caption = said
    rows: list[list[str | Markup]] = []
    for key, score in scores.items():
        interval = f"{percent(score.value)} [{percent(score.low)}, {percent(score.high)}]"
        kept = "–" if score.kept is None else percent(score.kept)
        size, minutes = cards[key]["trained_parameters"], cards[key]["seconds"] / 60
        rows.append([specs[key].label, interval, kept, f"{size:,}", f"{minutes:.1f}"])
    return table([*head], rows, caption)


def tuned_numbers(
    scores: Scores, cards: Cards, specs: Mapping[str, ModelSpec], task: str
) -> Numbers:
    """The same, from the adapters' cards: no text of the page's has a part in it."""
    columns = ("model", TASKS[task], "low", "high", "examples", "share_of_bert")
    more = ("trained_parameters", "seconds")
    rows = [
        [specs[key].label, one.value, one.low, one.high, one.count, one.kept]
        + [cards[key][name] for name in more]
        for key, one in scores.items()
    ]
    return Numbers(columns + more, rows, NOT_RUN)


def printed_table(shares: Shares, head: Sequence[str], caption: str) -> Markup:
    """One line for each score of a paper."""
    rows: list[list[str | Markup]] = [
        [
            f"{model}, {task.task}",
            f"{task.student:g}",
            f"{task.reference:g}",
            f"{task.kept:.1f}%",
            source,
        ]
        for model, task, source in shares
    ]
    return table([*head], rows, caption)


def printed_numbers(shares: Shares) -> Numbers:
    """The same, of no model that is here."""
    columns = ("model", "column", "score", "bert_base", "share_in_percent", "source")
    rows = [[m, task.task, task.student, task.reference, task.kept, s] for m, task, s in shares]
    return Numbers(columns, rows, NO_RUN)
