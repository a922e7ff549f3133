"""Your texts tab: a list of texts through all models, row by row, and what it says as a whole."""

import base64
import binascii
import time
import zlib
from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypedDict

import gradio as gr

from explorer import assets, limits
from explorer.analysis.digits import counted
from explorer.analysis.precision import ListPrecision
from explorer.context import context
from explorer.inference.runs import Runs
from explorer.links.codec import LIST_LIMIT
from explorer.links.page_state import PageState
from explorer.lists import run
from explorer.lists.cut import WAYS
from explorer.lists.read import MAX_BYTES, decoded, read_table
from explorer.lists.results import POOLINGS, LabelledList, ListResult, TextsOptions
from explorer.lists.roles import BadRows, RawTable, kind_of, recognised
from explorer.lists.rows import JUDGED, KINDS, TextList, left_out_said, text_list
from explorer.lists.rule import PRECISIONS, FastReport
from explorer.lists.run import TextsQuestion, judgeable, label_names_of
from explorer.lists.sentences import SCORES
from explorer.lists.ui import strings, tuning
from explorer.lists.views.strings import read_as
from explorer.models.choice.family import family_specs, specs_by_key
from explorer.refusal import Refusal
from explorer.scheduling.cancel import Cancelled, CancelToken
from explorer.scheduling.job_queue import JobQueue, JobUpdate
from explorer.ui.kit import strings as kit
from explorer.ui.kit.canvas import Canvas, Chart, ran_with, read_question
from explorer.ui.kit.folds import asks
from explorer.ui.kit.jobs import Job, Progress, Steps, job_buttons, shown
from explorer.ui.kit.validation import refuse_bad_input
from explorer.views.markup import Markup, el, finding, join, note, refusal_message, script_json

ID = "texts"
LABEL = strings.LABEL
QUESTION = strings.QUESTION
READS: tuple[str, ...] = ("family", "device", "dtype", "labels")
LONGEST_NAME = 255
"""Characters of a file's name that are read, its last ones."""
ROWS_SO_FAR = 50
"""Rows that are shown while others are still computed."""
SHOW_EVERY_S = 1.0
"""Seconds between two tables of the rows so far."""
ROLES: Mapping[str, tuple[str, ...]] = {
    "masked": ("text", "answer", "group"),
    "plain": ("text", "group"),
    "pairs": ("good", "bad", "group"),
    "labelled": ("text", "second", "label", "group"),
    "multilabel": ("text", "second", "label", "group"),
    "scored": ("text", "second", "score", "group"),
    "tagged": ("tokens", "tags", "group"),
}
"""Columns of each kind that a reader may choose."""


def build(state: gr.State) -> list[gr.components.Component]:
    """Build the form in the input bar, the summary, the table and the charts.

    Only the form is the page's to draw: a view that is drawn anew leaves the answer as it stands.
    """
    with asks(ID) as column:
        form = Canvas("texts/ask", asks=read_list, saves=False)
    stop = gr.Button(strings.STOP, size="sm", visible=False, elem_id="texts-stop")
    outputs = [gr.HTML(empty_html()), Canvas("texts/rows"), Chart("texts/charts")]
    job_buttons(
        {form.select: LIST},
        [form, state],
        outputs,
        stop,
        js="(_, state) => [window.explorer.question('texts/ask'), state]",
    )
    if context().tuned_folder:
        tuning.build(form, state)
    return [column, form]


class ListFormData(TypedDict):
    """Form of a list: the choices of each of its menus, and its limits."""

    asks: list[str]
    lists: list[dict[str, str]]
    kinds: Mapping[str, str]
    roles: Mapping[str, str]
    poolings: Mapping[str, str]
    scores: Mapping[str, str]
    ways: Mapping[str, str]
    precisions: Mapping[str, str]
    last: int
    limit: int
    most: int
    texts: Mapping[str, str]


