"""The tab for lists of texts: what the form sends, what is drawn meanwhile, stopped and refused."""

import base64
import gc
import json
import re
import zlib

import pytest

from explorer import assets
from explorer.links.page_state import PageState
from explorer.lists import batches
from explorer.lists.library import answered, table_of
from explorer.lists.results import MaskedList
from explorer.lists.roles import LeftOut
from explorer.lists.run import Progress, TextsQuestion
from explorer.lists.ui import strings, tab
from explorer.lists.ui.tab import read_list
from explorer.lists.views.summary import left_out_html
from explorer.scheduling.job_queue import JobUpdate
from explorer.serving.start import parse_flags
from explorer.ui.kit.jobs import handler
from explorer.ui.shell.tabs import values_of
from tests.lists.test_batches import csv_of
from tests.waiting import until

STATE = PageState()
MASKED = [("the [MASK] sat.", "cat", "x"), ("he is [MASK].", "unbelievable", "y")]
LABELLED = [(f"the {'cat' if i % 2 else 'dog'} sat {i % 3}.", "ab"[i % 2]) for i in range(44)]


def packed(content):
    deflate = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    content = content.encode() if isinstance(content, str) else content
    return base64.b64encode(deflate.compress(content) + deflate.flush()).decode()


def asked(content, **how):
    """A question as the browser sends it."""
    return json.dumps({"packed": packed(content), "name": "list.csv", **how})


def drawn(content, **how):
    """Everything that is drawn of a list, as (summary, rows, charts, whether it runs)."""
    return [
        (str(summary), json.loads(rows or "{}"), json.loads(charts or "{}"), stop.visible)
        for summary, rows, charts, stop in handler(tab.LIST)(asked(content, **how), STATE)
    ]


@pytest.mark.long
def test_nothing_of_a_list_is_held_once_it_is_answered(tiny_family):
    """Its rows, scores and arrays are free memory again, whatever the page still shows."""
    assert drawn(csv_of(MASKED, "text,answer,group"))[-1][1]["lines"]
    until(lambda: not len(tab.LIST.queue))
    gc.collect()
    held = (tab.ListQuestion, tab.ListAnswer, TextsQuestion, MaskedList)
    assert [type(each).__name__ for each in gc.get_objects() if isinstance(each, held)] == []


def test_the_rows_are_those_of_the_library(tiny_family):
    content = csv_of(MASKED, "text,answer,group")
    *_, (summary, rows, charts, runs) = drawn(content)
    same = answered(
        table_of([dict(zip(("text", "answer", "group"), row, strict=True)) for row in MASKED]),
        "mini",
        ("", {}, tab.TextsOptions()),
        tab.CancelToken(),
    )
    table = [
        (line["n"], key, *line["lead"], *cells)
        for line in sorted(rows["lines"], key=lambda line: line["n"])
        for key, cells in zip(rows["names"], line["cells"], strict=True)
    ]
    assert table == same.rows()
    ran = {"family": "mini", "device": "cpu", "dtype": "float32"}
    assert rows["said"] == {**ran, "models": True, "state": rows["said"]["state"]}
    assert not runs
    assert charts["numbers"]["rows"]
    assert "Of 2 rows" in re.sub("<[^>]+>", "", summary)


def test_rows_appear_while_others_are_computed_and_a_bar_says_how_many(tiny_family, monkeypatch):
    monkeypatch.setattr(batches, "BLOCK_ROWS", 1)
    monkeypatch.setattr(tab, "SHOW_EVERY_S", 0.0)
    steps = tab.run_list(question(csv_of(MASKED, "text,answer,group")), tab.CancelToken())
    shown = [tab.draw_list(question(""), JobUpdate(0, step, done=False)) for step in steps]
    n_rows = [json.loads(rows)["total"] if rows else 0 for _, rows, _ in shown]
    assert n_rows == sorted(n_rows)
    assert 1 in n_rows
    assert all("<progress" in str(summary) for summary, *_ in shown)


def question(content, **how):
    from explorer.lists.read import read_table
    from explorer.lists.rows import text_list

    content = content or csv_of(MASKED, "text,answer,group")
    return tab.ListQuestion(text_list(read_table(content)), tab.TextsOptions(**how), STATE)


OF_EACH_KIND = {
    "masked": "",
    "plain": "the cat sat.\nhe is good.",
    "pairs": "good,bad\nthe cat sat.,the cat sit.\nhe is good.,he is is.",
    "labelled": csv_of(LABELLED, "text,label"),
    "multilabel": csv_of(
        [(text, ("x|y", "x", "y")[i % 3]) for i, (text, _) in enumerate(LABELLED)], "text,labels"
    ),
    "scored": csv_of(
        [(text, "it sat.", f"{i / 2}") for i, (text, _) in enumerate(LABELLED)], "text,second,score"
    ),
}


