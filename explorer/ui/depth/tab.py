"""Depth tab: each model's answer after every layer (logit lens)."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import gradio as gr
import numpy as np

from explorer.inference.cache import key_of, memo
from explorer.inference.runs import Runs, call_on_model, gather, round_robin
from explorer.library.depth import lens_of
from explorer.links.page_state import RUN_FIELDS, PageState, looks_of
from explorer.links.tabs import MAX_DEPTHS
from explorer.models.run import Run, batches, typeable_answers
from explorer.models.tokens import BadText, word_id
from explorer.ui.depth import changed, folds, meaning, patching, strings
from explorer.ui.kit.asked import asked_page
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.strings import reading_note
from explorer.ui.kit.validation import refuse_bad_input
from explorer.views.markup import Markup, plain_cards

if TYPE_CHECKING:
    from explorer.analysis.alignment import Alignment
    from explorer.analysis.depth.lens import DepthDial, EveryWord, MaskedWord, MaskLens


ID = "depth"
LABEL = strings.LABEL
QUESTION = strings.QUESTION
READS = RUN_FIELDS


def build(state: gr.State) -> list[gr.components.Component]:
    """Build the logit lens with its depth dial, and the folds; return the headline."""
    headline: list[gr.components.Component] = [gr.HTML(), Canvas("depth/lens", asks=read_deeper)]
    meaning.build_fold(state)
    folds.build_similarity_fold(state)
    changed.build_fold(state)
    patching.build_fold(state)
    folds.build_moves_folds(state)
    return headline


def show(state: PageState, text_runs: Runs) -> list[object]:
    """Return the logit lens for the state's text; cached runs are not computed again."""
    from explorer.views.depth.lens import lens_canvas

    runs, missing = text_runs.with_mlm_head
    cards = {key: (error.spec.label, str(error)) for key, error in missing.items()}
    if not runs:
        return [plain_cards(cards), ""]
    lenses = lenses_of(runs, state)
    work = {key: work_of(run) for key, run in runs.items() if run.spec.architecture.shares_layers}
    canvas_texts = {
        "texts": strings.CANVAS,
        "run": {name: getattr(state, name) for name in RUN_FIELDS},
    }
    reading = reading_note(runs.values())
    return [reading or "", lens_canvas(runs, lenses, work, cards, canvas_texts)]


def first(state: PageState, values: list[Any]) -> list[Markup]:
    """Return the headline's values as HTML, of a mask also where every word was asked for."""
    from explorer.views.first.depth import depth_html
    from explorer.views.first.parts import canvas

    above, lens = values
    follow = looks_of(state).get("follow", "")
    drawn = depth_html(json.loads(lens), state.mask, follow) if lens else None
    return [above, canvas("depth/lens", drawn)]


def work_of(run: Run) -> list[int]:
    """Return the encoder's FLOP after 1, 2, 3, ... applications of its shared layer."""
    from explorer.analysis.depth.lens import dial_flops

    return list(dial_flops(run, MAX_DEPTHS * run.spec.architecture.n_layers))


def read_deeper(question: dict) -> str:
    """Return JSON that the browser asks for: the lens at every word, or a deeper encoder."""
    from explorer.analysis.alignment import align
    from explorer.views.depth.lens import dial_json, every_word_json

    state, text_runs = asked_page(question)
    runs, missing = text_runs.with_mlm_head
    if not runs:
        raise next(iter(missing.values()))
    if question.get("want") == "dial":
        with refuse_bad_input():
            run, mask = runs[str(question["model"])], int(question["mask"])
            run.tokens.mask_positions[mask]  # an IndexError is refused as bad input
        return dial_json(run, dial_of(run, state, mask))
    alignment = align({key: run.tokens for key, run in runs.items()})
    if not alignment.readable:
        raise BadText(strings.NO_WORD)
    return every_word_json(runs, alignment, MAX_WORDS, words_of(runs, alignment, state))


MAX_MASKS = 8
"""Upper limit: the head over all layers costs about one forward pass per dozen masks."""
MAX_WORDS = 32
"""Upper limit of words masked in turn: each costs a forward pass of every model."""


def lenses_of(runs: Mapping[str, Run], state: PageState) -> "dict[str, tuple[MaskLens, ...]]":
    """Return by model the lenses of its first masks; the encoders do not run again."""
    n_masks = min(MAX_MASKS, *(len(run.tokens.mask_positions) for run in runs.values()))
    answers = [typeable_answers(runs, mask) for mask in range(n_masks)]
    jobs = [
        partial(_kept_lenses, run, state, [_ids(run, words) for words in answers])
        for run in runs.values()
    ]
    return dict(zip(runs, gather(jobs), strict=True))


def _ids(run: Run, words: Mapping[str, str]) -> dict[str, int]:
    """Return the ids of all models' answers that are one piece of a model's vocabulary."""
    ids = {key: word_id(run.vocabulary, word, run.spec.lower_case) for key, word in words.items()}
    return {key: i for key, i in ids.items() if i >= 0}


def _kept_lenses(
    run: Run, state: PageState, followed: Sequence[Mapping[str, int]]
) -> "tuple[MaskLens, ...]":
    asked = tuple(tuple(ids.items()) for ids in followed)
    return memo(
        ("lenses", asked, *key_of(run)),
        lambda: tuple(lens_of(run, state.ask, mask, ids) for mask, ids in enumerate(followed)),
    )


def words_of(
    runs: Mapping[str, Run], alignment: "Alignment", state: PageState
) -> "dict[str, EveryWord]":
    """Mask the first words of the text one at a time, in rounds of one batch per model."""
    from explorer.analysis.depth.lens import every_word, masked_words

    indices = alignment.readable[:MAX_WORDS]
    words = {
        key: masked_words(run, tuple(alignment.groups[key][i] for i in indices))
        for key, run in runs.items()
    }
    ranks: dict[str, list[np.ndarray]] = {key: [] for key in runs}
    for answers in round_robin(
        {k: list(_batches(run, words[k], state)) for k, run in runs.items()}
    ):
        for key, rows in answers.items():
            ranks[key].append(rows)
    return {k: every_word(run, words[k], np.concatenate(ranks[k])) for k, run in runs.items()}


def _batches(
    run: Run, words: "Sequence[MaskedWord]", state: PageState
) -> Iterator[Callable[[], np.ndarray]]:
    """Yield one model's masked rows as jobs of one batch; each returns ranks [row, layer + 1]."""
    from explorer.analysis.depth.lens import batch_places

    targets = iter([target for word in words for target in word.targets])
    for rows in batches([row for word in words for row in word.rows]):
        wanted = tuple(islice(targets, len(rows)))
        yield partial(call_on_model, batch_places, run.spec, state.ask, rows, wanted)


def dial_of(run: Run, state: PageState, mask: int) -> "DepthDial":
    """Compute the answers at one mask after up to ``MAX_DEPTHS`` times the usual depth."""
    from explorer.analysis.depth.lens import depth_dial
    from explorer.models.forward import state_logits
    from explorer.models.inside.interventions import unrolled_states

    times = MAX_DEPTHS * run.spec.architecture.n_layers
    states = call_on_model(unrolled_states, run.spec, state.ask, run.tokens, times)
    at_mask = states[1:, run.tokens.mask_positions[mask]]
    logits = call_on_model(state_logits, run.spec, state.ask, at_mask)
    usual = run.spec.architecture.n_layers - 1
    return depth_dial(
        run, np.concatenate([logits[:usual], run.mask_logits[mask, None], logits[usual + 1 :]])
    )
