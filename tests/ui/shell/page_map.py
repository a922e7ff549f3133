"""Map of the page, one line for each component and each event.

``python -m tests.ui.shell.page_map > tests/ui/shell/page.txt`` writes it anew; the diff shows the
effect of a change on the page.
"""

import re
import sys
from collections import Counter

from gradio.blocks import BlockContext

from explorer.links.page_state import PageState
from explorer.ui.shell.page import build_page

MAX_LENGTH = 60
"""Longest excerpt of a text, in characters."""
UNTOLD = {"elem_id", "kind", "id", "asks", "html_template", "js_on_load", "render", "key"}
"""Arguments left out: named elsewhere, or implementation details of a component."""
OF_THE_MACHINE = {"Device"}
"""Labels of components whose choices depend on the machine."""
USUAL = {"queue": True, "concurrency_limit": "default", "trigger_mode": "once"}


def page_map(page) -> list[str]:
    """Return the page's components in order, then its events by their triggers."""
    parts = [block for block in page.blocks.values() if type(block).__name__ not in ("Form", "Api")]
    names = named(parts) | {b._id: "program" for b in page.blocks.values() if b not in parts}
    events = sorted(event_line(event, names, page.fns) for event in page.fns.values())
    counted = [line if n == 1 else f"{line} ({n} times)" for line, n in Counter(events).items()]
    return [*map(part_line, parts), "", *counted]


def parents(block):
    while (block := block.parent) is not None:
        if isinstance(block, BlockContext) and type(block).__name__ != "Form":
            yield block


def part_line(block) -> str:
    arguments = block.constructor_args
    arguments = arguments[0] if isinstance(arguments, list) else arguments
    of_machine = ("choices", "value") if arguments.get("label") in OF_THE_MACHINE else ()
    options = [
        f"{name}={short(value)}"
        for name, value in sorted(arguments.items())
        if name not in {*UNTOLD, *of_machine} and value is not None
    ]
    name = block.elem_id or getattr(block, "kind", "")
    return "  " * len([*parents(block)]) + " ".join(
        [type(block).__name__, *filter(None, [name]), *options]
    )


def short(value, most=MAX_LENGTH) -> str:
    """Return a value without markup, long texts truncated."""
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", str(value))).strip()
    return repr(text if len(text) <= most or isinstance(value, list) else f"{text[:most]}…")


def named(parts) -> dict[int, str]:
    """Return the components' names in event lines: own name or label, parent, running number."""
    names, seen = {}, Counter()
    for part in parts:
        word = part.elem_id or getattr(part, "kind", "") or getattr(part, "label", None)
        word = word or (part.value if type(part).__name__ == "Button" else type(part).__name__)
        home = next((p.elem_id for p in parents(part) if p.elem_id), "")
        name = word if part.elem_id else f"{home}/{word}"
        seen[name] += 1
        names[part._id] = name if seen[name] == 1 else f"{name} {seen[name]}"
    return names


def event_line(event, names, events) -> str:
    if event.trigger_after is not None:
        triggers = [f"after {called(events[event.trigger_after])}"]
    else:
        triggers = [f"{names.get(where, 'page')}.{what}" for where, what in event.targets]
    inputs, outputs = (
        [names[block._id] for block in blocks] for blocks in (event.inputs, event.outputs)
    )
    settings = [f"{n}={v}" for n, usual in USUAL.items() if (v := getattr(event, n)) != usual]
    slot = [event.concurrency_id] if not str(event.concurrency_id).isdecimal() else []
    progress = [f"progress={event.show_progress}"]
    script = [f"js={short(event.js, 5 * MAX_LENGTH)}"] if isinstance(event.js, str) else []
    cancels = ["ends others"] if event.cancels else []
    line = f"{' + '.join(triggers)}: {called(event)}({', '.join(inputs)}) -> {', '.join(outputs) or 'nothing'}"
    return f"{line} [{', '.join([*slot, *settings, *progress, *script, *cancels])}]"


def called(event) -> str:
    return event.name if event.fn else "browser"


if __name__ == "__main__":
    sys.stdout.write("\n".join(page_map(build_page(PageState()))) + "\n")
