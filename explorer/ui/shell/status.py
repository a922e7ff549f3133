"""Status line: checkpoints, device, precision and library versions behind the numbers."""

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

MAX_FIRST = 3
"""Most masks listed whose top prediction differs."""


@cache
def library_versions() -> str:
    """Return the versions of the libraries that can change a number."""
    return ", ".join(f"{name} {version(name)}" for name in ("torch", "transformers", "gradio"))


def status_html(state: PageState, runs: dict[str, Run]) -> Markup:
    """Return the note on half precision, if used, and the provenance of the numbers.

    Checkpoints, device and precision are visible; revisions, tokens and versions open on demand.
    """
    names, sources = [], []
    for spec in family_specs(state.family):
        source = strings.OWN if spec.is_own else strings.NEWEST if spec.repo else strings.BUNDLED
        run = runs.get(spec.key)
        size = f", {counted(len(run.tokens), 'token')}" if run else ""
        names.append(join(model_name(spec.key, spec.name), ", "))
        sources.append(f"{spec.name}: {spec.revision[:8] or source}{size}")
    run = next(iter(runs.values()), None)
    machine = f"{run.device}, {run.dtype}" if run else f"{state.device}, {state.dtype}"
    rest = el("p", "; ".join((*sources, library_versions())))
    of_files = [
        note(f"{spec.label}: {' '.join(spec.notes)}")
        for spec in family_specs(state.family)
        if spec.notes
    ]
    provenance = el("details", el("summary", *names, machine), rest, class_="note status")
    address = f"cite/{state.family}"
    cite = el("a", strings.CITE_LINK, href=address, target="_blank", class_="cite")
    provenance = join(*of_files, cite, provenance)
    if run is None or run.dtype == "float32":
        return provenance
    return join(note(*against_float32(state, runs)), provenance)


def against_float32(state: PageState, runs: dict[str, Run]) -> Iterator[str]:
    """Yield the sentences on the printed digits that half precision changes."""
    sentences = strings.HALF
    yield sentences["name"].format(dtype=state.dtype)
    try:
        exact, absent = get_runs(replace(state, dtype="float32").ask)
    except Exception as error:
        yield sentences["absent"].format(reason=sentence_of(error))
        return
    for key, run in runs.items():
        if key in exact:
            yield from _differences(run.spec.label, precision_difference(run, exact[key]))
    for reason in absent.values():
        yield sentences["absent"].format(reason=reason)


def _differences(label: str, difference: PrecisionDifference) -> Iterator[str]:
    sentences = strings.HALF
    if not difference.is_visible:
        yield sentences["same"].format(label=label)
        return
    if difference.n_probabilities:
        yield sentences["words"].format(
            label=label,
            changed=difference.n_changed,
            count=difference.n_probabilities,
            largest=probability(difference.largest_probability),
            weights=probability(difference.largest_attention),
        )
    else:
        weights = probability(difference.largest_attention)
        yield sentences["no_mask"].format(label=label, weights=weights)
    for mask, word, exact in difference.first_words[:MAX_FIRST]:
        yield sentences["first"].format(mask=mask, word=word, exact=exact)
    if n_more := len(difference.first_words[MAX_FIRST:]):
        yield sentences["more"].format(left=n_more)