def show(state: PageState, _: Runs) -> list[object]:
    """Return the form with the lists to try; no model runs."""
    lists = [{name: each[name] for name in ("name", "title")} for each in assets.text_lists()]
    last = min(spec.architecture.n_layers for spec in family_specs(state.family))
    form: ListFormData = {
        "asks": [state.family, state.device, state.dtype, state.labels],
        "lists": lists,
        "kinds": strings.KIND_NAMES,
        "roles": strings.ROLES,
        "poolings": strings.POOLINGS,
        "scores": strings.SCORES,
        "ways": strings.WAYS,
        "precisions": strings.PRECISIONS,
        "last": last,
        "limit": limits.BODY.maximum,
        "most": LIST_LIMIT,
        "texts": strings.ASK,
    }
    return [gr.Column(visible=True), script_json(form)]


def empty_html() -> Markup:
    """Return what the tab is for: a card for each kind of list."""
    cards = [
        el(
            "section",
            el("h3", name),
            el("p", comes_out),
            el("p", goes_in, class_="note"),
            class_="card",
        )
        for name, goes_in, comes_out in strings.kinds().values()
    ]
    return join(finding(strings.FINDING), el("div", *cards, class_="columns"), note(strings.LIMITS))


def first(_state: PageState, _values: list[Any]) -> list[Markup]:
    """Return what the tab is for: a list comes only from the page itself."""
    return [empty_html()]


@dataclass(frozen=True, slots=True, eq=False)
class ListQuestion:
    """A list, and which models are asked how."""

    texts: TextList
    options: TextsOptions
    state: PageState


@dataclass(frozen=True, slots=True, eq=False)
class ListAnswer:
    """Answer to a list so far."""

    progress: run.Progress
    seconds: float = 0.0
    result: ListResult | None = None
    """Result of the rows that are done; None before there is one."""
    missing: Mapping[str, Refusal] | None = None
    precision: ListPrecision | None = None
    fast: FastReport | None = None
    refused: str = ""
    """The sentence why the list cannot be answered; empty if it can."""


def asked_list(
    sent: str | Mapping[str, Any], state: PageState | None
) -> Generator[list[Any], None, ListQuestion | None]:
    """Return the question that the form asks; if it cannot be read, draw why."""
    question = read_question(str(sent))
    try:
        with refuse_bad_input():
            options = TextsOptions(
                str(question.get("pooling") or POOLINGS[0]),
                int(question.get("layer", -1)),
                str(question.get("score") or SCORES[0]),
                str(question.get("too_long") or WAYS[0]),
                str(question.get("precision") or PRECISIONS[0]),
            )
        return ListQuestion(list_in(question), options, state or PageState())
    except Refusal as refusal:
        yield [refused_html(str(refusal)), "", ""]
        return None


def run_list(listed: ListQuestion, cancel: CancelToken) -> Steps:
    """Run a list part by part; a list that is stopped has the rows that were done."""
    begun, drawn = time.monotonic(), 0.0
    progress = run.Progress(0, len(listed.texts.rows))
    yield Progress(part=ListAnswer(progress))
    try:
        question = TextsQuestion(listed.texts, listed.state.ask, listed.options, cancel)
        is_labelled = listed.texts.kind in JUDGED
        result: ListResult | None = None
        begun = time.monotonic()
        try:
            for progress in question.run(cancel):
                seconds = time.monotonic() - begun
                if progress.done and not is_labelled and seconds - drawn > SHOW_EVERY_S:
                    result, drawn = question.result(), seconds
                answer = ListAnswer(progress, seconds, result, question.ready.missing)
                yield Progress(part=replace(answer, fast=question.fast))
        except Cancelled:
            if is_labelled or not progress.done:
                return ListAnswer(progress, missing=question.ready.missing)
        seconds, missing = time.monotonic() - begun, question.ready.missing
        half, fast = question.precision, question.fast
        return ListAnswer(progress, seconds, question.result(), missing, half, fast)
    except Refusal as refusal:
        return ListAnswer(progress, refused=str(refusal))


