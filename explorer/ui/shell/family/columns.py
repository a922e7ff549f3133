"""Which models are compared: a preset, or one size for each column, with what it takes."""

from collections.abc import Callable

import gradio as gr

from explorer.links.page_state import PageState
from explorer.models.choice.family import column, sizes_of
from explorer.models.kinds import label_of
from explorer.models.specs import MODEL_KEYS, ModelSpec
from explorer.ui.kit import words as texts

CHANGED_JS = (
    "(text, size, device, dtype) =>"
    " {{ window.explorer.tell('column', {{key: '{key}', size, text, device, dtype}}); }}"
)
REFUSED_JS = "() => { document.getElementById('settings').hidePopover(); }"
"""Why a model was refused stands on the page, which the open list covers."""


def build_columns(start: PageState) -> dict[str, gr.Dropdown]:
    """A list for each column; what lies on this machine is known once the page is up."""
    used = sizes_of(start.family)
    with gr.Column(elem_classes="columns-of"):
        return {
            key: gr.Dropdown(
                column_choices(key, lambda spec: not spec.repo),
                value=used.get(key),
                label=label_of(key),
                info=texts.TYPE_ANY if may_type() else None,
                allow_custom_value=may_type(),
            )
            for key in MODEL_KEYS
        }


def may_type() -> bool:
    """Whether a visitor may type the name of a repository."""
    from explorer.models.choice.own import ANY

    return ANY[-1]


def on_typed(
    key: str,
    typed: str,
    progress: gr.Progress = gr.Progress(),  # noqa: B008
) -> gr.Dropdown:
    """The column's list with what was typed in it, downloaded if it is new.

    Raises:
        Refusal: it cannot stand there, in one sentence.
    """
    from explorer.models.choice.own import typed_model
    from explorer.models.hub import is_on_disk

    size = typed_model(key, str(typed), lambda said, done: progress(done, desc=said))
    return gr.Dropdown(choices=column_choices(key, is_on_disk), value=size)


def column_choices(key: str, is_here: Callable[[ModelSpec], bool]) -> list[tuple[str, str]]:
    """The sizes of a column, each with its bytes and whether it has to be downloaded."""
    return [(said(spec, is_here(spec)), size) for size, spec in column(key).items()]


def said(spec: ModelSpec, is_here: bool) -> str:
    """A size in one line: ``BERT-large, 1.3 GB to download, 2.2 GB running``."""
    from explorer.models.choice.memory import gigabytes, running_bytes, weight_bytes

    weights = weight_bytes(spec)
    return (texts.COLUMN_HERE if is_here else texts.COLUMN_AWAY).format(
        label=spec.label,
        weights=gigabytes(weights),
        running=gigabytes(weights + running_bytes(spec)),
    )


def offer_columns() -> list[gr.Dropdown]:
    """The lists anew, with what is on this machine by now."""
    from explorer.models.hub import is_on_disk

    return [gr.Dropdown(choices=column_choices(key, is_on_disk)) for key in MODEL_KEYS]
