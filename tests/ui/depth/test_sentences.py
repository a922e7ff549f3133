"""No sentence of the depth tab's folds is false: each claim is evaluated on drawn results."""

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.analysis.depth.states import LayerSimilarity, SharedDrift
from explorer.inference.runs import Runs, get_runs
from explorer.library.refusals import unpaired_states
from explorer.links.page_state import PageState
from explorer.models.specs import MINI
from explorer.models.tokens import spelling_of
from explorer.ui.depth import folds, strings, tab
from explorer.ui.depth import strings as texts
from explorer.ui.kit import asked
from explorer.ui.shell.tabs import values_of
from explorer.views.first.depth import depth_html
from tests.ui.sentences import LABELS, TEXTS, law, names_in, read, some_models, told

CROWDED = st.sampled_from([0.0, 0.5, 0.5004, 0.9949, 0.9951, 1.0])


@pytest.mark.long
def test_of_twenty_texts_each_model_settles_where_its_final_answer_ranks_first_for_good():
    for given_text in TEXTS:
        runs, _ = get_runs(PageState(text=given_text).ask)
        masks = json.loads(values_of(tab, PageState(text=given_text))[1])
        said = []
        for model in masks["models"]:
            for i, mask in enumerate(model["masks"]):
                logits = runs[model["key"]].mask_logits[i]
                rank = mask["rank"]
                first = min(n for n in range(len(rank)) if set(rank[n:]) == {1})
                assert mask["decided"] == first
                vocabulary = runs[model["key"]].vocabulary
                answer = spelling_of(vocabulary).word(vocabulary[int(logits.argmax())])
                assert mask["words"][0] == answer
                kind = texts.CANVAS["finding" if first else "at_once"]
                total = model["layers"]
                facts = {"model": model["label"], "word": answer, "n": first, "total": total}
                said.append(f"{i + 1}. {read(kind.format(**facts))}")
        told(given_text, "; ".join(sorted(said)))


@pytest.mark.long
def test_of_twenty_texts_what_becomes_of_one_model_s_answer_in_each_model_is_read_off_its_ranks():
    for given_text in TEXTS:
        runs, _ = get_runs(PageState(text=given_text).ask)
        data = json.loads(values_of(tab, PageState(text=given_text))[1])
        for i in range(len(data["masks"])):
            for key in runs:
                judge_followed(data, i, key, runs)


def judge_followed(data, i, key, runs):
    html = depth_html(data, i, key)
    said = read(re.search(r'<p class="finding">(.*?)</p>', html)[1])
    own = runs[key]
    answer = spelling_of(own.vocabulary).word(own.vocabulary[int(own.mask_logits[i].argmax())])
    if "Followed" not in said:
        assert not any(key in model["masks"][i]["followed"] for model in data["models"])
        return
    assert said.startswith(f"Followed in all models: {plain_word(answer)}. ")
    parts = re.split(r"; |\. (?=mini-)", said.rstrip("."))[1:]
    for model, part in zip(data["models"], parts, strict=True):
        assert part.startswith(model["label"])
        one, run = model["masks"][i]["followed"].get(key), runs[model["key"]]
        if one is None:
            lowered = answer.lower() if run.spec.lower_case else answer
            assert f"{spelling_of(run.vocabulary).starts}{lowered}" not in run.vocabulary
            assert "as one piece at the start of a word" in part
            continue
        logits = run.mask_logits[i]
        rank = 1 + int((logits > logits[run.vocabulary.index(one["piece"])]).sum())
        assert one["rank"][-1] == rank
        firsts = [layer for layer, place in enumerate(one["rank"]) if place == 1]
        if rank == 1:
            start = min(n for n in range(len(one["rank"])) if set(one["rank"][n:]) == {1})
            assert (f"from layer {start} of {model['layers']} on" in part) == bool(start)
            assert ("from its embeddings on" in part) == (not start)
        else:
            assert part.endswith(f"at rank {rank:,}")
            lost = re.search(r"first in layer (\d+)", part)
            assert (int(lost[1]) if lost else 0) == (firsts[-1] if firsts else 0)


