"""Layer fold: what each attention and feed-forward block added to the answer's log-probability."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import gradio as gr

from explorer.analysis.digits import signed
from explorer.inference.runs import call_on_model, gather, runs_with_mlm_head
from explorer.links.page_state import PageState
from explorer.models.run import Run
from explorer.models.spelling import spelling_of, word_id
from explorer.models.tokens import MASK, BadText
from explorer.ui.kit.canvas import Chart
from explorer.ui.kit.errors import plain_errors
from explorer.ui.kit.folds import fold
from explorer.ui.kit.queues import LIGHT
from explorer.ui.layer import words as texts
from explorer.ui.layer.reading import Followed, followed_word
from explorer.views.markup import Markup, finding, join, listed, model_name, note
from explorer.views.markup import word as as_word

if TYPE_CHECKING:
    from explorer.analysis.layer.steps import AnswerSteps

MOST_WORD = 60


def build_fold(state: gr.State) -> None:
    """A box for another word, the largest steps in a sentence, and a waterfall for each model."""
    with fold("layer", "steps", texts.STEPS_FOLD) as opened:
        with gr.Row(elem_classes="ly-ask"):
            box = gr.Textbox(
                label=texts.STEP_WORD, max_lines=1, max_length=MOST_WORD, scale=4, min_width=240
            )
            press = gr.Button(texts.STEP_FIND, size="md", scale=0, min_width=110)
        outputs = [gr.HTML(), Chart("layer/steps")]
        opened.on_open(show_steps, [state, box], outputs)
        gr.on([press.click, box.submit], plain_errors(show_steps), [state, box], outputs, **LIGHT)


def show_steps(state: PageState | None, typed: str | None = "") -> list[Any]:
    """The charts of the followed word's token; a sentence where there are none."""
    from explorer.views.layer.steps import steps_canvas

    if state is None:
        return ["", ""]
    runs, missing = runs_with_mlm_head(state)
    if not runs:
        return [note(*map(str, missing.values())), ""]
    word = followed_word(runs, state.at)
    if word is None:
        return [note(texts.NO_WORD), ""]
    ids, unknown = answer_ids(runs, word, state, (typed or "").strip())
    runs = {key: runs[key] for key in ids}
    found = steps_of(runs, word, state, ids)
    labels = {key: run.spec.label for key, run in runs.items()}
    names = {key: shown_word(runs[key], i) for key, i in ids.items()}
    constants = {
        "POSITIONS": {labels[key]: word.positions(key)[0] for key in runs},
        "IDS": {labels[key]: ids[key] for key in runs},
    }
    said = join(steps_finding(found, labels, names), note(unknown) if unknown else None)
    return [said, steps_canvas(found, labels, names, constants, texts.STEPS)]


def shown_word(run: Run, token_id: int) -> str:
    """A piece as a reader writes it."""
    return spelling_of(run.vocabulary).word(run.vocabulary[token_id])


def answer_ids(
    runs: Mapping[str, Run], word: Followed, state: PageState, typed: str
) -> tuple[dict[str, int], str]:
    """The id of the typed word, or of each head's first word at the followed token.

    And a sentence that names the models whose vocabularies lack the typed word, which are left out.

    Raises:
        BadText: the typed word is not one piece of any vocabulary.
    """
    if not typed or typed == MASK:
        return {key: _own_answer(run, word, state) for key, run in runs.items()}, ""
    found = {key: word_id(r.vocabulary, typed, r.spec.lower_case) for key, r in runs.items()}
    lacking = [runs[key].spec.label for key, token_id in found.items() if token_id < 0]
    unknown = texts.UNKNOWN_WORD.format(word=typed, models=" or ".join(lacking)) if lacking else ""
    ids = {key: token_id for key, token_id in found.items() if token_id >= 0}
    if not ids:
        raise BadText(unknown)
    return ids, unknown


def _own_answer(run: Run, word: Followed, state: PageState) -> int:
    from explorer.models.forward import state_logits

    last = run.hidden_states[-1, word.positions(run.spec.key)[0]]
    return int(call_on_model(state_logits, run.spec, state, last).argmax())


def steps_of(
    runs: Mapping[str, Run], word: Followed, state: PageState, ids: Mapping[str, int]
) -> "dict[str, AnswerSteps]":
    """One model after the other beside each other; the encoders do not run."""
    jobs = [partial(_steps, run, word, state, ids[key]) for key, run in runs.items()]
    return dict(zip(runs, gather(jobs), strict=True))


def _steps(run: Run, word: Followed, state: PageState, token_id: int) -> "AnswerSteps":
    from explorer.analysis.layer.steps import answer_steps
    from explorer.models.forward import state_logits
    from explorer.models.inside.stations import block_states

    position = word.positions(run.spec.key)[0]
    states = call_on_model(block_states, run.spec, state, run.hidden_states, position)
    return answer_steps(call_on_model(state_logits, run.spec, state, states), token_id)


def steps_finding(
    found: "Mapping[str, AnswerSteps]", labels: Mapping[str, str], words: Mapping[str, str]
) -> Markup:
    """The three largest steps of every model."""
    parts = []
    for key, one in found.items():
        steps = [
            texts.STEP.format(
                layer=layer + 1,
                block=texts.STEPS["blocks"][block],  # type: ignore[index]
                step=signed(step),
            )
            for layer, block, step in one.largest
        ]
        name = model_name(key, labels[key])
        parts.append(join(name, " for ", as_word(words[key]), ": ", listed(steps)))
    return finding("Largest steps. ", *(join(part, ". ") for part in parts))
