"""Building the page imports nothing heavy, and only deliberate endpoints are public."""

import subprocess
import sys

import gradio as gr
import pytest

from explorer.assets import examples
from explorer.links.tabs import FOLDS

HEAVY = ("torch", "transformers", "plotly", "scipy", "bertviz")


@pytest.mark.processes
def test_building_the_page_imports_no_heavy_library_and_writes_no_stubs():
    code = (
        "import sys, app; from explorer.ui.shell.page import launch_options; launch_options();"
        "from gradio.component_meta import create_or_modify_pyi;"
        "create_or_modify_pyi(str, 'a class without a source', []);"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr


def test_only_the_named_endpoints_are_public(page):
    from explorer.ui.shell.api import ENDPOINTS

    named = page.get_api_info()["named_endpoints"]
    assert set(named) == {f"/{name}" for name in ENDPOINTS}


def test_every_fold_that_a_link_can_open_is_built_in_reading_order_and_no_other(page):
    blocks = page.blocks.values()
    built = [b.elem_id for b in blocks if isinstance(b, gr.Accordion) and "fold" in b.elem_classes]
    assert built == [f"fold-{tab}-{name}" for tab, names in FOLDS.items() for name in names]


def test_an_example_says_what_it_shows_and_opens_a_fold_that_there_is():
    assert all(example["shows"].endswith((".", "?")) for example in examples())
    about = {e["label"]: (e["tab"], e["fold"]) for e in examples() if "fold" in e}
    assert all(fold in FOLDS[tab] for tab, fold in about.values())
    assert about["He or she"] == ("predictions", "ask")
    assert about["Two masks"] == ("predictions", "joint")
