"""A page that was started with columns by names of its own."""

import re

import gradio as gr
import pytest

from explorer.context import context
from explorer.links.page_state import PageState
from explorer.serving.launch import opened_on
from explorer.serving.start import parse_flags
from explorer.ui.shell.family import (
    build_columns,
    column_choices,
    family_html,
    glyph_rules,
    what_is,
)
from explorer.ui.shell.page import header_html
from explorer.ui.shell.tabs import TABS, question_of
from explorer.ui.shell.view import view_config
from explorer.views.theme import COLOURS, colour_of, colour_rules
from tests.markup import every, plain
from tests.tiny_models import make_bert, save


@pytest.fixture
def started(own_models, tmp_path):
    """Start a page with two checkpoints, one in a column called as a colour of the page is."""
    for name in ("first", "second"):
        save(*make_bert(2, 4, 48), tmp_path / name)
    pairs = (f"before={tmp_path / 'first'}", f"ink={tmp_path / 'second'}")
    return opened_on(parse_flags([part for pair in pairs for part in ("--model", pair)]))


def test_the_page_opens_exactly_the_columns_that_it_was_started_with(started):
    assert started.family == "only,before=first,ink=second"
    assert (started.model, context().columns) == ("before", ("before", "ink"))
    assert list(started.ask.specs) == ["before", "ink"]
    with gr.Blocks():
        assert list(build_columns(started)) == ["before", "ink"]
    config = view_config()
    assert config["own_columns"] == ["before", "ink"]
    assert {"bert", "before", "ink"} <= config["columns"].keys()
    assert set(config["columns"]["ink"]) >= {"first", "second", "mini-bert", "albert-base-v2"}


def test_a_name_that_is_none_and_a_fifth_column_are_refused(capsys):
    for given in (["--model", "A=mini-bert"], [f"--model={c}=mini-bert" for c in "abcde"]):
        with pytest.raises(SystemExit):
            parse_flags(given)
    said = capsys.readouterr().err
    assert "the name of an architecture (bert, distilbert, albert, roberta)" in said
    assert "one to 4 columns" in said


def test_a_bundled_model_needs_no_folder_and_one_may_be_there_twice(own_models):
    state = opened_on(parse_flags(["--model", "a=mini-bert", "--model", "b=mini-bert"]))
    assert state.family == "only,a=mini-bert,b=mini-bert"
    assert [spec.label for spec in state.ask.specs.values()] == ["a", "b"]


def test_columns_take_colours_by_their_place_and_leave_the_pages_own_alone(started):
    assert [colour_of(key) for key in ("before", "ink")] == list(COLOURS.values())[:2]
    rules = colour_rules()
    assert f"--column-ink:{colour_of('ink').ink};" in rules
    assert '[data-model="ink"]{--model:var(--column-ink);' in rules
    assert not re.search(r"[{;]--ink:", rules)


def test_each_drawing_is_written_once_however_many_columns_can_hold_its_model(started):
    drawings = re.findall(r"--layers:url\([^)]*\)", glyph_rules())
    with_columns = len(drawings)
    assert '[data-column-ink="first"] [data-model="ink"]' in glyph_rules()
    assert with_columns == 2 * len(view_config()["columns"]["ink"])


def test_each_name_says_which_model_it_holds(started):
    assert [what_is(spec) for spec in started.ask.specs.values()] == [
        "first: BERT, 2 layers",
        "second: BERT, 2 layers",
    ]
    assert '{--what:"second: BERT, 2 layers";}' in glyph_rules()
    said = plain(family_html(started))
    assert "second: BERT, 2 layers: 2 layers, each with its own weights." in said
    rows = every(family_html(started), cls="fm-row")
    in_sight = [row["data-model"] for row in rows if "hidden" not in row.attributes]
    assert in_sight == ["before", "ink"]


def test_no_sentence_of_the_page_names_three_models(started):
    said = [plain(family_html(started)), plain(header_html(started)), *map(question_of, TABS)]
    for text in said:
        assert "three" not in text
        assert "teacher" not in text
    assert "BERT, DistilBERT and ALBERT" not in said[1]


def test_any_column_can_be_closed():
    assert column_choices("bert", lambda _: True)[-1] == ("not shown", "-")
    with gr.Blocks():
        closed = build_columns(PageState(family="only,bert=mini,albert=mini"))
    assert [box.value for box in closed.values()] == ["mini", "-", "mini"]
