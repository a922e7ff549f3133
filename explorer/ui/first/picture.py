"""The first picture: the page's head, its tabs and the tab in sight as HTML, before any script.

It stands in a shadow root of its own, so that it has the page's style sheets to itself, and no name
in it is met by the scripts or by Gradio. ``assets/js/early.js`` takes it away part by part as the
page itself is there. What it shows follows from the address alone.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from urllib.parse import urlencode

from explorer.assets import ASSETS, examples
from explorer.context import context
from explorer.links.codec import to_link
from explorer.links.page_state import PageState, hidden_words
from explorer.models.choice.family import family_specs, sizes_of
from explorer.models.tokens import MASK, SEPARATOR, find_choices, words_between
from explorer.ui.first.scripts import FIRST_SHEET as SHEET
from explorer.ui.first.scripts import PACKS, address, later, preloads
from explorer.ui.kit import strings
from explorer.ui.shell.family import drawings_of, glyph_rules
from explorer.ui.shell.input_bar import IN_THE_ROW
from explorer.ui.shell.tabs import TABS, Tab, group_rules, question_of, width_rules
from explorer.views.markup import Markup, el, join
from explorer.views.theme import colour_rules

HOST = "explorer-first"
"""Name of the element, as in ``assets/js/early.js`` and ``assets/css/first.css``."""
SHEETS_OF = {"layer": ("attention", "parameters"), "depth": ("attention",)}
"""Style sheets besides the page's and the tab's own that a tab's picture needs."""
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_COMMENT = re.compile(r"/\*.*?\*/", re.S)
_DARK = re.compile(r"\.dark\b ?")
_PRESSED = re.compile(r"\bbutton\.([\w-]+)\.\1")
"""Selector of a pressed button, which here is a plain element."""
_BUTTON = re.compile(r"\bbutton\b")
_KIND = re.compile(r'class="canvas" data-kind="([a-z]+/[a-z]+)"')
KEPT_PARAMS = ("embed", "__theme")
"""Parameters of the address that are no field of the link and that every link of the page keeps."""
THEMES = ("light", "dark")
WITHOUT_SCRIPT = (
    ".needs-script{display:none!important}"
    "#masthead .badge-chip.badge-chip::after{content:none}"
    ".panel .finding.finding.finding:not(:last-child){margin-bottom:10px}"
    # No script scrolls the row to the tab that is chosen: all are in sight, on several lines.
    "@media(max-width:1100px){"
    "#tabs#tabs .tab-container{flex-wrap:wrap;padding-top:0}"
    "#tabs#tabs .tab-container a::before{content:none!important}"
    "#tabs#tabs#tabs .tab-container a{margin-inline:0 18px}"
    "}"
)
"""Style of the picture where it stays, which has no controls."""
MAX_WORDS = 400
"""Words of the text that are drawn, as in page/words.js."""


def first_html(state: PageState, params: Mapping[str, str], panel: Markup) -> Markup:
    """Return the element with everything in sight.

    Args:
        state: What the address names.
        params: The address's parameters.
        panel: The tab's finding and picture.
    """
    tab = next(tab for tab in TABS if state.tab == tab.ID)
    theme = params.get("__theme")
    content = el(
        "div",
        el(
            "div",
            el("div", *_parts(state, params, tab, panel), class_="column"),
            class_="main contain",
        ),
        class_="gradio-container prose",
        **{f"data_column_{key}": size for key, size in sizes_of(state.family).items()},
    )
    style = Markup(f"<style>{style_of(tab.ID)}{_drawings(state)}</style>")
    without = el("noscript", Markup(f"<style>{WITHOUT_SCRIPT}</style>"))
    host = el(
        HOST,
        el("template", style, without, content, shadowrootmode="closed"),
        data_theme=theme if theme in THEMES else None,
        data_tab=tab.ID,
    )
    kinds = (f"{kind}.js" for kind in _KIND.findall(panel))
    wanted = (address(f"{PACKS}{path}") for path in kinds if path in later())
    return join(preloads(wanted), host)


def _drawings(state: PageState) -> Markup | str:
    """Return the rules of the models' drawings: of all sizes where a tab shows all of them."""
    if state.tab in ("parameters", "latency"):
        return glyph_rules()
    return drawings_of(family_specs(state.family))


def _parts(
    state: PageState, params: Mapping[str, str], tab: Tab, panel: Markup
) -> tuple[Markup, ...]:
    body = el(
        "div",
        el("h2", question_of(tab), class_="question"),
        el("div", panel, class_="column"),
        id=f"tab-{tab.ID}",
        role="tabpanel",
        class_="panel",
    )
    if params.get("embed") == "1":
        return (el("div", body, id="tabs"),)
    return (
        _masthead(state),
        _box(state, params),
        el("div", _tabs(state, params, tab), body, id="tabs"),
        _needs_script(),
    )


def _masthead(state: PageState) -> Markup:
    badge = strings.BADGES.get(state.family, "")
    tagline = strings.TAGLINE_OWN if context().columns else strings.TAGLINE
    return el(
        "div",
        el(
            "header",
            el("h1", strings.TITLE),
            el("p", tagline),
            el("span", badge, class_="chip badge-chip") if badge else None,
            el("span", strings.TOUR["name"], class_="chip needs-script"),
            el("span", "◐", class_="chip needs-script", aria_hidden="true"),
        ),
        id="masthead",
        class_="shell",
    )


