"""Layer's headline on twenty texts, and the length of its captions."""

import json
import re
import subprocess
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from explorer.inference.runs import get_runs
from explorer.links.page_state import PageState
from explorer.ui.layer import strings, tab
from explorer.ui.shell.tabs import values_of
from tests.needs import ROOT, needs_packages
from tests.ui.sentences import TEXTS, check_grammar, told

LABELS = {"bert": "mini-BERT", "distilbert": "mini-DistilBERT", "albert": "mini-ALBERT"}
CAPTION = 120
"""Letters of a caption at most."""
SCRIPT = Path(__file__).with_name("headlines.js")
LONGEST = 160
"""Letters of a headline without the word that it is about: two lines of the page."""


def headlines(pictures):
    """What the browser's own code writes above each of these pictures."""
    done = subprocess.run(
        ["node", SCRIPT], input=json.dumps(pictures), capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def turned(run, state, layer):
    """The angle of each block, whole degrees, from the network's own modules."""
    from explorer.models.inside.activations import block_states
    from explorer.models.loading import load_model

    position = next(m["position"] for m in state["models"] if m["key"] == run.spec.key)
    rows = block_states(load_model(run.spec), run.hidden_states, position).astype(float)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    before, between, after = rows[2 * layer : 2 * layer + 3]
    return [np.rad2deg(np.arccos(a @ b)) for a, b in ((before, between), (between, after))]


def by_block(angles):
    """Each model's block: the one that turned the word further, or neither, as printed."""
    found = {"attention": [], "feed-forward": [], "": []}
    for key, (attention, feed_forward) in angles.items():
        printed = [f"{a:.0f}" if not 0 < a < 1 else "<" for a in (attention, feed_forward)]
        equal = printed[0] == printed[1]
        name = "" if equal else "attention" if attention > feed_forward else "feed-forward"
        found[name].append(LABELS[key])
    return found


def read_back(text):
    """The models of each claim of a headline, and the sentence's beginning."""
    place, _, claims = text.removesuffix(".").partition(", ")
    found = {}
    for claim in claims.split("; "):
        first = re.match(r"(attention and feed-forward|both|attention|feed-forward) ", claim)[1]
        who = re.split(r", in | it more in | equally in ", claim)[-1]
        named = re.findall(r"mini-\w+", who) or who
        found[first if first in ("attention", "feed-forward") else ""] = named
    return place, found


@pytest.mark.long
@needs_packages
def test_of_twenty_texts_the_headline_names_the_block_that_turned_the_word_further():
    places = [(text, 2 * (number % 2)) for number, text in enumerate(TEXTS)]
    asked = [PageState(text=text, layer=layer) for text, layer in places]
    drawn = [json.loads(canvas) for _, canvas in map(partial(values_of, tab), asked)]
    for (text, _), state, data, said in zip(places, asked, drawn, headlines(drawn), strict=True):
        runs, _ = get_runs(state.ask)
        layers = {model["key"]: model["layer"] for model in data["models"]}
        angles = {key: turned(run, data, layers[key]) for key, run in runs.items()}
        place, claims = read_back(said)
        one = len(set(layers.values())) == 1
        assert place == (f"In layer {layers['bert'] + 1}" if one else "In the layers shown")
        wanted = {block: names for block, names in by_block(angles).items() if names}
        if len(wanted) == 1:
            wanted = dict.fromkeys(wanted, "all three")
        assert claims == wanted, (said, angles)
        word = data["chosen"]["words"][data["chosen"]["at"]]
        assert len(said.replace(word, "")) <= LONGEST
        check_grammar(said)
        told(text, said)


def test_a_caption_is_one_line():
    canvas = strings.CANVAS
    captions = [
        *canvas["said"].values(),
        canvas["note"].split("\n")[0],
        canvas["scale"],
        canvas["softmax_said"],
    ]
    captions += [strings.STEPS["note"], strings.CONTEXTS_NOTE, strings.CONTEXTS["upper"]]
    about = {"model": "mini-DistilBERT", "d": 384, "share": 0.5, "n": 512}
    captions.append(strings.RECURRENT_NOTE.format(**about))
    assert [caption for caption in captions if len(caption) > CAPTION] == []
