"""Folds of Tasks: attention between two sentences, scores of fine-tuning."""

import gradio as gr

from explorer.inference.runs import get_runs
from explorer.links.page_state import PageState
from explorer.models.choice.family import specs_by_key
from explorer.models.specs import distilled_pair
from explorer.ui.kit.export import with_save_menu
from explorer.ui.kit.folds import fold
from explorer.ui.tasks import strings
from explorer.ui.tasks.pairs import show_objectives
from explorer.ui.tasks.strings import OBJECTIVES_TITLE
from explorer.views.markup import Markup, el, finding, join, note


def build_quadrants_fold(state: gr.State) -> None:
    """Build the attention quadrants of a sentence pair, and the test of both objectives."""
    with fold("tasks", "pairs", strings.QUADRANTS_QUESTION) as section:
        picture = gr.HTML()
        gr.HTML(el("h3", OBJECTIVES_TITLE))
        tables = gr.HTML()
        section.on_open(show_both, [state], [picture, tables])


def show_both(state: PageState) -> list[str]:
    """Return the quadrants of the reader's pair, and the heads' scores on many pairs."""
    return [show_pairs(state), show_objectives(state)]


def show_pairs(state: PageState) -> str:
    """Return the attention quadrants of every model, or how to write a pair."""
    from explorer.analysis.alignment import align
    from explorer.analysis.tasks.pairs import pair_quadrants
    from explorer.views.tasks import pair_quadrants_html, pair_quadrants_records

    runs, _ = get_runs(state)
    alignment = align({key: run.tokens for key, run in runs.items()}) if runs else None
    quadrants = [pair_quadrants(run, alignment) for run in runs.values() if alignment]
    results = [result for result in quadrants if result is not None]
    if not results or alignment is None:
        return finding(strings.NO_PAIR)
    html = pair_quadrants_html(results, strings.QUADRANTS)
    numbers = pair_quadrants_records(results, alignment)
    picture = with_save_menu("tasks/quadrants", html, numbers)
    return join(strings.quadrants_finding(results), picture, note(strings.QUADRANTS_HOW))


def build_fine_tuning_fold(state: gr.State) -> None:
    """Build the tables of measured and of printed scores."""
    with fold("tasks", "tuned", strings.FOLD) as section:
        html = gr.HTML()
        section.on_open(show_kept, [state], [html])


def show_kept(state: PageState) -> Markup | str:
    """Return each task's table with its training schedule, and the papers' table below."""
    measured = [part for task in strings.NAMES for part in task_parts(state, task)]
    return join(*measured, printed(), note(strings.printed_note()))


def task_parts(state: PageState, task: str) -> list[Markup]:
    """Return one task's table of scores, its schedule, and the models without an adapter."""
    from explorer.analysis.tasks.scores import fitting_cards, tuned_scores
    from explorer.views.tasks import tuned_records, tuned_table

    specs = specs_by_key(state.family)
    cards, missing = fitting_cards(specs, task)
    if not cards:
        return [note(strings.NAMES[task], ": ", *(f"{reason} " for reason in missing.values()))]
    scores = tuned_scores(cards, task, distilled_pair()[0])
    html = tuned_table(scores, cards, specs, strings.HEAD, strings.NAMES[task])
    numbers = tuned_records(scores, cards, specs, task)
    parts = [with_save_menu(f"tasks/{task}", html, numbers, is_picture=False)]
    parts += [note(strings.how_learned(card)) for card in list(cards.values())[:1]]
    full_notes = [
        strings.full_said(specs[k].label, card, task) for k, card in cards.items() if card["full"]
    ]
    return [*parts, *map(note, full_notes), *map(note, missing.values())]


def printed() -> Markup:
    """Return the papers' own figures for the same tasks."""
    from explorer.analysis.tasks.scores import printed_shares
    from explorer.views.tasks import printed_records, printed_table

    shares = printed_shares()
    html = printed_table(shares, strings.PRINTED_HEAD, strings.PRINTED)
    return with_save_menu("tasks/printed", html, printed_records(shares), is_picture=False)
