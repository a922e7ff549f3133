"""Fold: how the models were tuned, what each reaches, what it keeps of BERT's score."""

import gradio as gr

from explorer.links.page_state import PageState
from explorer.models.choice.family import specs_by_key
from explorer.models.kinds import distilled_pair
from explorer.ui.kit.export import with_save_menu
from explorer.ui.kit.folds import fold
from explorer.ui.tasks import fine_tuning_words as texts
from explorer.views.markup import Markup, join, note


def build_fold(state: gr.State) -> None:
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
    from explorer.analysis.tasks.fine_tuning import fitting_cards, tuned_scores
    from explorer.views.tasks.fine_tuning import tuned_numbers, tuned_table

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
    from explorer.analysis.tasks.fine_tuning import printed_shares
    from explorer.views.tasks.fine_tuning import printed_numbers, printed_table

    shares = printed_shares()
    drawn = printed_table(shares, texts.PRINTED_HEAD, texts.PRINTED)
    return with_save_menu("tasks/printed", drawn, printed_numbers(shares), is_picture=False)
