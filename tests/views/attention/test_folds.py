"""What the folds on switched heads, sentence pairs and BertViz hand to the browser."""

import base64
import json
import re
from importlib.machinery import ModuleSpec

import numpy as np
import pytest

from explorer.analysis.alignment import align
from explorer.analysis.attention import (
    ChangedWord,
    HeadAblation,
    head_ablation,
    head_importance,
)
from explorer.analysis.tasks.pairs import pair_quadrants
from explorer.models.inside.activations import queries_and_keys
from explorer.models.specs import MODEL_KEYS
from explorer.ui.attention import strings as texts_attention_ablation
from explorer.ui.tasks import strings as texts_attention_pairs
from explorer.views.attention import folds
from explorer.views.attention.folds import (
    FRAME,
    LIMITS,
    bertviz_files,
    bertviz_payload,
    changed_answers,
    head_switches,
)
from explorer.views.tasks import pair_quadrants_html

TEXT = "The [MASK] sat on the mat."
HOSTILE = "the </script><img src=x onerror=alert(1)> [MASK]"


def test_switches_carry_every_head_and_the_nats_that_were_measured(tiny_family):
    runs = tiny_family.runs(TEXT)
    swept = head_importance(runs["bert"], tiny_family.swept(runs["bert"]))
    data = json.loads(head_switches(runs, {}, {"bert": swept}, texts_attention_ablation.SWITCHES))
    assert [(m["layers"], m["heads"]) for m in data["models"]] == [(6, 12), (3, 12), (6, 12)]
    np.testing.assert_allclose(data["models"][0]["nats"], swept.kl, rtol=1e-3)
    assert data["models"][1]["nats"] == []


def test_answers_print_the_probabilities_they_draw(tiny_family):
    run = tiny_family.run("albert", TEXT)
    result = head_ablation(run, run.mask_logits * 0.5, [(0, 1), (0, 2), (4, 0)])
    markup = changed_answers([result], texts_attention_ablation.CHANGES)
    words = result.words[0]
    assert markup.count("<li>") == len(words)
    assert f"{words[0].before:.3f} → {words[0].after:.3f}" in markup
    top = max(max(word.before, word.after) for word in words)
    assert f"width:{100 * words[1].before / top:.2f}%" in markup
    assert f"Bars end at {top:.3f}" in markup
    assert "3 heads off" in markup


def test_a_small_change_is_a_power_of_ten_and_none_is_zero():
    words = (ChangedWord(1, "cat", 0.5, 0.00042), ChangedWord(2, "dog", 0.0, 0.25))
    result = HeadAblation("bert", "BERT", ((0, 0),), np.array([0.0003]), (words,))
    markup = changed_answers([result], texts_attention_ablation.CHANGES)
    assert "0.500 → 4.2×10⁻⁴" in markup
    assert "0.000 → 0.250" in markup
    assert "3.0×10⁻⁴ nats" in markup


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_the_three_parts_of_a_pair_bar_fill_it(tiny_family, key):
    runs = tiny_family.runs("The cat sat. [SEP] It was good.")
    result = pair_quadrants(runs[key], align({k: run.tokens for k, run in runs.items()}))
    markup = pair_quadrants_html([result], texts_attention_pairs.QUADRANTS)
    widths = [float(w) for w in re.findall(r'class="pq-to_\w+" style="width:([\d.]+)%', markup)]
    assert len(widths) == 6
    assert sum(widths[:3]) == pytest.approx(100, abs=0.05)
    assert sum(widths[3:]) == pytest.approx(100, abs=0.05)
    assert markup.count("--share:") == result.crossing.size


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_bertviz_gets_the_attention_to_one_step_of_a_byte(tiny_family, key):
    run = tiny_family.run(key, TEXT)
    data = json.loads(bertviz_payload(run, "head", "title"))
    drawn = np.frombuffer(base64.b64decode(data["attention"]), np.uint8).reshape(data["shape"])
    np.testing.assert_allclose(drawn / 255, run.attention, atol=0.5 / 255 + 1e-6)
    assert len(data["tokens"]) == data["shape"][-1]
    assert data["second"] is None


def test_bertviz_gets_queries_and_keys_that_make_the_attention(tiny_family):
    run = tiny_family.run("albert", TEXT)
    vectors = queries_and_keys(tiny_family.loaded("albert"), run.tokens)
    data = json.loads(bertviz_payload(run, "neuron", "title", vectors))
    queries, keys = (
        np.frombuffer(base64.b64decode(data[name]), "<i2").reshape(vectors[0].shape) * scale
        for name, scale in zip(("queries", "keys"), data["scales"], strict=True)
    )
    scores = np.einsum("lhqd,lhkd->lhqk", queries, keys) / np.sqrt(data["width"])
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    np.testing.assert_allclose(weights / weights.sum(-1, keepdims=True), run.attention, atol=2e-3)


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_a_pair_tells_bertviz_where_the_second_sentence_starts(tiny_family, key):
    run = tiny_family.run(key, "the cat sat [SEP] it was good")
    second = json.loads(bertviz_payload(run, "head", "title"))["second"]
    assert run.tokens.segments[second - 1 : second + 1] == (0, 1)


def test_markup_in_a_text_cannot_leave_its_string(tiny_family):
    run = tiny_family.run("bert", HOSTILE)
    assert "<" not in bertviz_payload(run, "head", "title")
    assert "<" not in head_switches({"bert": run}, {}, {}, texts_attention_ablation.SWITCHES)


@pytest.mark.parametrize("found", [None, ModuleSpec("bertviz", None)])
def test_a_missing_bertviz_is_said_in_a_sentence(monkeypatch, found):
    monkeypatch.setattr(folds, "find_spec", lambda name: found)
    with pytest.raises(RuntimeError, match="not installed"):
        bertviz_files()


def test_everything_bertviz_needs_is_here_with_its_licence():
    assert all(path.is_file() for path in bertviz_files().values())
    for name in ("viewer.html", "viewer.js", "viewer.css", "d3.min.js", "jquery.min.js"):
        assert (FRAME / name).is_file()
    assert "Bostock" in (FRAME / "d3.LICENSE").read_text("utf-8")
    assert "OpenJS" in (FRAME / "jquery.LICENSE").read_text("utf-8")
    page = (FRAME / "viewer.html").read_text("utf-8")
    assert not re.search(r"https?://", page + (FRAME / "viewer.js").read_text("utf-8"))


def test_the_parameters_have_the_names_that_the_installed_scripts_read():
    """BertViz's scripts read two globals; a new version that reads others must be noticed."""
    scripts = {view: bertviz_files()[f"{view}_view.js"].read_text("utf-8") for view in LIMITS}
    assert "const params = PYTHON_PARAMS;" in scripts["head"]
    assert "const params = PYTHON_PARAMS;" in scripts["model"]
    assert "const params = window.bertviz_params" in scripts["neuron"]
    viewer = (FRAME / "viewer.js").read_text("utf-8")
    read = {name for s in scripts.values() for name in re.findall(r"params\['(\w+)'\]", s)}
    assert len(read) >= 6
    assert read <= set(re.findall(r"(\w+):", viewer)) | {"attention"}
