"""The heatmap of layers: its cells are the rows', models are parted by lines, chance is a number."""

import json

import numpy as np

from explorer.analysis.depth.states import LayerSimilarity
from explorer.ui.depth.strings import SIMILARITY
from explorer.views.depth.states import similarity_canvas

ROWS = (("bert", 0), ("bert", 1), ("albert", 0))
CKA = np.array([[1, 0.5, 1 / 3], [0.5, 1, 0.8], [1 / 3, 0.8, 1]])
LABELS = {"bert": "BERT", "albert": "ALBERT"}


def test_a_cell_says_which_layers_it_compares_and_what_chance_gives():
    found = LayerSimilarity(ROWS, CKA, CKA / 10, 99)
    sent = json.loads(similarity_canvas(found, LABELS, [(1, 2)], ["a"], SIMILARITY))
    (figure,) = sent["figures"]
    (cells,) = figure["data"]
    assert cells["z"] == CKA.tolist()
    assert (cells["zmin"], cells["zmax"]) == (0.3, 1)
    assert cells["customdata"][1][2] == ["BERT layer 1", "ALBERT embeddings", 0.08]
    assert sent["numbers"]["rows"][5] == ["BERT", 1, "ALBERT", 0, 0.8, 0.08]
    assert sent["numbers"]["constants"] == {"TEXTS": ["a"]}
    assert sent["numbers"]["said"] == {"text": None}, "it is of the bundled sentences"
    assert "0.033 to 0.100" in sent["note"]
    axis = figure["layout"]["xaxis"]
    assert (axis["tickvals"], axis["ticktext"]) == ([0, 1, 2], ["emb.", "1", "emb."])
    named = [(one["text"], one["x"], one["y"]) for one in figure["layout"]["annotations"]]
    assert named == [("BERT", 0.5, 1), ("BERT", 0, 0.5), ("ALBERT", 2, 1), ("ALBERT", 0, 2)]
    shapes = [(s["type"], s["x0"], s["y0"]) for s in figure["layout"]["shapes"]]
    assert shapes == [("rect", 1.5, 0.5), ("rect", 0.5, 1.5), ("line", 1.5, 0), ("line", 0, 1.5)]