@pytest.mark.parametrize("kind", OF_EACH_KIND)
def test_a_stop_keeps_the_rows_that_are_done(tiny_family, monkeypatch, kind):
    monkeypatch.setattr(batches, "BLOCK_ROWS", 1)
    monkeypatch.setattr(batches, "BLOCK_SENTENCES", 1)
    cancel, asked_ = tab.CancelToken(), question(OF_EACH_KIND[kind])
    steps = tab.run_list(asked_, cancel)
    while next(steps).part.progress.done < 1:
        pass
    cancel.stop()
    with pytest.raises(StopIteration) as end:
        next(steps)
    answer, n_rows = end.value.value, len(asked_.texts.rows)
    summary, rows, _ = tab.draw_list(asked_, JobUpdate(0, None, True, stopped=True, result=answer))
    assert f"Stopped after 1 of {n_rows} rows" in summary
    if kind in tab.JUDGED:  # its rows stay in the box; nothing is known of them yet
        assert not rows
    else:
        assert len(answer.result.texts.rows) == json.loads(rows)["total"] == 1


@pytest.mark.parametrize("kind", ["masked", "plain", "labelled"])
def test_a_stop_while_rows_are_tokenized_ends_it_within_one_part(tiny_family, monkeypatch, kind):
    from explorer.models import forward

    cancel, tokenized, n_models = tab.CancelToken(), [], 3

    def stopped_at_once(loaded, text, own=forward.tokenize):
        tokenized.append(text)
        cancel.stop()
        return own(loaded, text)

    monkeypatch.setattr(forward, "tokenize", stopped_at_once)
    monkeypatch.setattr(batches, "PART_ROWS", 4)
    asked_ = {
        "masked": csv_of(MASKED * 20, "text,answer,group"),
        "plain": "text\n" + "the cat sat.\n" * 40,
        "labelled": csv_of(LABELLED, "text,label"),
    }
    with pytest.raises(tab.Cancelled):
        list(tab.run_list(question(asked_[kind]), cancel))
    assert 0 < len(tokenized) <= 4 * n_models * (2 if kind == "masked" else 1)


def test_labelled_rows_show_their_training_and_what_a_stop_leaves(tiny_family, monkeypatch):
    from explorer.lists import labelled

    monkeypatch.setattr(labelled, "STRENGTHS", (0.01,))
    asked_ = question(csv_of(LABELLED, "text,label"), curves=False)
    cancel = tab.CancelToken()
    said = []
    steps = tab.run_list(asked_, cancel)
    for step in steps:
        said.append(str(tab.draw_list(asked_, JobUpdate(0, step, done=False))[0]))
        if "1 of 4 steps" in said[-1]:
            cancel.stop()
    assert "Classifiers: 0 of 4 steps" in "".join(said)
    stopped = tab.ListAnswer(step.part.progress)
    (summary, *rest) = tab.draw_list(asked_, JobUpdate(0, None, True, stopped=True, result=stopped))
    assert "Scores need all rows" in summary
    assert rest == ["", ""]


def test_a_row_that_was_not_reached_is_said_to_be_one(tiny_family):
    stopped = tab.ListAnswer(Progress(0, 1))
    (summary, *_) = tab.draw_list(
        question("the [MASK] sat."), JobUpdate(0, None, True, stopped=True, result=stopped)
    )
    assert "Stopped after 0 of 1 row: press Run again." in summary


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("text,label\nthe cat sat.,a\n" * 50, "there is nothing to tell apart"),
        ("", "the list is empty"),
        ("text\n" + "cat " * 600 + "\n", "No row can be read. Row 1: The text has 602 tokens"),
        ("\x89PNG\r\n", "holds no text"),
    ],
    ids=["one label", "empty", "600 tokens", "a picture"],
)
def test_a_list_that_cannot_be_answered_gets_its_sentence(tiny_family, content, words):
    content = content.replace("text,label\n", "", content.count("text,label\n") - 1)
    sent = content.encode("latin-1")
    *_, (summary, rows, charts, runs) = drawn(sent, kind="labelled" if "label" in content else "")
    assert words in summary
    assert 'role="alert"' in summary
    assert (rows, charts, runs) == ({}, {}, False)


def test_a_row_over_the_limit_is_named(tiny_family):
    lines = "text\n" + "the cat sat.\n" * 2_001
    said = json.loads(read_list(json.loads(asked(lines))))
    assert said["n_rows"] == 2_000
    assert "Row 2,001: It is over the limit of 2,000 rows." in said["left_out"]


def test_whatever_is_no_question_is_refused_in_a_sentence():
    for bad in ({}, {"packed": "%"}, {"packed": "AAAA"}, {"list": "no such list"}, {"packed": 3}):
        assert json.loads(read_list(bad))["error"]
    told = json.loads(read_list({"packed": packed("a,b\n1,2\n"), "columns": {"text": "nowhere"}}))
    assert "no column" in told["error"]


def test_too_few_labelled_rows_keep_how_they_are_read_and_can_be_read_as_sentences():
    few = {"packed": packed(csv_of(LABELLED[:12], "text,label")), "name": "list.csv"}
    said = json.loads(read_list(few))
    assert said["error"].endswith("40 are needed. Add rows, or read them as sentences.")
    assert (said["kind"], said["columns"]) == (
        "labelled",
        {"text": "text", "second": "", "label": "label", "group": ""},
    )
    assert "error" not in json.loads(read_list(few | {"kind": "plain"}))


