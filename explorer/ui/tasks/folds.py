"""Folds of Tasks: attention between two sentences, scores of fine-tuning."""

import gradio as gr

from explorer.inference.runs import get_runs
from explorer.links.page_state import PageState
from explorer.models.choice.family import specs_by_key
from explorer.models.specs import distilled_pair
from explorer.ui.kit.export import with_save_menu
from explorer.ui.kit.folds import fold
from explorer.ui.tasks import strings as texts
from explorer.ui.tasks.pairs import show_objectives
from explorer.ui.tasks.strings import OBJECTIVES_TITLE
from explorer.views.markup import Markup, el, finding, join, note


def build_quadrants_fold(state: gr.State) -> None:
    """The four quadrants of a sentence pair."""
    with fold("tasks", "pairs", texts.QUADRANTS_QUESTION) as pairs:
        picture = gr.HTML()
        gr.HTML(el("h3", OBJECTIVES_TITLE))
        tables = gr.HTML()
        pairs.on_open(show_both, [state], [picture, tables])


def show_both(state: PageState | None) -> list[str]:
    """The quadrants of the reader's pair, and what the heads tell of many."""
    return [show_pairs(state), show_objectives(state)]


def show_pairs(state: PageState | None) -> str:
    """The quadrants of every model, or how to write a pair."""
    from explorer.analysis.alignment import align
    from explorer.analysis.tasks.pairs import pair_quadrants
    from explorer.views.tasks import pair_quadrants_html, pair_quadrants_numbers

    if state is None:
        return ""
    runs, _ = get_runs(state)
    alignment = align({key: run.tokens for key, run in runs.items()}) if runs else None
    found = [pair_quadrants(run, alignment) for run in runs.values() if alignment]
    results = [result for result in found if result is not None]
    if not results or alignment is None:
        return finding(texts.NO_PAIR)
    drawn = pair_quadrants_html(results, texts.QUADRANTS)
    numbers = pair_quadrants_numbers(results, alignment)
    picture = with_save_menu("tasks/quadrants", drawn, numbers)
    return join(texts.quadrants_finding(results), picture, note(texts.QUADRANTS_HOW))


def build_fine_tuning_fold(state: gr.State) -> None:
    """Measured and printed tables, apart."""
    with fold("tasks", "tuned", texts.FOLD) as opened:
        shown = gr.HTML()
        opened.on_open(show_kept, [state], [shown])


def show_kept(state: PageState | None) -> Markup | str:
    """Each task's table, how it was learned, and the papers' table below."""
    if state is None:
        return ""
    measured = [part for task in texts.NAMES for part in task_parts(state, task)]
    return join(*measured, printed(), note(texts.printed_note()))


def task_parts(state: PageState, task: str) -> list[Markup]:
    """One task: what every model reaches and keeps, and the schedule they share."""
    from explorer.analysis.tasks.scores import fitting_cards, tuned_scores
    from explorer.views.tasks import tuned_numbers, tuned_table

    specs = specs_by_key(state.family)
    cards, lacking = fitting_cards(specs, task)
    if not cards:
        return [note(texts.NAMES[task], ": ", *(f"{why} " for why in lacking.values()))]
    scores = tuned_scores(cards, task, distilled_pair()[0])
    drawn = tuned_table(scores, cards, specs, (texts.HEAD, texts.NAMES[task]))
    numbers = tuned_numbers(scores, cards, specs, task)
    parts = [with_save_menu(f"tasks/{task}", drawn, numbers, is_picture=False)]
    parts += [note(texts.how_learned(card)) for card in list(cards.values())[:1]]
    full = [
        texts.full_said(specs[k].label, card, task) for k, card in cards.items() if card["full"]
    ]
    return [*parts, *map(note, full), *map(note, lacking.values())]


def printed() -> Markup:
    """The papers' own figures for the same tasks."""
    from explorer.analysis.tasks.scores import printed_shares
    from explorer.views.tasks import printed_numbers, printed_table

    shares = printed_shares()
    drawn = printed_table(shares, texts.PRINTED_HEAD, texts.PRINTED)
    return with_save_menu("tasks/printed", drawn, printed_numbers(shares), is_picture=False)
