"""The attention wall's own arithmetic, as the browser runs it, against numpy and scipy."""

import base64
import json
import subprocess
import zlib
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import rankdata

from tests.needs import needs_node

HERE = Path(__file__).parent
N, SHAPES = 6, {"bert": (4, 3), "albert": (2, 3)}
"""Words with [CLS] and [SEP], and each model's layers and heads."""
ROWS = range(1, N - 1)
ANCHOR = {"m": 0, "i": 7}
pytestmark = [needs_node, pytest.mark.processes]


def packed(values):
    return base64.b64encode(np.asarray(values, "<f4").tobytes()).decode()


@pytest.fixture(scope="module")
def family():
    """Random heads; in the second model one is nearly the anchor, and one looks elsewhere."""
    rng = np.random.default_rng(3)
    heads = {key: rng.dirichlet(np.ones(N) / 2, (a * b, N)) for key, (a, b) in SHAPES.items()}
    heads["albert"][4] = 0.9 * heads["bert"][ANCHOR["i"]] + 0.1 / N
    return heads


def wall(heads, exact, pool=1):
    """The data of a wall: a byte for every cell, and the exact numbers where they are sent."""
    size = -(-N // pool)
    bytes_ = b""
    for values in heads.values():
        padded = np.pad(values, ((0, 0), (0, size * pool - N), (0, size * pool - N)))
        most = padded.reshape(len(values), size, pool, size, pool).max((2, 4))
        bytes_ += np.rint(255 * np.sqrt(most)).astype(np.uint8).tobytes()
    models = []
    for key, (layers, n_heads) in SHAPES.items():
        rng = np.random.default_rng(layers)
        models.append(
            {"key": key, "layers": layers, "heads": n_heads,
             "rows": [round(i * 3 / (layers - 1)) for i in range(layers)],
             "entropy": (5 * rng.random(layers * n_heads)).tolist(),
             "distance": rng.random(layers * n_heads).tolist(),
             "kind": rng.integers(0, 3, layers * n_heads).tolist(),
             "pieces": ["x"] * N, "groups": [[i] for i in range(N)]}
        )  # fmt: skip
    return {
        "words": ["x"] * N,
        "special": [i not in ROWS for i in range(N)],
        "pool": pool,
        "models": models,
        "packed": base64.b64encode(zlib.compress(bytes_)).decode(),
        "exact": [packed(values) for values in heads.values()] if exact else [],
    }


def in_the_browser(data, anchor=ANCHOR, answer=None):
    done = subprocess.run(
        ["node", HERE / "heads.js"],
        input=json.dumps({"data": data, "anchor": anchor, "answer": answer}),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def divergences(heads, anchor=ANCHOR):
    own = heads["bert"][anchor["i"]]
    return {
        key: [np.mean([jensenshannon(own[r], head[r]) ** 2 for r in ROWS]) for head in values]
        for key, values in heads.items()
    }


@pytest.mark.parametrize(("exact", "near"), [(True, 1e-6), (False, 2e-2)])
def test_the_closest_head_is_the_one_with_the_least_divergence(family, exact, near):
    expected = divergences(family)
    found = in_the_browser(wall(family, exact))
    for distances, key in zip(found["distances"], SHAPES, strict=True):
        assert distances == pytest.approx(expected[key], abs=near)
    assert found["partners"]["closest"] == [ANCHOR["i"], int(np.argmin(expected["albert"]))]
    assert int(np.argmin(expected["albert"])) == 4
    for said, key in zip(found["apart"], SHAPES, strict=True):
        assert said.startswith("≈ ") is not exact
        assert float(said.removeprefix("≈ ")) == pytest.approx(expected[key][0], abs=near + 5e-4)


def test_the_same_place_in_another_model_is_the_row_beside_it(family):
    """Layer 2 of four stands at row 2 of three, beside the second layer of two."""
    found = in_the_browser(wall(family, exact=True))
    assert found["chosen"] == {"m": 0, "i": 7, "layer": 2, "head": 1}
    assert found["partners"]["same"] == [7, 1 * 3 + 1]


def test_tiles_are_sorted_as_the_order_says(family):
    """Narrow heads first, farthest first, one kind after another, most alike first."""
    data = wall(family, exact=True)
    found = in_the_browser(data)["ranks"]
    alike = divergences(family)
    for m, model in enumerate(data["models"]):
        keys = {
            "entropy": np.array(model["entropy"]),
            "distance": -np.array(model["distance"]),
            "kind": 1e3 * np.array(model["kind"]) + np.array(model["entropy"]),
            "alike": np.array(alike[model["key"]]),
        }
        for order, key in keys.items():
            assert found[order][m] == (rankdata(key, "ordinal") - 1).tolist(), order


def test_pieces_are_summed_where_they_are_looked_at_and_averaged_where_they_look():
    """A word of two pieces: the answer is by pieces, the wall shows words."""
    rng = np.random.default_rng(5)
    pieces = rng.dirichlet(np.ones(N), (12, N))
    data = wall({"bert": pieces, "albert": pieces[:6]}, exact=True)
    groups = [[0], [1, 2], [3], [4], [5]]
    for model in data["models"]:
        model["groups"] = groups
    found = in_the_browser(data)["words"][0]
    summed = np.stack([pieces[0][:, group].sum(-1) for group in groups], -1)
    expected = np.stack([summed[group].mean(0) for group in groups])
    assert found == pytest.approx(expected.ravel(), abs=1e-6)


def test_an_answer_replaces_the_bytes_of_its_head_alone(family):
    exact = family["albert"][0]
    heads = [{"model": "albert", "layer": 0, "head": 0, "words": packed(exact), "pieces": ""}]
    found = in_the_browser(wall(family, exact=False), answer={"heads": heads})
    assert found["isExact"] == [False, True]
    assert found["words"][1] == pytest.approx(exact.ravel(), abs=1e-6)
    gone = [{**heads[0], "words": packed(np.ones((3, 3)))}]
    assert in_the_browser(wall(family, exact=False), answer={"heads": gone})["isExact"] == [
        False, False,
    ]  # fmt: skip


def test_a_pooled_wall_shows_the_largest_of_its_cells_and_prints_no_divergence(family):
    found = in_the_browser(wall(family, exact=False, pool=2))
    head = family["bert"][0]
    blocks = head.reshape(3, 2, 3, 2).max((1, 3)).repeat(2, 0).repeat(2, 1)
    assert found["words"][0] == pytest.approx(blocks.ravel(), abs=2 / 255)
    assert found["apart"] == ["…", "…"]
