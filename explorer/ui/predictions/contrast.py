"""Which of the words offered as ``[he|she]`` each model prefers."""

from explorer.analysis.predictions.contrast import Contrast, contrast
from explorer.analysis.predictions.every_word import SpanPlan
from explorer.inference.runs import runs_with_mlm_head
from explorer.links.page_state import PageState
from explorer.models.run import Run
from explorer.models.tokens import BadText, Word, choose, find_choices, plain_text
from explorer.ui.kit.export import with_save_menu
from explorer.ui.predictions import contrast_words as texts
from explorer.ui.predictions.masked_scores import final_scores, plans_of
from explorer.ui.predictions.words import NO_MODEL
from explorer.views.markup import Markup, join, note
from explorer.views.predictions.contrast import contrast_html, contrast_numbers

MAX_CHOICES, MAX_ALTERNATIVES = 4, 8


def show_contrast(state: PageState | None) -> Markup:
    """Every choice in the state's text, or how to write one."""
    if state is None:
        return note("")
    text = plain_text(state.text)
    offered = find_choices(text)
    if not offered:
        return note(texts.CONTRAST_HINT)
    if len(offered) > MAX_CHOICES or any(
        len(choice.alternatives) > MAX_ALTERNATIVES for choice in offered
    ):
        raise BadText(
            texts.CONTRAST_TOO_MUCH.format(choices=MAX_CHOICES, alternatives=MAX_ALTERNATIVES)
        )
    runs, _ = runs_with_mlm_head(state)
    if not runs:
        return note(NO_MODEL)
    blocks: list[Markup] = []
    for choice in offered:
        stretches = [choose(text, choice, alternative) for alternative in choice.alternatives]
        found = contrasts(runs, state, stretches)
        drawn = contrast_html(found, texts.CONTRAST)
        blocks += [texts.contrast_finding(found)]
        blocks += [
            with_save_menu("predictions/contrast", drawn, contrast_numbers(found, stretches))
        ]
    return join(*blocks, note(texts.CONTRAST_RULE))


def contrasts(
    runs: dict[str, Run], state: PageState, stretches: list[tuple[str, Word]]
) -> list[Contrast]:
    """One choice through every model, from the text with each alternative in its place."""
    plans: dict[str, list[SpanPlan]] = {key: [] for key in runs}
    for key, run in runs.items():
        for plan in plans_of(run, state, stretches):
            if isinstance(plan, str):
                raise BadText(plan)
            plans[key].append(plan)
    scores = final_scores(runs, state, plans)
    return [contrast(key, run.spec.label, scores[key]) for key, run in runs.items()]