def draw_list(listed: ListQuestion, update: JobUpdate) -> list[Any]:
    """Return the summary, the table of rows and the charts, as far as the list is done."""
    from explorer.lists.views.charts import list_charts
    from explorer.lists.views.fast import fast_marks
    from explorer.lists.views.rows import rows_canvas
    from explorer.lists.views.summary import summary_html

    answer: ListAnswer = shown(update) or ListAnswer(run.Progress(0, len(listed.texts.rows)))
    if answer.refused:
        return [refused_html(answer.refused), "", ""]
    line = progress_html(update, answer, listed.texts.kind)
    if answer.result is None:
        return [line, "", ""]
    header = header_of(listed, answer.result)
    specs, reasons = specs_by_key(listed.state.family), answer.missing or {}
    missing = {key: (specs[key].label, str(reason)) for key, reason in reasons.items()}
    half = (answer.precision or answer.fast) if update.done else None
    summary = summary_html(answer.result, missing, strings.SUMMARY, strings.NOTES, half)
    is_whole, marks = update.done, fast_marks(answer.result, answer.fast)
    # The button that fine-tunes is shown while there is such a mark.
    is_tunable = isinstance(answer.result, LabelledList) and not answer.result.untrained
    mark = el("span", class_="tx-tunable") if is_tunable else None
    return [
        join(line, summary, mark if is_whole else None),
        rows_canvas(answer.result, strings.TABLE, header, None if is_whole else ROWS_SO_FAR, marks),
        list_charts(answer.result, strings.CHARTS, header) if is_whole else "",
    ]


LIST = Job("run_list", JobQueue("texts", limits.LISTS.maximum), asked_list, run_list, draw_list)


def header_of(question: ListQuestion, result: ListResult) -> dict[str, Any]:
    """Return what a saved file says of a list: how it was read, and by which models."""
    state = {"kind": result.texts.kind, "rows": len(result.texts.rows)}
    if result.texts.kind in JUDGED:
        state |= {"pooling": question.options.pooling, "layer": question.options.layer}
        state |= {"too_long": result.texts.way} if result.texts.way else {}
    if result.texts.kind == "pairs":
        state |= {"score": question.options.score}
    if question.options.precision != PRECISIONS[0] and result.texts.kind not in JUDGED:
        state |= {"precision": strings.SAVED_FAST}
    # The page may show other models by the time that a file is saved.
    return ran_with(question.state) | {"models": True, "state": state}


def refused_html(sentence: str) -> Markup:
    """Return the sentence why a list is not answered, below what the tab is for."""
    return join(refusal_message(sentence), empty_html())


def progress_html(update: JobUpdate, answer: ListAnswer, kind: str) -> Markup | None:
    """Return how far the list is, with a bar; after a stop, what was done; None at the end."""
    done, total = answer.progress.done, answer.progress.total
    counts = {"done": f"{done:,}", "total": counted(total, "row")}
    if update.position:
        return note(kit.PLACE.format(n=update.position))
    if update.done:
        early = strings.SCORES_NEED_ALL if kind in JUDGED else strings.STOPPED_EARLY
        sentence = strings.STOPPED if answer.result else early
        return note(sentence.format(**counts)) if update.stopped else None
    trained, steps = answer.progress.trained
    if steps:
        sentence, share = strings.TRAINING.format(done=trained, total=steps), trained / steps
    else:
        sentence = strings.progress_said(done, total, answer.seconds)
        share = done / total if total else 0
    bar = el("progress", max="1", value=f"{share:.4f}", aria_hidden="true")
    return el("div", bar, el("p", sentence, role="status"), class_="tx-progress")


