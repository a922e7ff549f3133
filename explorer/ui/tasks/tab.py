"""Tasks tab: the models' pre-training and fine-tuning tasks, on the reader's own text."""

from typing import TYPE_CHECKING, Any

import gradio as gr

from explorer import assets
from explorer.analysis.digits import enumerated
from explorer.inference.runs import Runs
from explorer.library.strings import head_said
from explorer.library.tasks import ask_heads, head_is_there, skill_of
from explorer.links.page_state import RUN_FIELDS, PageState, open_folds
from explorer.models.choice.family import family_specs
from explorer.ui.kit.asked import with_runs
from explorer.ui.kit.canvas import with_save_menu
from explorer.ui.kit.folds import fold, part, parts_row
from explorer.ui.kit.strings import reading_note
from explorer.ui.tasks import strings
from explorer.ui.tasks.strings import OBJECTIVES_TITLE
from explorer.ui.tasks.tuned import (
    build_fine_tuning_fold,
    build_question,
    build_sentiment,
    question_values,
    sentiment_values,
)
from explorer.views.markup import Markup, el, finding, join, note, plain_card, why_missing

if TYPE_CHECKING:
    from explorer.analysis.tasks.pairs import PairAccuracy

ID = "tasks"
LABEL = strings.LABEL
QUESTION = strings.QUESTION
READS = RUN_FIELDS


def build(state: gr.State) -> list[gr.components.Component]:
    """Build the sections pair, sentiment and question, and the folds; return the headline."""
    gr.HTML(parts_row(ID, strings.PARTS, strings.PARTS_LABEL))
    with part(ID, "pair"):
        pairs = gr.HTML()
        build_quadrants_fold(state)
    with part(ID, "sentiment"):
        sentiment = build_sentiment(state)
    with part(ID, "question"):
        question = build_question(state)
    build_fine_tuning_fold(state)
    gr.HTML(strings.which_one())
    return [pairs, *sentiment, *question]


def show(state: PageState, text_runs: Runs) -> list[object]:
    """Return the headline's values for the state's text."""
    return [show_pairs(state, text_runs), *sentiment_values(state), *question_values(state)]


def first(state: PageState, values: list[Any]) -> list[Markup]:
    """Return the visible part as HTML, above it the text that the reader may have asked about."""
    pairs, _, text, _, spans, _, _, why, _, _, sentiment, _, question, passage, answers = values
    parts: dict[str, list[Markup]] = {
        "pair": [pairs],
        "sentiment": [el("p", text, class_="note"), spans, why, sentiment],
        "question": [el("p", question, class_="note"), el("p", passage, class_="note"), answers],
    }
    shown = next((name for name in open_folds(state) if name in parts), "pair")
    row = [
        el("span", label, class_="part-tab", aria_selected=str(name == shown).lower())
        for name, label in strings.PARTS.items()
    ]
    return [el("div", *row, class_="parts"), *parts[shown]]


def show_pairs(state: PageState, text_runs: Runs) -> Markup:
    """Return the finding, the bars and their notes; on an example if the text is no pair."""
    from explorer.analysis.tasks.pairs import sentence_pair
    from explorer.views.tasks import PairColumn, pair_orders_html, pair_orders_records

    own = sentence_pair(state.text, assets.plain_sentences())
    pair = own or sentence_pair(strings.EXAMPLE_PAIR, assets.plain_sentences())
    runs, missing = text_runs
    specs = {key: run.spec for key, run in runs.items()}
    if pair is None or not specs:
        return join(*(plain_card(e.spec.label, str(e), key) for key, e in missing.items()))
    trained = {key: head_is_there(spec, state.ask) for key, spec in specs.items()}
    skills = {key: skill_of(spec) for key, spec in specs.items()}
    shown_specs = {k: s for k, s in specs.items() if trained[k] and is_shown(skills[k])}
    answers = ask_heads(shown_specs, pair, state.ask)
    columns = [
        PairColumn(spec, answers.get(key), head_said(spec, trained[key], skills[key]))
        for key, spec in specs.items()
    ]
    missing_cards = [
        plain_card(error.spec.label, str(error), key) for key, error in missing.items()
    ]
    return join(
        strings.pairs_finding([(specs[key], orders) for key, orders in answers.items()]),
        reading_note(runs.values()) if own else note(el("span", strings.ON_EXAMPLE, class_="how")),
        with_save_menu(
            "tasks/pairs",
            join(pair_orders_html(pair, columns, strings.PAIRS), note(strings.PAIRS_NOTE)),
            pair_orders_records(pair, columns),
        ),
        el("div", *missing_cards, class_="columns") if missing_cards else None,
    )


def is_shown(skill: "PairAccuracy | None") -> bool:
    """Return whether to show the head: unless it was measured to be at chance."""
    return skill is None or skill.beats_chance


def show_objectives(state: PageState) -> Markup | str:
    """Return the cross test of both objectives, measured here and printed."""
    from explorer.analysis.tasks.pairs import cross_test
    from explorer.views.tasks import cross_test_html, cross_test_records

    columns: dict[str, list[str]] = {}
    for spec in family_specs(state.family):
        columns.setdefault(spec.name, []).append(spec.label)
    labels = {name: enumerated(shown) for name, shown in columns.items()}
    result = cross_test(assets.results(), tuple(labels))
    nsp, sop = (result.printed[name] for name in ("NSP", "SOP"))
    cross_note = strings.CROSS_NOTE.format(nsp_on_sop=f"{nsp[1]:.1f}%", sop_on_nsp=f"{sop[0]:.1f}%")
    html, numbers = cross_test_html(result, labels, strings.CROSS), cross_test_records(result)
    return join(
        with_save_menu("tasks/objectives", html, numbers, is_picture=False), note(cross_note)
    )


def build_quadrants_fold(state: gr.State) -> None:
    """Build the attention quadrants of a sentence pair, and the test of both objectives."""
    with fold("tasks", "pairs", strings.QUADRANTS_QUESTION) as section:
        picture = gr.HTML()
        gr.HTML(el("h3", OBJECTIVES_TITLE))
        tables = gr.HTML()
        section.on_open(show_both, [state], [picture, tables])


def show_both(state: PageState) -> list[str]:
    """Return the quadrants of the reader's pair, and the heads' scores on many pairs."""
    return [show_quadrants(state), show_objectives(state)]


@with_runs
def show_quadrants(_: PageState, text_runs: Runs) -> str:
    """Return the attention quadrants of every model, or how to write a pair."""
    from explorer.analysis.alignment import align
    from explorer.analysis.tasks.pairs import pair_quadrants
    from explorer.views.tasks import pair_quadrants_html, pair_quadrants_records

    runs, missing = text_runs
    if not runs:
        return why_missing(missing)
    alignment = align({key: run.tokens for key, run in runs.items()})
    quadrants = [pair_quadrants(run, alignment) for run in runs.values()]
    results = [result for result in quadrants if result is not None]
    if not results:
        return finding(strings.NO_PAIR)
    html = join(pair_quadrants_html(results, strings.QUADRANTS), note(strings.QUADRANTS_HOW))
    numbers = pair_quadrants_records(results, alignment)
    picture = with_save_menu("tasks/quadrants", html, numbers)
    return join(strings.quadrants_finding(results), picture)
