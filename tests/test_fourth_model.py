"""A model is a row of a table: a random RoBERTa in it has plain transformers' numbers everywhere."""

import html
import json
import re
import runpy
import subprocess
from pathlib import Path

import pytest
import torch

from explorer.analysis.parameters import shapes
from explorer.inference.runs import get_run
from explorer.links.codec import from_params
from explorer.links.page_state import PageState
from explorer.models import specs
from explorer.models.choice.family import family_specs
from explorer.refusal import Refusal
from explorer.ui.kit.canvas import recipe_parts
from explorer.ui.layer import folds
from explorer.ui.shell.api import ENDPOINTS
from explorer.ui.shell.tabs import TABS, values_of
from tests.needs import needs_node
from tests.tiny_roberta import HEADS, LAYERS

TEXT = "The cat sat on the [MASK]."
PAIR = "The cat sat. [SEP] It was a [MASK] caf\u00e9."
TAB = {tab.ID: tab for tab in TABS}
RECIPES = Path(__file__).parent / "js" / "take" / "recipes.js"


def plain_roberta(four):
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    path = four.path / "mini-roberta"
    network = AutoModelForMaskedLM.from_pretrained(path, attn_implementation="eager")
    return AutoTokenizer.from_pretrained(path), network.eval()


@pytest.mark.long
@pytest.mark.parametrize("text", [TEXT, PAIR, "The [MASK] sat on the [MASK].", "He was not bad."])
def test_its_numbers_are_those_of_plain_transformers(four, text):
    tokenizer, network = plain_roberta(four)
    spec = specs.MINI["roberta"]
    run = get_run(spec, PageState(text=text).ask)
    sides = [side.replace("[MASK]", tokenizer.mask_token) for side in text.split("[SEP]")]
    inputs = tokenizer(*sides, return_tensors="pt")
    assert list(run.tokens.ids) == inputs["input_ids"][0].tolist()
    with torch.no_grad():
        out = network(input_ids=inputs["input_ids"], output_attentions=True)
    assert torch.allclose(torch.cat(out.attentions), torch.tensor(run.attention), atol=1e-5)
    at = inputs["input_ids"][0] == tokenizer.mask_token_id
    assert torch.allclose(out.logits[0, at], torch.tensor(run.mask_logits), atol=1e-4)


def test_every_token_of_it_lies_in_its_word(four):
    tokens = get_run(specs.MINI["roberta"], PageState(text=PAIR).ask).tokens
    # The two bytes of an accented letter are two tokens with one span.
    read = "".join(tokens.text[start:end] for start, end in dict.fromkeys(tokens.spans))
    assert read == PAIR.replace("[SEP]", "").replace(" ", "")
    assert [tokens.text[slice(*tokens.spans[i])] for i in tokens.mask_positions] == ["[MASK]"]


def test_attention_knows_its_heads(four):
    last = ENDPOINTS["attention"](TEXT, "mini", "roberta", LAYERS - 1, HEADS - 1)
    assert [sum(row) for row in last["attention"]] == pytest.approx([1] * len(last["tokens"]))
    with pytest.raises(Refusal, match="RoBERTa has layers 0 to 3 and heads 0 to 2"):
        ENDPOINTS["attention"](TEXT, "mini", "roberta", LAYERS, 0)
    with pytest.raises(Refusal, match="bert, distilbert and albert"):
        ENDPOINTS["attention"](TEXT, "base", "roberta", 0, 0)


def test_depth_reads_it_with_its_own_head(four):
    found = ENDPOINTS["depth"](TEXT, "mini", "roberta")
    (mask,) = found["masks"]
    assert len(mask["layers"]) == LAYERS + 1
    tokenizer, network = plain_roberta(four)
    ids = tokenizer(TEXT.replace("[MASK]", tokenizer.mask_token), return_tensors="pt")["input_ids"]
    with torch.no_grad():
        states = network.roberta(ids, output_hidden_states=True).hidden_states
        top = torch.stack([network.lm_head(s[0, mask["position"]]).softmax(-1) for s in states])
    first = [layer["predictions"][0]["probability"] for layer in mask["layers"]]
    assert first == pytest.approx(top.amax(-1).tolist(), abs=1e-5)


def saved_layer(text):
    """What a reader saves of each picture of the layer: its lines and its CSV."""
    state = PageState(text=text)
    numbers = re.search('data-numbers="([^"]*)"', folds.show_contexts(state))[1]
    drawn = {
        "layer/stations": values_of(TAB["layer"], state)[1],
        "layer/steps": folds.show_steps(state)[1],
        "layer/contexts": html.unescape(numbers),
    }
    pictures = {
        kind: {"lines": recipe_parts(kind), "text": text, "data": json.loads(data)}
        for kind, data in drawn.items()
    }
    models = {spec.label: [str(spec.bundled_path), "main"] for spec in specs.MINI.values()}
    asked = json.dumps({"models": models, "pictures": pictures})
    done = subprocess.run(["node", RECIPES], input=asked, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.processes
@needs_node
def test_the_lines_of_a_layer_compute_its_numbers_again(four, tmp_path, monkeypatch, capsys):
    from tests.js.take.recomputed import agree

    monkeypatch.chdir(tmp_path)
    script = tmp_path / "script.py"
    for kind, found in [one for text in (PAIR, "cat [MASK]") for one in saved_layer(text).items()]:
        script.write_text(found["lines"], "utf-8")
        runpy.run_path(str(script), run_name="__main__")
        printed = capsys.readouterr().out
        agree(found["csv"], printed, kind)
        assert "RoBERTa" in printed


@pytest.mark.long
def test_a_family_may_lack_a_model(four, monkeypatch):
    spec = specs.MINI["roberta"]
    monkeypatch.delitem(specs.MINI, "roberta")
    monkeypatch.setitem(specs.BASE, "roberta", spec)
    assert [s.key for s in family_specs("mini")] == ["bert", "distilbert", "albert"]
    assert [s.key for s in family_specs("base")][-1] == "roberta"
    values = values_of(TAB["parameters"], PageState())
    assert "RoBERTa" in values[0]
    shapes.seven_sizes.cache_clear()
    assert "mini-roberta" in [size.spec.name for size in shapes.seven_sizes()]
    shapes.seven_sizes.cache_clear()
    assert len(ENDPOINTS["predict"](TEXT, "mini", 3)["models"]) == 3
    asked = {"family": "mini", "model": "roberta", "layer": "1"}
    state, repaired = from_params(asked)
    assert (state.model, state.layer, repaired) == ("bert", 1, ("model",))
