"""``app.py``: a page at module level, and honest words about where it can be reached."""

import gradio as gr
import pytest

import app
from explorer.page_state import PageState
from explorer.ui.shell.page import build_page, launch_options

LOCAL, PUBLIC = "http://127.0.0.1:7860/", "https://abc.gradio.live"


@pytest.fixture
def launched(monkeypatch):
    """What ``main`` asks of Gradio, which is not started."""
    asked = {"public": None}

    def launch(**options):
        asked.update(options)
        return None, LOCAL, asked["public"]

    monkeypatch.setattr(app, "warm_up", lambda start: None)
    monkeypatch.setattr(app.demo, "launch", launch)
    monkeypatch.setattr(app.demo, "block_thread", lambda: None)
    monkeypatch.delenv("GRADIO_SHARE", raising=False)
    return asked


def test_the_page_is_there_for_gradios_own_tools():
    assert isinstance(app.demo, gr.Blocks)


def test_without_share_one_line_says_where_the_page_is(launched, capsys):
    app.main()
    assert capsys.readouterr().out == f"The explorer is at {LOCAL}\n"
    assert launched["share"] is None


def test_share_is_left_to_the_environment_and_a_missing_link_is_said(launched, capsys, monkeypatch):
    monkeypatch.setenv("GRADIO_SHARE", "True")
    app.main()
    assert launched["share"] is None, "False would overrule GRADIO_SHARE"
    assert "There is no public link" in capsys.readouterr().out


def test_a_public_link_warns_of_what_it_lets_others_do(launched, capsys, monkeypatch):
    launched["public"] = PUBLIC
    monkeypatch.setattr(app.flags, "share", True)
    app.main()
    said = capsys.readouterr().out
    assert launched["share"] is True
    assert PUBLIC in said
    assert "can run measurements and training" in said
    assert "no public link" not in said


def test_a_start_that_is_too_busy_to_answer_itself_goes_on(monkeypatch):
    from gradio import networking

    monkeypatch.setattr(networking, "url_ok", lambda url: False)
    page = build_page(PageState())
    try:
        _, local, _ = page.launch(prevent_thread_lock=True, **launch_options())
        assert local.startswith("http://127.0.0.1")
    finally:
        page.close()
