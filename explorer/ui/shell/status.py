"""The status line: which checkpoint, device, precision and library versions made these numbers."""

from functools import cache
from importlib.metadata import version

from explorer.models.run import Run
from explorer.models.specs import family_specs
from explorer.page_state import PageState
from explorer.ui.kit import words as texts
from explorer.views.markup import Markup, el, join, model_name


@cache
def library_versions() -> str:
    """The libraries whose versions can change a number."""
    return ", ".join(f"{name} {version(name)}" for name in ("torch", "transformers", "gradio"))


def status_html(state: PageState, runs: dict[str, Run]) -> Markup:
    """One quiet line of provenance under the results."""
    parts = []
    for spec in family_specs(state.family):
        source = f"{spec.revision[:8]}" if spec.revision else texts.BUNDLED
        run = runs.get(spec.key)
        size = f", {len(run.tokens)} tokens" if run else ""
        parts.append(join(model_name(spec.key, spec.name), f" ({source}{size})"))
    run = next(iter(runs.values()), None)
    machine = f"{run.device}, {run.dtype}" if run else f"{state.device}, {state.dtype}"
    return el(
        "p",
        *(join(part, ", ") for part in parts),
        machine,
        ", ",
        library_versions(),
        class_="status",
    )
