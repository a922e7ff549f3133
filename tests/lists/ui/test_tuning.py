"""The button that fine-tunes on a list: who may press it, what it draws, and where models go."""

import json
import re

import gradio as gr
import pytest

from explorer.context import configure, context
from explorer.links.page_state import PageState
from explorer.lists import apart, child
from explorer.lists.read import read_table
from explorer.lists.rows import text_list
from explorer.lists.ui import strings, tab, tuning
from explorer.lists.ui.tab import draw_list
from explorer.refusal import Refusal
from explorer.scheduling.job_queue import JobUpdate
from explorer.serving import launch
from explorer.serving.start import TUNED_FOLDER, parse_flags
from explorer.ui.kit.jobs import Progress
from tests.lists.test_batches import csv_of
from tests.lists.ui.test_tab import LABELLED, asked

STATE = PageState()
LISTED = csv_of(LABELLED, "text,label")


@pytest.fixture(autouse=True)
def local(tmp_path):
    configure(tuned_folder=str(tmp_path / "tuned"), is_local=True)


def said(drawn):
    return re.sub("<[^>]+>", " ", str(drawn[0]))


def refused(sent, method="full"):
    (drawn,) = tuning.ask(sent, STATE, method)
    return said(drawn)


def test_a_list_that_cannot_be_trained_on_is_refused_in_its_place(tiny_family):
    assert "needs rows with one label each" in refused(asked("One.\nTwo.", name="list.txt"))
    assert "at least 40 rows" in refused(asked(csv_of(LABELLED[:6], "text,label"), kind="labelled"))
    many = csv_of(
        [(f"{text} {i}", label) for i in range(12) for text, label in LABELLED], "text,label"
    )
    assert "528 rows are too many to fine-tune on a page, which takes at most 500" in refused(
        asked(many)
    )
    assert "one of: full, lora" in refused(asked(LISTED), "other")


def test_only_this_machine_may_train_unless_the_start_allows_all(tiny_family, monkeypatch):
    for address, may in (
        ("", True),
        ("127.0.0.1", True),
        ("::/64", True),
        ("203.0.113.9", False),
        ("x", False),
    ):
        monkeypatch.setattr(tuning, "address_of_asker", lambda address=address: address)
        drawn = list(tuning.ask(asked(LISTED), STATE, "full"))
        assert bool(drawn) != may, address
    configure(tunes_for_all=True)
    assert list(tuning.ask(asked(LISTED), STATE, "full")) == []


@pytest.mark.parametrize(
    ("headers", "may"),
    [
        ({"host": "127.0.0.1:7860"}, True),
        ({"host": "[::1]:7860"}, True),
        ({"host": "localhost"}, True),
        ({}, True),
        ({"host": "models.example.org"}, False),
        ({"host": "models.example.org:8080"}, False),
        ({"host": "127.0.0.1:7860", "x-forwarded-for": "127.0.0.1"}, False),
        ({"host": "127.0.0.1:7860", "via": "1.1 proxy"}, False),
        ({"host": "127.0.0.1:7860", "forwarded": "for=127.0.0.1"}, False),
    ],
)
def test_nobody_behind_a_proxy_may_train_without_the_start_s_leave(
    tiny_family, monkeypatch, headers, may
):
    from starlette.requests import Request

    scope = {
        "type": "http",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 1234),
    }
    monkeypatch.setattr(
        "explorer.ui.kit.running.LocalContext.request",
        type("", (), {"get": lambda _: Request(scope)}),
    )
    drawn = list(tuning.ask(asked(LISTED), STATE, "full"))
    assert bool(drawn) != may
    assert may or strings.TUNING_IS_OFF in said(drawn[0])


def question():
    return tuning.TuningAsked(text_list(read_table(LISTED)), STATE, "full")


class InThisProcess:
    """Stand-in for the process: it trains here, on the first steps."""

    def __init__(self, request, limit):
        self.request = request
        assert limit == 6e9

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def answers(self, cancel, is_timing):
        assert not is_timing()
        yield from child.trained(self.request, cancel)


@pytest.fixture
def trained(tiny_family, monkeypatch):
    """The steps of a training of the random family: one epoch at a rate that changes little."""
    monkeypatch.setattr(apart, "TuningProcess", InThisProcess)
    monkeypatch.setattr(child, "TELL_EVERY_S", 0.0)
    monkeypatch.setattr(tuning, "EPOCHS", 1)
    steps, shown = tuning.tune(question(), tab.CancelToken()), []
    while True:
        try:
            shown.append(next(steps).part)
        except StopIteration as end:
            return shown, end.value


