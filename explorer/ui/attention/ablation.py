"""Fold: heads switched off by the reader, and every head measured by itself."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import gradio as gr
import numpy as np

from explorer.inference.runs import call_on_model, gather, runs_with_mlm_head
from explorer.links.page_state import PageState
from explorer.models.run import Run
from explorer.ui.attention import ablation_words as texts
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.errors import plain_errors
from explorer.ui.kit.export import with_save_menu
from explorer.ui.kit.folds import fold
from explorer.ui.kit.queues import AT_ONCE, LONG
from explorer.ui.kit.validation import refuse_bad_input
from explorer.views.markup import explained, finding, join, note

if TYPE_CHECKING:
    from explorer.analysis.attention.ablation import HeadAblation, HeadImportance


def build_fold(state: gr.State) -> None:
    """Switches for every head, the change they make, and a sweep that can be stopped."""
    with fold("attention", "ablation", texts.QUESTION) as heads:
        said = gr.HTML()
        switches = Canvas("attention/switches")
        with gr.Row(elem_classes="ab-buttons"):
            sweep = gr.Button(texts.SWEEP, size="sm")
            stop = gr.Button(texts.STOP, size="sm", visible=False)
        changes = gr.HTML()
        gr.HTML(join(note(explained(texts.HOW, "KL", "nats")), note(texts.OFF)))
        heads.on_open(show_switches, [state], [said, switches, changes, stop])
        switches.on_question(
            show_changes,
            [state],
            [said, changes],
            trigger_mode="always_last",
            show_progress="hidden",
        )
        running = sweep.click(
            plain_errors(show_sweep),
            [state],
            [said, switches, stop],
            trigger_mode="once",
            api_visibility="private",
            show_progress="minimal",
            show_progress_on=[said],
            **LONG,
        )
        stop.click(stopped, None, [said, stop], cancels=[running], **AT_ONCE)


def stopped() -> tuple[str, gr.Button]:
    """What the fold says when the reader has seen enough."""
    return finding(texts.STOPPED), gr.Button(visible=False)


def show_switches(state: PageState | None) -> tuple[str, str, str, gr.Button]:
    """All heads on: nothing has changed yet."""
    from explorer.views.attention.ablation import head_switches

    hidden = gr.Button(visible=False)
    if state is None:
        return "", "", "", hidden
    runs, missing = runs_with_mlm_head(state)
    if not any(run.tokens.mask_positions for run in runs.values()):
        return finding(texts.NO_MASK), "", "", hidden
    cards = {key: (error.spec.label, str(error)) for key, error in missing.items()}
    return finding(texts.ALL_ON), head_switches(runs, cards, {}, texts.SWITCHES), "", hidden


def show_changes(question: dict, state: PageState | None) -> tuple[str, str]:
    """The answers with the chosen heads off."""
    from explorer.views.attention.ablation import changed_answers, changed_numbers

    if state is None:
        return "", ""
    runs, _ = runs_with_mlm_head(state)
    off = question.get("off", {})
    with refuse_bad_input():
        kept = {key: kept_heads(run, off.get(key, [])) for key, run in runs.items()}
    jobs = [partial(ablate, runs[key], kept[key], state) for key in runs]
    changed = [result for result in gather(jobs) if result.n_off]
    if not changed:
        return texts.change_finding(changed), ""
    answers = changed_answers(changed, texts.CHANGES)
    switched = {key: np.argwhere(~heads).tolist() for key, heads in kept.items()}
    shown = with_save_menu("attention/ablation", answers, changed_numbers(changed, switched))
    return texts.change_finding(changed), shown


def kept_heads(run: Run, off: object) -> np.ndarray:
    """Which heads stay on: bool [layer, head]; what is not a head of the model is ignored."""
    shape = run.spec.architecture
    kept = np.ones((shape.n_layers, shape.n_heads), dtype=bool)
    for layer, head in off if isinstance(off, list) else []:
        if layer in range(shape.n_layers) and head in range(shape.n_heads):
            kept[layer, head] = False
    return kept


def ablate(run: Run, kept: np.ndarray, state: PageState) -> "HeadAblation":
    """One model's answers with some heads off; with all on, the run's own answers."""
    from explorer.analysis.attention.ablation import head_ablation
    from explorer.models.inside.ablation import ablated_logits

    if kept.all():
        return head_ablation(run, run.mask_logits, 0)
    logits = call_on_model(ablated_logits, run.spec, state, run.tokens, kept[None])[0]
    return head_ablation(run, logits, int((~kept).sum()))


def show_sweep(state: PageState | None) -> Iterator[tuple[str, str, gr.Button]]:
    """The switches, darker layer by layer, one model after another."""
    from explorer.analysis.attention.ablation import head_importance
    from explorer.views.attention.ablation import head_switches

    if state is None:
        return
    runs, missing = runs_with_mlm_head(state)
    cards = {key: (error.spec.label, str(error)) for key, error in missing.items()}
    found: dict[str, HeadImportance] = {}
    for key, run in runs.items():
        if not run.tokens.mask_positions:
            continue
        swept: list[np.ndarray] = []
        for logits in swept_layers(run, state):
            swept.append(logits)
            found[key] = head_importance(run, swept)
            waiting = texts.progress(run.spec.label, len(swept), run.spec.architecture.n_layers)
            yield (
                texts.sweep_finding(list(found.values()), waiting),
                head_switches(runs, cards, found, texts.SWITCHES),
                gr.Button(visible=True),
            )
    said = texts.sweep_finding(list(found.values()), "" if found else texts.NO_MASK)
    yield said, head_switches(runs, cards, found, texts.SWITCHES), gr.Button(visible=False)


def swept_layers(run: Run, state: PageState) -> Iterator[np.ndarray]:
    """Each layer's heads off by turns; between layers a waiting measurement may go first."""
    from explorer.models.inside.ablation import ablated_logits, one_head_off

    shape = run.spec.architecture
    for layer in range(shape.n_layers):
        variants = one_head_off(shape.n_layers, shape.n_heads, layer)
        yield call_on_model(ablated_logits, run.spec, state, run.tokens, variants)
