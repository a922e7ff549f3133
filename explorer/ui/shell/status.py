"""The status line: which checkpoint, device, precision and library versions made these numbers."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from importlib.metadata import version

from explorer.analysis.digits import counted, probability
from explorer.analysis.precision import PrecisionDifference, precision_difference
from explorer.inference.runs import get_runs
from explorer.links.page_state import PageState
from explorer.models.choice.family import family_specs
from explorer.models.run import Run
from explorer.ui.kit import strings
from explorer.ui.kit.errors import sentence_of
from explorer.views.markup import Markup, el, join, model_name, note

MOST_FIRST = 3
"""Masks whose other first word is named."""


@cache
def library_versions() -> str:
    """The libraries whose versions can change a number."""
    return ", ".join(f"{name} {version(name)}" for name in ("torch", "transformers", "gradio"))


def status_html(state: PageState, runs: dict[str, Run]) -> Markup:
    """Say what half precision changed, and in one quiet line what made the numbers.

    Checkpoints, device and precision are in sight; revisions, tokens and versions open in place.
    """
    names, sources = [], []
    for spec in family_specs(state.family):
        kept = strings.OWN if spec.is_own else strings.NEWEST if spec.repo else strings.BUNDLED
        run = runs.get(spec.key)
        size = f", {counted(len(run.tokens), 'token')}" if run else ""
        names.append(join(model_name(spec.key, spec.name), ", "))
        sources.append(f"{spec.name}: {spec.revision[:8] or kept}{size}")
    run = next(iter(runs.values()), None)
    machine = f"{run.device}, {run.dtype}" if run else f"{state.device}, {state.dtype}"
    rest = el("p", "; ".join((*sources, library_versions())))
    provenance = el("details", el("summary", *names, machine), rest, class_="note status")
    if run is None or run.dtype == "float32":
        return provenance
    return join(note(*against_float32(state, runs)), provenance)


def against_float32(state: PageState, runs: dict[str, Run]) -> Iterator[str]:
    """The sentences that say which printed digits half precision changes."""
    said = strings.HALF
    yield said["name"].format(dtype=state.dtype)
    try:
        exact, absent = get_runs(replace(state, dtype="float32"))
    except Exception as error:
        yield said["absent"].format(reason=sentence_of(error))
        return
    for key, run in runs.items():
        if key in exact:
            yield from _differences(run.spec.label, precision_difference(run, exact[key]))
    for reason in absent.values():
        yield said["absent"].format(reason=reason)


def _differences(label: str, found: PrecisionDifference) -> Iterator[str]:
    said = strings.HALF
    if not found.is_seen:
        yield said["same"].format(label=label)
        return
    if found.n_probabilities:
        yield said["words"].format(
            label=label,
            changed=found.n_changed,
            count=found.n_probabilities,
            largest=probability(found.largest_probability),
            weights=probability(found.largest_attention),
        )
    else:
        yield said["no_mask"].format(label=label, weights=probability(found.largest_attention))
    for mask, word, exact in found.first_words[:MOST_FIRST]:
        yield said["first"].format(mask=mask, word=word, exact=exact)
    if left := len(found.first_words[MOST_FIRST:]):
        yield said["more"].format(left=left)