@pytest.mark.long
def test_curves_time_and_memory_are_drawn_while_it_trains_and_scores_and_folders_at_the_end(
    trained, tmp_path
):
    shown, end = trained
    drawn = [
        tuning.draw(question(), JobUpdate(0, Progress(part=part), done=False)) for part in shown
    ]
    assert "the models are loaded" in said(drawn[0])
    assert "Frozen features" in said(drawn[1])
    assert drawn[1][1] == ""
    late = said(drawn[-1])
    assert "mini-ALBERT, training 15 of 15: step " in late
    assert re.search(r"mini-BERT\s+15 / 15\s+\d+\.\d s\s+[\d.]+\sMB", late)
    charts = json.loads(drawn[-1][1])
    assert len(charts["figures"]) == 2
    assert {row[0] for row in charts["numbers"]["rows"]} == {"bert", "distilbert", "albert"}
    whole = tuning.draw(question(), JobUpdate(0, None, done=True, result=end))
    text = said(whole)
    assert end.answer.result.scores.advice in text
    assert text.count("Fine-tuned mini-") >= 3
    (folder,) = (tmp_path / "tuned").iterdir()
    assert f"--model bert={folder}/bert" in text
    assert f"--family before=mini-bert,after={folder}/bert" in text
    assert (folder / "distilbert" / "model.safetensors").exists()
    configure(is_local=False)
    text = said(tuning.draw(question(), JobUpdate(0, None, done=True, result=end)))
    assert str(tmp_path) not in text
    assert f"in the folder {folder.name}" in text


def test_a_folder_that_cannot_be_made_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Refusal, match="cannot be written to"):
        tuning.new_folder(tmp_path / "file")
    assert tuning.new_folder(tmp_path / "new").name.startswith("tuned-")


def test_a_page_for_many_keeps_the_last_models_and_a_reader_s_own_stay(tmp_path):
    for n in range(12):
        (tmp_path / f"tuned-{n}").mkdir()
    tuning.make_room(tmp_path)
    assert len([*tmp_path.glob("tuned-*")]) == 12
    configure(is_local=False)
    tuning.make_room(tmp_path)
    assert len([*tmp_path.glob("tuned-*")]) == tuning.KEPT - 1


def test_the_button_is_shown_below_labelled_rows_alone(tiny_family, little_training):
    from explorer.lists.library import answered

    def mark(content):
        table = read_table(content)
        result = answered(table, "mini", ("", {}, tab.TextsOptions()), tab.CancelToken()).answers
        listed = tab.ListQuestion(result.texts, tab.TextsOptions(), STATE)
        answer = tab.ListAnswer(tab.run.Progress(1, 1), 0.0, result)
        drawn = draw_list(listed, JobUpdate(0, None, done=True, result=answer))
        return "tx-tunable" in str(drawn[0])

    assert mark(LISTED)
    assert not mark("the cat sat.\nhe is good.")


@pytest.mark.parametrize(
    ("flags", "environment", "folder", "for_all"),
    [
        ([], {}, TUNED_FOLDER, False),
        (["--host", "127.0.0.1"], {}, TUNED_FOLDER, False),
        (["--host", "0.0.0.0"], {}, "", False),
        (["--share"], {}, "", False),
        (["--public-url", "https://example.org"], {}, "", False),
        ([], {"SPACE_ID": "someone/explorer"}, "", False),
        ([], {"GRADIO_SERVER_NAME": "0.0.0.0"}, "", False),
        (["--host", "0.0.0.0", "--finetune"], {}, TUNED_FOLDER, True),
        (["--share", "--finetune", "./models"], {}, "./models", True),
    ],
)
def test_a_page_for_many_visitors_trains_only_where_its_start_says_so(
    tiny_family, monkeypatch, flags, environment, folder, for_all
):
    for name in ("SPACE_ID", "GRADIO_SERVER_NAME", "GRADIO_SHARE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(launch, "build_page", lambda *_: None)
    monkeypatch.setattr(launch, "check_machine", lambda: None)
    launch.build(parse_flags(["--family", "mini", *flags]))
    assert (context().tuned_folder, context().tunes_for_all) == (folder, for_all)
    assert context().is_local == (folder == TUNED_FOLDER and not for_all)


def test_the_page_has_the_button_only_where_models_are_trained():
    def ids():
        with gr.Blocks() as page:
            tab.build(gr.State())
        return {block.elem_id for block in page.blocks.values()}

    assert "texts-tuning" in ids()
    configure(tuned_folder="")
    assert "texts-tuning" not in ids()
