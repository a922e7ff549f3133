"""A model is a row of a table: with a random RoBERTa in it, everything on the page still answers."""

import html
import json
import re
import subprocess
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import gradio as gr
import pytest
import torch

from tests.needs import needs_node
from tests.tiny_models import save_tiny_family
from tests.tiny_roberta import HEADS, LAYERS, four_models, save_roberta

TEXT = "The cat sat on the [MASK]."
TEXTS = {"one gap": TEXT, "two gaps": "The [MASK] sat on the [MASK].", "no gap": "He was not bad."}
PAIR = "The cat sat. [SEP] It was a [MASK] caf\u00e9."
RECIPES = Path(__file__).parent / "js" / "take" / "recipes.js"
TABS = (
    "predictions",
    "attention",
    "layer",
    "depth",
    "distillation",
    "tasks",
    "parameters",
    "latency",
    "claims",
)


@pytest.fixture(scope="module")
def four(tmp_path_factory):
    """The explorer with four bundled models, as modules by short name."""
    folder = tmp_path_factory.mktemp("four")
    save_tiny_family(folder)
    with four_models(folder, save_roberta(folder / "mini-roberta")):
        yield SimpleNamespace(
            folder=folder,
            state=import_module("explorer.page_state").PageState,
            specs=import_module("explorer.models.specs"),
            refusal=import_module("explorer.refusal").Refusal,
            family=import_module("explorer.models.choice.family"),
            runs=import_module("explorer.runs"),
            endpoints=import_module("explorer.ui.shell.api").ENDPOINTS,
            tabs={t.ID: t for t in import_module("explorer.ui.shell.tabs").TABS},
        )


def plain_roberta(four):
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    path = four.folder / "mini-roberta"
    network = AutoModelForMaskedLM.from_pretrained(path, attn_implementation="eager")
    return AutoTokenizer.from_pretrained(path), network.eval()


@pytest.mark.parametrize("text", [TEXT, PAIR, *TEXTS.values()])
def test_its_numbers_are_those_of_plain_transformers(four, text):
    tokenizer, network = plain_roberta(four)
    spec = four.specs.MINI["roberta"]
    run = four.runs.get_run(spec, four.state(text=text))
    sides = [side.replace("[MASK]", tokenizer.mask_token) for side in text.split("[SEP]")]
    inputs = tokenizer(*sides, return_tensors="pt")
    assert list(run.tokens.ids) == inputs["input_ids"][0].tolist()
    with torch.no_grad():
        out = network(input_ids=inputs["input_ids"], output_attentions=True)
    assert torch.allclose(torch.cat(out.attentions), torch.tensor(run.attention), atol=1e-5)
    at = inputs["input_ids"][0] == tokenizer.mask_token_id
    assert torch.allclose(out.logits[0, at], torch.tensor(run.mask_logits), atol=1e-4)


def test_every_token_of_it_lies_in_its_word(four):
    tokens = four.runs.get_run(four.specs.MINI["roberta"], four.state(text=PAIR)).tokens
    # The two bytes of an accented letter are two tokens with one span.
    read = "".join(tokens.text[start:end] for start, end in dict.fromkeys(tokens.spans))
    assert read == PAIR.replace("[SEP]", "").replace(" ", "")
    assert [tokens.text[slice(*tokens.spans[i])] for i in tokens.mask_positions] == ["[MASK]"]


def test_predict_gives_four_columns(four):
    models = four.endpoints["predict"](TEXT, "mini", 3)["models"]
    assert [m["model"] for m in models] == ["bert", "distilbert", "albert", "roberta"]
    for model in models:
        (mask,) = model["masks"]
        assert sum(p["probability"] for p in mask["predictions"]) + mask["remaining"] == (
            pytest.approx(1)
        )


def test_attention_knows_its_heads(four):
    last = four.endpoints["attention"](TEXT, "mini", "roberta", LAYERS - 1, HEADS - 1)
    assert [sum(row) for row in last["attention"]] == pytest.approx([1] * len(last["tokens"]))
    with pytest.raises(four.refusal, match="RoBERTa has layers 0 to 3 and heads 0 to 2"):
        four.endpoints["attention"](TEXT, "mini", "roberta", LAYERS, 0)
    with pytest.raises(four.refusal, match="bert, distilbert and albert"):
        four.endpoints["attention"](TEXT, "base", "roberta", 0, 0)