def _box(state: PageState, params: Mapping[str, str]) -> Markup:
    """Return the box, which asks the server by itself where no script runs, and the examples."""
    area = el(
        "textarea",
        state.text,
        name="text",
        class_="first-text",
        aria_label=strings.TEXT_LABEL,
        rows=1,
    )
    link = to_link(replace(state, text=PageState().text, hidden="", fold="")) or {}
    kept = {k: v for k, v in (link | _kept(params)).items() if k not in ("text", "tab", "hidden")}
    fields = [el("input", type="hidden", name=name, value=value) for name, value in kept.items()]
    tab = el("input", type="hidden", name="tab", value=state.tab)
    pencil = el("span", "✎", class_="pencil needs-script")
    words = el("div", el("div", _strip(state), class_="stack"), pencil, class_="sentence")
    return el(
        "form",
        *fields,
        tab if state.tab != PageState().tab else None,
        el(
            "div",
            el("div", el("div", area, id="text"), class_="form"),
            el("div", words, id="words", aria_hidden="true"),
            el("button", strings.COMPARE, id="compare"),
            id="text-row",
        ),
        _examples(state, params),
        id="input-bar",
        class_="shell",
        action="./",
    )


def _pieces(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield the start and end of each word, and of each choice, which is told by the last value."""
    end = 0
    for choice in (*find_choices(text), None):
        stop = choice.start if choice else len(text)
        for word in words_between(text, end, stop):
            yield word.start, word.end, False
        if choice:
            end = choice.end
            yield choice.start, choice.end, True


def _strip(state: PageState) -> Markup:
    """Return the text as it stands in the box at rest: masks marked, words underlined."""
    parts: list[Markup | str] = []
    hidden, before, masks = hidden_words(state), 0, 0
    for start, end, is_choice in [*_pieces(state.text)][:MAX_WORDS]:
        piece = state.text[start:end]
        parts.append(state.text[before:start])
        before = end
        if piece == MASK or is_choice:
            word = hidden[masks] if piece == MASK and masks < len(hidden) else ""
            parts.append(el("span", f"[{word}]" if word else piece, class_="word masked"))
            masks += 1
        elif piece == SEPARATOR:
            parts.append(el("span", "⟂", class_="sep"))
        else:
            parts.append(
                el("span", piece, class_="word" if any(map(str.isalnum, piece)) else "mark")
            )
    return el("div", *parts, class_="strip", dir="auto", translate="no")


def _examples(state: PageState, params: Mapping[str, str]) -> Markup:
    chips = [
        el(
            "a",
            example["label"],
            class_="chip",
            title=example["shows"],
            href=_address(
                PageState(
                    text=example["text"],
                    family=state.family,
                    tab=example.get("tab") or state.tab,
                    fold=example.get("fold") or "",
                ),
                params,
            ),
        )
        for example in examples()[:IN_THE_ROW]
    ]
    lead = el("span", strings.EXAMPLES_LABEL, class_="lead")
    more = el("span", strings.MORE_EXAMPLES, class_="chip needs-script")
    add = el("span", strings.ADD_SENTENCE, class_="chip needs-script", id="add-sentence")
    return el("div", lead, el("div", *chips, class_="chips"), more, add, class_="tries")


def _tabs(state: PageState, params: Mapping[str, str], tab: Tab) -> Markup:
    """Return the row of tabs as links."""
    links = [
        el(
            "a",
            linked.LABEL,
            id=f"tab-{linked.ID}-button",
            data_tab_id=linked.ID,
            class_="selected" if linked is tab else None,
            aria_current="page" if linked is tab else None,
            href=_address(replace(state, tab=linked.ID, fold=""), params),
        )
        for linked in TABS
    ]
    row = el("nav", *links, class_="tab-container", aria_label=strings.TABS_LABEL)
    return el("div", row, class_="tab-wrapper shell")


def _kept(params: Mapping[str, str]) -> dict[str, str]:
    return {name: params[name] for name in KEPT_PARAMS if name in params}


def _address(state: PageState, params: Mapping[str, str]) -> str:
    return f"?{urlencode((to_link(state) or {}) | _kept(params))}"


def _needs_script() -> Markup:
    return el("noscript", el("p", strings.NEEDS_SCRIPT, class_="first-note shell"))


@cache
def style_of(tab: str) -> str:
    """Return the style sheets of the page and of one tab, as they are read in a shadow root."""
    own = [ASSETS / "css" / f"{name}.css" for name in (tab, *SHEETS_OF.get(tab, ()))]
    paths = [SHEET, ASSETS / "css" / "page.css", *(path for path in own if path.exists())]
    sheets = (path.read_text("utf-8") for path in paths)
    return in_shadow("".join((*sheets, colour_rules(), group_rules(), width_rules())))


def in_shadow(css: str) -> str:
    """Return a style sheet whose rules for the page hold inside a shadow root, in both themes.

    The page's root is its host; dark is what the host says, else what the system prefers.
    """
    css = re.sub(r"\s*\n\s*", "", _COMMENT.sub("", css))
    css = _PRESSED.sub(r".\1.\1", css.replace(":root", ":host").replace("> main", "> .main"))
    return _RULE.sub(_in_both, css)


def _in_both(rule: re.Match[str]) -> str:
    selectors, body = rule[1], rule[2]
    if ".tab-container" in selectors:  # here the tabs are links
        return f"{_BUTTON.sub(':is(button, a)', selectors)}{{{body}}}"
    if not _DARK.search(selectors):
        return rule[0]
    plain = [_DARK.sub("", selector).strip() for selector in selectors.split(",")]
    chosen, preferred = (
        ",".join(f"{host} {selector}".strip() for selector in plain)
        for host in (":host([data-theme=dark])", ":host(:not([data-theme]))")
    )
    return f"{chosen}{{{body}}}@media(prefers-color-scheme:dark){{{preferred}{{{body}}}}}"