def read_list(question: dict[str, Any]) -> str:
    """Return how a list is read, or the sentence why it is not, as JSON.

    A bundled list, or a file, comes back as text for the box.
    """
    source: dict[str, Any] = {}
    try:
        if "list" in question:
            source = {"text": bundled(question["list"])}
            table = read_table(source["text"], "list.csv")
        else:
            table = table_in(question)
            source = (
                {"text": decoded(unpacked(question)[:MAX_BYTES])} if question.get("file") else {}
            )
        return script_json(source | _described(table, question))
    except Refusal as refusal:
        return script_json(source | {"error": str(refusal)})


def list_in(question: Mapping[str, Any]) -> TextList:
    """Return the list of a question, its kind and its columns as they were chosen.

    Raises:
        Refusal: it cannot be read.
    """
    with refuse_bad_input():
        kind, columns = str(question.get("kind") or ""), dict(question.get("columns") or {})
    return text_list(
        table_in(question), kind, {str(role): str(name) for role, name in columns.items()}
    )


def table_in(question: Mapping[str, Any]) -> RawTable:
    """Return the cells of the list in a question.

    Raises:
        Refusal: it is empty, or no text.
    """
    content, name = unpacked(question), str(question.get("name") or "")[-LONGEST_NAME:]
    is_file = bool(name or question.get("file"))
    return read_table(content if is_file else content.decode("utf-8", "ignore"), name)


def unpacked(question: Mapping[str, Any]) -> bytes:
    """Return the bytes of a list, of more than the limit one byte more.

    Raises:
        Refusal: they are not what the page sends.
    """
    with refuse_bad_input():
        packed = str(question["packed"])
    try:
        inflate = zlib.decompressobj(-zlib.MAX_WBITS)
        return inflate.decompress(base64.b64decode(packed, validate=True), MAX_BYTES + 1)
    except (ValueError, binascii.Error, zlib.error) as error:
        raise Refusal(kit.NOT_OFFERED) from error


def bundled(name: object) -> str:
    """Return the content of a bundled list.

    Raises:
        Refusal: there is none of that name.
    """
    content = next((each["content"] for each in assets.text_lists() if each["name"] == name), None)
    if content is None:
        raise Refusal(kit.NOT_OFFERED)
    return content


def _described(table: RawTable, question: Mapping[str, Any]) -> dict[str, Any]:
    """Return the kind, the columns of its roles and what is not read; or why nothing is."""
    described: dict[str, Any] = {"names": list(table.names), "kinds": list(KINDS)}
    with refuse_bad_input():
        kind, sent = str(question.get("kind") or ""), dict(question.get("columns") or {})
    columns = {str(role): str(name or "") for role, name in sent.items()}
    heads_alone = ""
    try:
        texts = text_list(table, kind, columns)
        try:
            texts = judgeable(texts)
        except BadRows as refusal:
            if not _has_heads(texts, question):
                raise
            heads_alone = strings.HEADS_ALONE.format(why=refusal)
    except Refusal as refusal:
        known = recognised(table) | columns
        kind = kind or kind_of(table, {role: name for role, name in known.items() if name})
        roles = ROLES.get(kind, ("text",))
        chosen = {role: known.get(role, "") for role in roles}
        return described | {"error": str(refusal), "kind": kind, "columns": chosen}
    chosen = {role: texts.columns.get(role, "") for role in ROLES[texts.kind]}
    return described | {
        "said": read_as(texts),
        "left_out": heads_alone or left_out_said(texts.left_out),
        "kind": texts.kind,
        "columns": chosen,
        "n_rows": len(texts.rows),
    }


def _has_heads(texts: TextList, question: Mapping[str, Any]) -> bool:
    """Return whether the own head of a model on the page can be scored on rows with labels."""
    from explorer.lists.head_questions import has_head_for

    if texts.kind != "labelled":
        return False
    with refuse_bad_input():
        family, labels = (str(question.get(name) or "") for name in ("family", "names"))
    state = PageState(family=family or PageState().family, labels=labels)
    return has_head_for(state.ask.specs.values(), label_names_of(texts))