def plain_word(text):
    return text if any(map(str.isalnum, text)) else f"“{text}”"


@st.composite
def similarities(draw):
    layers = {key: draw(st.integers(1, 3)) for key in draw(some_models())}
    rows = tuple((key, layer) for key, last in layers.items() for layer in range(last + 1))
    n = len(rows)
    flat = draw(st.lists(CROWDED, min_size=2 * n * n, max_size=2 * n * n))
    cka, shuffled = np.array(flat).reshape(2, n, n)
    return LayerSimilarity(rows, cka, shuffled, 5)


@law
@given(similarities())
def test_no_layer_of_the_first_model_is_more_similar_than_the_one_named(found):
    keys = [*dict.fromkeys(key for key, _ in found.rows)]
    first, *others = keys
    text = read(strings.similarity_finding(found, {key: LABELS[key] for key in keys}))
    if not others:
        assert text == f"Only {LABELS[first]} is available."
        return
    assert names_in(text) == keys
    told = re.findall(
        r"(?:layer (\d)|the embeddings) is most similar to the last layer of (\w+) "
        r"\(CKA (\d\.\d{3}), by chance (\d\.\d{3})\)",
        text,
    )
    for key, (layer, name, cka, chance) in zip(others, told, strict=True):
        last = max(layer for owner, layer in found.rows if owner == key)
        row, column = found.rows.index((key, last)), found.rows.index((first, int(layer or 0)))
        own = [i for i, (owner, _) in enumerate(found.rows) if owner == first]
        assert name == LABELS[key]
        assert found.cka[row, column] == found.cka[row, own].max()
        assert (cka, chance) == (
            f"{found.cka[row, column]:.3f}",
            f"{found.shuffled[row, column]:.3f}",
        )


@law
@given(st.lists(st.lists(CROWDED, min_size=2, max_size=2), min_size=1, max_size=4))
def test_heads_change_most_and_least_where_they_print_so_and_equally_where_they_do_not(steps):
    drift = SharedDrift(np.array(steps), np.zeros((len(steps) + 1, 2)))
    text = read(strings.shared_finding(drift, MINI["albert"]))
    mean = [f"{sum(row) / 2:.3f}" for row in steps]
    told = re.findall(r"(most|least) between (?:applications )?(\d) and (\d)", text)
    assert ("equally" in text) == (len(set(mean)) == 1) == (not told)
    for kind, start, end in told:
        assert int(end) == int(start) + 1
        assert mean[int(start) - 1] == (max if kind == "most" else min)(mean)


def test_one_application_is_no_sharing(tiny_family, monkeypatch):
    run = tiny_family.run("albert", "the [MASK] sat.")
    once = replace(run.spec, architecture=replace(run.spec.architecture, n_layers=1))
    runs = {"albert": SimpleNamespace(spec=once, tokens=run.tokens, attention=run.attention[:1])}
    monkeypatch.setattr(asked, "get_runs", lambda _: Runs(runs, {}))
    said, *rest = folds.show_shared(PageState(text="the [MASK] sat."))
    assert strings.NO_SHARED in said
    assert rest == ["", ""]


@law
@given(
    st.lists(st.integers(0, 3), min_size=3, max_size=3),
    st.lists(st.integers(0, 3), min_size=3, max_size=3),
)
def test_layers_stand_where_they_were_copied_from_only_if_their_weights_say_so(origin, nearest):
    lineage = SimpleNamespace(
        initialised_from=origin, nearest=nearest, is_as_initialised=origin == nearest
    )
    text = read(strings.lineage_note(lineage, ("BERT", "DistilBERT")))
    as_text = [", ".join(str(layer + 1) for layer in layers) for layers in (origin, nearest)]
    assert ("still closest to the layer it was copied from" in text) == (origin == nearest)
    assert as_text[0] in text
    assert as_text[1] in text


@law
@given(st.integers(1, 3), st.integers(1, 3))
def test_pieces_are_counted_in_singular_and_plural(was, becomes):
    text = read(unpaired_states("BERT", "king", "kings", (was, becomes)))
    assert f"“king” into {was} piece" in text
    assert f"“kings” into {becomes} piece" in text
