"""The opening example is what the bundled models say, and is shown for nothing else."""

import json
import math
from dataclasses import replace

import pytest

from explorer.links.page_state import PageState
from explorer.ui.predictions.opening import OPENING, compute_opening
from explorer.ui.shell.page import build_page


def assert_alike(recorded, computed):
    if isinstance(recorded, dict):
        assert recorded.keys() == computed.keys()
        for key in recorded:
            assert_alike(recorded[key], computed[key])
    elif isinstance(recorded, list):
        assert len(recorded) == len(computed)
        for one, other in zip(recorded, computed, strict=True):
            assert_alike(one, other)
    elif isinstance(recorded, float):
        assert math.isclose(recorded, computed, rel_tol=1e-3, abs_tol=1e-6)
    else:
        assert recorded == computed


def test_the_recorded_example_is_what_the_bundled_models_say():
    finding, picture = json.loads(OPENING.read_text("utf-8"))
    now_finding, now_picture = compute_opening()
    again = "run: python -m explorer.ui.predictions.opening"
    assert finding == now_finding, again
    assert_alike(json.loads(picture), json.loads(now_picture))


def shows_the_example(page):
    finding = json.loads(OPENING.read_text("utf-8"))[0]
    components = page.get_config_file()["components"]
    return any(c["props"].get("value") == finding for c in components)


def test_the_default_page_is_served_with_the_example_in_it(page):
    assert shows_the_example(page)


@pytest.mark.long
@pytest.mark.parametrize(
    "change", [{"family": "base"}, {"text": "a [MASK]"}, {"dtype": "bfloat16"}]
)
def test_any_other_start_is_not(change):
    assert not shows_the_example(build_page(replace(PageState(), **change)))
