"""The quadrants of a pair as they are drawn: each head at its place, the darkest looks across most."""

import re

import numpy as np
import pytest

from explorer.analysis.tasks.pairs import PairQuadrants
from explorer.views.tasks import pair_quadrants_html
from tests.markup import every

KEYS = ("from_a", "from_b", "to_a", "to_b", "to_added")
TEXTS = {key: key for key in KEYS} | {
    "cell": "layer {layer} head {head}: {share}",
    "map": "{model} up to {top}",
    "strongest": "most: {heads}",
}
CROSSING = np.array([[0.0, 0.2, 0.1], [0.4, 0.05, 0.3]])


@pytest.fixture
def html():
    mass = np.zeros((2, 3, 2, 3))
    mass[..., 0, 1], mass[..., 1, 0] = CROSSING + 0.01, CROSSING - 0.01
    mass[..., 0, 0], mass[..., 1, 1] = 0.5, 0.25
    mass[..., 2] = 1 - mass.sum(-1)
    return str(pair_quadrants_html([PairQuadrants("bert", "BERT", mass)], TEXTS))


def test_every_head_stands_in_its_layer_as_dark_as_it_looks_across(html):
    assert [one.text() for one in every(html, cls="pq-layer")] == ["1", "2"]
    cells = re.findall(r'title="layer (\d) head (\d): ([\d.]+)%" style="--share:(\d+)"', html)
    assert [(int(layer), int(head)) for layer, head, *_ in cells] == [
        (layer, head) for layer in (1, 2) for head in (1, 2, 3)
    ]
    assert [float(share) for *_, share, _ in cells] == pytest.approx(100 * CROSSING.ravel())
    assert [int(dark) for *_, dark in cells] == [0, 50, 25, 100, 12, 75]
    assert "BERT up to 40%" in html


def test_the_three_that_look_across_most_are_named_the_first_of_them_first(html):
    (said,) = re.findall(r"most: ([^<]*)", html)
    assert re.findall(r"\d+\.\d+", said) == ["2.1", "2.3", "1.2"]


def test_each_bar_is_what_a_sentence_looks_at_on_average(html):
    a, b = (re.findall(r"width:([\d.]+)%", bar) for bar in html.split("pq-title")[1:])
    mean = 100 * CROSSING.mean()
    assert [float(width) for width in a] == pytest.approx([50, mean + 1, 49 - mean], abs=0.01)
    assert [float(width) for width in b] == pytest.approx([mean - 1, 25, 76 - mean], abs=0.01)