def test_too_few_rows_are_run_where_a_head_on_the_page_knows_their_labels(headed):
    flags = parse_flags([f"--model=bert={headed('bert', ('ham', 'spam'))}"])
    rows = csv_of([(f"the cat sat {i}.", ("ham", "spam")[i % 2]) for i in range(5)], "text,label")
    few = {"packed": packed(rows), "name": "list.csv", "family": flags.family}
    said = json.loads(read_list(few))
    assert "error" not in said
    assert said["n_rows"] == 5
    assert said["left_out"].startswith("5 labelled rows; at least 40 are needed.")
    assert said["left_out"].endswith("Run then scores only the models' own heads.")
    assert "error" in json.loads(read_list(few | {"names": "bert=x,y"}))
    assert "error" in json.loads(read_list(few | {"family": "mini"}))


def test_a_file_and_a_bundled_list_come_back_as_text():
    file = {"packed": packed("text,label\nsaß,a\n".encode("utf-16")), "file": True, "name": "a.csv"}
    assert json.loads(read_list(file))["text"] == "text,label\nsaß,a\n"
    for each in assets.text_lists():
        said = json.loads(read_list({"list": each["name"]}))
        assert said["text"] == each["content"]
        assert said["kind"] == each["kind"]
        assert not said["left_out"]


def test_the_empty_tab_says_what_goes_in_and_what_comes_out():
    _, form = values_of(tab, STATE)
    summary = tab.empty_html()
    assert [name in summary for name in strings.KIND_NAMES.values()] == [True] * 7
    assert len(json.loads(form)["lists"]) == 6


def test_a_speed_is_a_plain_number():
    assert "1,250 rows a second" in strings.progress_said(1500, 2000, 1.2)
    assert "8.33 rows a second" in strings.progress_said(10, 20, 1.2)


def test_rows_that_one_reason_stands_for_are_not_counted_as_one():
    left_out = (LeftOut(2001, "It and all rows after it are over the limit."),)
    said = str(left_out_html(left_out, strings.SUMMARY))
    assert "<summary>Rows not read</summary>" in said
    assert "Row 2,001" in said


def test_tagged_rows_are_drawn_and_a_stop_keeps_those_that_are_done(tagger, monkeypatch):
    from explorer.lists.read import read_table
    from explorer.lists.rows import text_list
    from explorer.serving.start import parse_flags

    monkeypatch.setattr(batches, "BLOCK_ROWS", 1)
    monkeypatch.setattr("explorer.lists.tag_batches.BLOCK_ROWS", 1)
    names = ("O", "B-PER", "I-PER")
    flags = parse_flags([f"--model={kind}={tagger(kind, names)}" for kind in ("bert", "albert")])
    state = PageState(family=f"only,{flags.family}".replace("only,only", "only"))
    content = "the O\ncat B-PER\nsat I-PER\n. O\n\nit B-PER\nwas O\nhere O\n. O\n"
    texts = text_list(read_table(content))
    asked_ = tab.ListQuestion(texts, tab.TextsOptions(), state)
    steps = [step.part for step in tab.run_list(asked_, tab.CancelToken())]
    *_, last = tab.run_list(asked_, tab.CancelToken())
    cancel = tab.CancelToken()
    running = tab.run_list(asked_, cancel)
    while next(running).part.progress.done < 1:
        pass
    cancel.stop()
    with pytest.raises(StopIteration) as end:
        next(running)
    stopped = tab.draw_list(asked_, JobUpdate(0, None, True, stopped=True, result=end.value.value))
    assert json.loads(stopped[1])["total"] == 1
    assert "Stopped after 1 of 2 rows" in stopped[0]
    whole = TextsQuestion(texts, state.ask)
    list(whole.run(cancel := tab.CancelToken()))
    answer = tab.ListAnswer(last.part.progress, 1.0, whole.result(), {})
    summary, rows, charts = tab.draw_list(asked_, JobUpdate(0, None, True, result=answer))
    assert "Exact spans by the models" in summary
    assert strings.NOTES["tagged"].split("\n")[0].split(":")[0] in summary
    lines = json.loads(rows)["lines"]
    assert {line["lead"][0] for line in lines} == {"the cat sat .", "it was here ."}
    assert lines[0]["more"][0]["tab"] == "tasks"
    assert json.loads(charts)["numbers"]["rows"]
    assert steps[-1].progress.done == 2


def test_a_file_s_name_says_which_public_data_set_it_may_be():
    from explorer.lists.seen import recognised_as

    sent = {"packed": packed(csv_of(LABELLED, "text,label")), "name": "SST-2 dev.csv"}
    assert [known.label for known in recognised_as(tab.list_in(sent))] == ["SST-2"]
    unnamed = tab.list_in(sent | {"name": "list.csv"})
    assert recognised_as(unnamed) == ()
    long = tab.list_in(sent | {"name": "x" * 100_000 + ".csv"})
    assert len(long.source) == tab.LONGEST_NAME