def test_depth_reads_it_with_its_own_head(four):
    found = four.endpoints["depth"](TEXT, "mini", "roberta")
    (mask,) = found["masks"]
    assert len(mask["layers"]) == LAYERS + 1
    tokenizer, network = plain_roberta(four)
    ids = tokenizer(TEXT.replace("[MASK]", tokenizer.mask_token), return_tensors="pt")["input_ids"]
    with torch.no_grad():
        states = network.roberta(ids, output_hidden_states=True).hidden_states
        top = torch.stack([network.lm_head(s[0, mask["position"]]).softmax(-1) for s in states])
    first = [layer["predictions"][0]["probability"] for layer in mask["layers"]]
    assert first == pytest.approx(top.amax(-1).tolist(), abs=1e-5)


@needs_node
@pytest.mark.parametrize("text", [PAIR, "cat [MASK]"])
def test_the_lines_of_a_layer_compute_its_numbers_again(four, text, tmp_path):
    from tests.js.take.recomputed import agree, recomputed

    state, lines = four.state(text=text), import_module("explorer.ui.kit.take").recipe_lines
    steps, contexts = (import_module(f"explorer.ui.layer.{name}") for name in ("steps", "contexts"))
    numbers = re.search('data-numbers="([^"]*)"', contexts.show_contexts(state))[1]
    drawn = {
        "layer/stations": four.tabs["layer"].show(state)[1],
        "layer/steps": steps.show_steps(state)[1],
        "layer/contexts": html.unescape(numbers),
    }
    pictures = {
        kind: {"lines": lines(kind), "text": text, "data": json.loads(data)}
        for kind, data in drawn.items()
    }
    models = {spec.label: [str(spec.bundled_path), "main"] for spec in four.specs.MINI.values()}
    asked = json.dumps({"models": models, "pictures": pictures})
    done = subprocess.run(["node", RECIPES], input=asked, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for kind, found in json.loads(done.stdout).items():
        path = tmp_path / "lines.py"
        path.write_text(found["lines"], "utf-8")
        columns, rows = found["table"]["columns"], found["table"]["rows"]
        fresh = recomputed(path)
        agree([dict(zip(columns, row, strict=True)) for row in rows], fresh)
        assert "RoBERTa" in {row["model"] for row in fresh}
        if kind != "layer/stations":
            assert len(fresh) == len(rows)


def test_parameters_counts_it(four):
    (counted,) = four.endpoints["parameters"](["mini-roberta"])["models"]
    network = plain_roberta(four)[1]
    assert counted["total"] == sum(p.numel() for p in network.roberta.parameters())


def test_distillation_still_has_its_pair(four):
    assert len(four.endpoints["distillation"](TEXT, "mini", 2.0)["masks"]) == 1


def test_latency_times_it(four):
    found = four.endpoints["latency"]("mini", 8, 1, 2)
    assert [m["model"] for m in found["models"]] == ["bert", "distilbert", "albert", "roberta"]


@pytest.mark.parametrize("text", [*TEXTS.values(), PAIR])
@pytest.mark.parametrize("tab", TABS)
def test_every_tab_shows_it(four, tab, text):
    values = four.tabs[tab].show(four.state(text=text))
    assert values
    if tab in ("predictions", "attention", "layer", "depth", "tasks", "parameters"):
        assert "RoBERTa" in "".join(map(str, values))


@pytest.mark.parametrize("tab", TABS)
def test_every_fold_opens(four, tab):
    with gr.Blocks() as page:
        state = gr.State(None)
        with gr.Tab():
            four.tabs[tab].build(state)
    opened = 0
    for event in page.fns.values():
        if any(name == "expand" for _, name in event.targets):
            chosen = four.state(text=TEXT)
            values = [chosen if c is state else getattr(c, "value", None) for c in event.inputs]
            found = event.fn(*values)
            opened += bool(list(found) if hasattr(found, "__next__") else [found])
    assert opened or tab == "latency"


def test_a_family_may_lack_a_model(four, monkeypatch):
    spec = four.specs.MINI["roberta"]
    monkeypatch.delitem(four.specs.MINI, "roberta")
    monkeypatch.setitem(four.specs.BASE, "roberta", spec)
    assert [s.key for s in four.family.family_specs("mini")] == ["bert", "distilbert", "albert"]
    assert [s.key for s in four.family.family_specs("base")][-1] == "roberta"
    values = four.tabs["parameters"].show(four.state())
    assert "RoBERTa" in values[0]
    sizes = import_module("explorer.analysis.parameters.sizes")
    sizes.seven_sizes.cache_clear()
    assert "mini-roberta" in [size.spec.name for size in sizes.seven_sizes()]
    sizes.seven_sizes.cache_clear()
    assert len(four.endpoints["predict"](TEXT, "mini", 3)["models"]) == 3
    asked = {"family": "mini", "model": "roberta", "layer": "1"}
    state, repaired = import_module("explorer.page_state").from_params(asked)
    assert (state.model, state.layer, repaired) == ("bert", 1, ("model",))
