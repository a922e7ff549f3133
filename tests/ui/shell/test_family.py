"""The family's drawing is what the configs say, large and beside each name."""

import json
import re
from dataclasses import replace
from urllib.parse import quote

import pytest

from explorer.links.page_state import PageState
from explorer.models.choice.family import PRESETS, all_specs, column, family_specs, sizes_of
from explorer.models.specs import BASE, BUNDLED, MODEL_KEYS
from explorer.ui.kit.strings import GROUPS
from explorer.ui.shell.family import (
    COMPARED,
    family_html,
    glyph,
    glyph_rules,
    row,
    sentence,
)
from explorer.ui.shell.tabs import TABS, group_rules
from tests.markup import every

BOX = re.compile('class="fm-(own|again|out)"')


def drawn(family):
    return {spec.key: str(row(spec)) for spec in family_specs(family)}


def test_the_bundled_drawing_is_what_the_bundled_configs_say():
    rows = drawn("mini")
    configs = {k: json.loads((BUNDLED / f"mini-{k}" / "config.json").read_text()) for k in rows}
    depth = configs["bert"]["num_hidden_layers"]
    assert BOX.findall(rows["bert"]) == ["own"] * depth
    assert BOX.findall(rows["albert"]) == ["own"] + ["again"] * (
        configs["albert"]["num_hidden_layers"] - 1
    )
    assert len(BOX.findall(rows["distilbert"])) == depth
    assert BOX.findall(rows["distilbert"]).count("own") == configs["distilbert"]["n_layers"]
    narrow = (
        f"{configs['albert']['embedding_size']}-dimensional embeddings, projected to "
        f"{configs['albert']['hidden_size']}"
    )
    assert [key for key in rows if narrow in rows[key]] == ["albert"]


def test_a_student_stands_below_the_layers_it_was_begun_as():
    boxes = BOX.findall(drawn("base")["distilbert"])
    # The layers that the authors' script copies (scripts/extract_distilbert.py), counted from 0.
    assert [place for place, box in enumerate(boxes) if box == "own"] == [0, 2, 4, 7, 9, 11]
    assert "initialised from layers 1, 3, 5, 8, 10 and 12 of BERT" in drawn("base")["distilbert"]


def test_a_student_begun_as_no_teacher_says_its_depth_alone():
    said = sentence(replace(BASE["distilbert"], initialised_from=()))
    assert said.startswith("6 layers")
    assert "BERT" not in said


def test_the_text_goes_into_every_model_and_a_word_comes_out_of_each():
    html = str(family_html(PageState()))
    n = sum(len(column(key)) for key in MODEL_KEYS)
    assert html.count('class="fm-into"') == html.count('class="fm-word"') == n == 10
    assert html.count('class="fm-gap"') == 1
    assert html.index("Your text") < html.index('class="fm-into"')


@pytest.mark.parametrize("family", [*PRESETS, "bert=large,distilbert=mini,albert=xxlarge"])
def test_the_models_in_use_are_in_sight(family):
    html = str(family_html(PageState(family=family)))
    models = every(html, data_model=..., data_size=...)
    shown = [one for one in models if "hidden" not in one.attributes]
    assert {one["data-model"]: one["data-size"] for one in shown} == sizes_of(family)
    assert html.count(" hidden") == 10 - len(shown)


def test_the_small_drawing_has_the_layers_that_the_model_has():
    """Full: stored; pale: the same again; dotted: the teacher's that the student lacks."""
    kinds = {}
    for spec in all_specs().values():
        svg, width = glyph(spec)
        assert f'width="{width}"' in svg
        assert width < 150
        kinds[spec.label] = [svg.count(part) for part in ('opacity="1"', 'opacity="0.2"', "dash")]
    assert kinds == {
        "BERT": [12, 0, 0],
        "BERT-large": [24, 0, 0],
        "DistilBERT": [6, 0, 6],
        "ALBERT": [1, 11, 0],
        "ALBERT-large": [1, 23, 0],
        "ALBERT-xlarge": [1, 23, 0],
        "ALBERT-xxlarge": [1, 11, 0],
        "mini-BERT": [6, 0, 0],
        "mini-DistilBERT": [3, 0, 3],
        "mini-ALBERT": [1, 5, 0],
    }


def test_beside_each_other_twice_the_layers_are_twice_as_long_whatever_the_page_shows():
    rules = glyph_rules()
    for spec in all_specs().values():
        svg, width = glyph(spec, COMPARED)
        drawn = len(BOX.findall(str(row(spec))))
        assert svg.count("<rect") == drawn
        assert width + COMPARED[1] == drawn * sum(COMPARED)
        own = f'[data-size="{spec.size}"]' * 6 + f'[data-model="{spec.key}"]'
        assert f"{own}{{--layers:url('data:image/svg+xml,{quote(svg)}')" in rules


def test_every_model_has_its_drawing_in_either_family_and_every_tab_its_group():
    rules = glyph_rules()
    for key in MODEL_KEYS:
        assert f'}}[data-model="{key}"],[data-column-{key}="mini"]' in rules
        for size in set(column(key)) - {"mini"}:
            assert f'[data-column-{key}="{size}"] [data-model="{key}"]{{--layers:url' in rules
    assert [tab for tabs in GROUPS.values() for tab in tabs] == [tab.ID for tab in TABS]
    for group, (first, *_) in GROUPS.items():
        assert f'#tab-{first}-button::before{{content:"{group}"/"";}}' in group_rules()


def test_layers_are_counted_from_one():
    def own(family, key):
        return [box.text() for box in every(drawn(family)[key], cls="fm-own")]

    assert own("mini", "bert") == [str(1 + n) for n in range(6)]
    # Begun as every other of the teacher's: the boxes are numbered by the student's own layers.
    assert own("base", "distilbert") == ["1", "2", "3", "4", "5", "6"]


def test_what_a_model_lacks_is_said_of_it_alone():
    """DistilBERT has neither segments nor a pooler (Sanh et al. 2019, section 2)."""
    for lacking in ("no segment embeddings", "no pooler"):
        assert [key for key in BASE if lacking in sentence(BASE[key])] == ["distilbert"]
