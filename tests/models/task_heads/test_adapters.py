"""A merged adapter, against peft; when it fits; sentiment and spans against transformers and Captum."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from captum.attr import IntegratedGradients
from peft import PeftModel
from transformers import (
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    AutoTokenizer,
)

from explorer.analysis.tasks.tuned import LONGEST, answer_spans
from explorer.models import gradients, specs
from explorer.models.gradients import MISS
from explorer.models.inside.interventions import with_depth, with_head_mask
from explorer.models.loading import load_model
from explorer.models.specs import MINI, MODEL_KEYS
from explorer.models.task_heads import classifiers
from explorer.models.task_heads.adapters import NotTuned, tuned_model
from explorer.models.task_heads.classifiers import (
    log_odds,
    margin_slopes,
    margins,
    read_passage,
    span_logits,
)
from explorer.models.tokens import BadText
from explorer.scheduling.cancel import Cancelled
from explorer.timing.protocol import interruptible

POSITIVE = log_odds(1)
TEXT = "the cat was not bad, and the dog was good."
QUESTION = "was the dog good?"
PASSAGE = "The cat sat on the mat. " * 9 + "A dog was in Paris, and it was good! " * 5

SHARED = "The cat ½ sat on the … mat ﬁ. " * 5 + "北 A dog was ½½½ in Paris, and it was good! " * 4
"""ALBERT's vocabulary writes ½, … and ﬁ in several tokens of one place each."""


def by_peft(family, key, task):
    """The same network and tokenizer by peft alone."""
    loader = AutoModelForSequenceClassification if task == "sst2" else AutoModelForQuestionAnswering
    folder = family.path / f"mini-{key}"
    base = loader.from_pretrained(folder, local_files_only=True, attn_implementation="eager")
    network = PeftModel.from_pretrained(base, folder / "tasks" / task).eval()
    return network, AutoTokenizer.from_pretrained(folder, local_files_only=True)


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_sentiment_logits_are_those_of_an_independent_peft_load(tuned_family, key):
    network, tokenizer = by_peft(tuned_family, key, "sst2")
    texts = [TEXT, "bad", ""]
    with torch.no_grad():
        wanted = [network(**tokenizer(t, return_tensors="pt")).logits[0] for t in texts]
    found = margins(tuned_model(tuned_family.loaded(key), "sst2"), texts, POSITIVE)
    assert found == pytest.approx([float(w[1] - w[0]) for w in wanted], abs=1e-4)
    assert len(set(np.round(found, 3))) == 3


STEPS = {"bert": 64, "distilbert": 256, "albert": 64}
"""For Captum's sum: of the three, one score changes on a short part of the path."""


@pytest.mark.long
@pytest.mark.parametrize("key", MODEL_KEYS)
def test_integrated_gradients_are_captums_and_add_up(tuned_family, key, monkeypatch):
    network, tokenizer = by_peft(tuned_family, key, "sst2")
    inputs = tokenizer(TEXT, return_special_tokens_mask=True, return_tensors="pt")
    ids, added = inputs["input_ids"], inputs["special_tokens_mask"].bool()
    words = network.get_input_embeddings()
    start = torch.where(added, ids, torch.full_like(ids, tokenizer.mask_token_id))

    def difference(embedded):
        logits = network(inputs_embeds=embedded).logits
        return logits[:, 1] - logits[:, 0]

    wanted = IntegratedGradients(difference).attribute(
        words(ids).detach(), words(start).detach(), n_steps=STEPS[key], method="gausslegendre"
    )
    tuned = tuned_model(tuned_family.loaded(key), "sst2")
    rough = margin_slopes(tuned, TEXT, POSITIVE)
    assert rough.attributions == pytest.approx(wanted.sum(-1)[0].numpy(), abs=MISS)
    monkeypatch.setattr(gradients, "MISS", 1e-3)
    found = margin_slopes(tuned, TEXT, POSITIVE)
    assert found.attributions == pytest.approx(wanted.sum(-1)[0].numpy(), abs=1e-2)
    assert found.attributions[np.array(found.tokens.special)] == pytest.approx(0)
    with torch.no_grad():
        ends = [float(difference(words(one))) for one in (ids, start)]
    assert (found.difference, found.baseline) == pytest.approx(ends, abs=1e-4)
    assert np.abs(found.attributions).max() > 1e-3


class LockWithHooks:
    """Lock of a network with hooks of another thread, which removes them before it releases it."""

    def __init__(self, ends):
        self.ends = ends

    def __enter__(self):
        self.ends()

    def __exit__(self, *_):
        pass


@pytest.mark.parametrize("change", ["heads", "depth"])
def test_what_others_do_to_the_network_meanwhile_is_not_copied(tuned_family, change):
    loaded = tuned_family.loaded("albert")
    clean = margins(tuned_model(loaded, "sst2"), [TEXT], POSITIVE)
    shape = loaded.spec.architecture
    off = torch.zeros(1, shape.n_layers, shape.n_heads)
    changed = with_head_mask(loaded, off) if change == "heads" else with_depth(loaded, 1)
    changed.__enter__()
    meanwhile = replace(loaded, lock=LockWithHooks(lambda: changed.__exit__(None, None, None)))
    assert margins(tuned_model(meanwhile, "sst2"), [TEXT], POSITIVE) == pytest.approx(
        clean, abs=1e-6
    )


def test_what_stops_a_measurement_does_not_stop_the_tuned_network(tuned_family):
    loaded = tuned_family.loaded("bert")

    def stopped():
        raise Cancelled("stopped")

    with interruptible([(loaded.spec, loaded.network)], 8, stopped):
        tuned = tuned_model(loaded, "sst2")
    assert np.isfinite(margins(tuned, [TEXT], POSITIVE)).all()


def slope_at(tuned, text, places):
    """What every token adds at some places of the path to the text, by torch alone."""
    tokens = classifiers.tokenize(tuned.loaded, text)
    mask_id = tuned.loaded.tokenizer.mask_token_id
    path = gradients.embedding_path(tuned.network.get_input_embeddings(), tokens, mask_id)
    found = []
    for batch in np.array_split(places, len(places) // 16):
        share = torch.tensor(batch, dtype=torch.float32)[:, None, None]
        at = (path.start + share * path.step).requires_grad_()
        logits = tuned.network(inputs_embeds=at).logits
        (slopes,) = torch.autograd.grad((logits[:, 1] - logits[:, 0]).sum(), at)
        found.append((slopes * path.step).sum(-1).double().numpy())
    return np.concatenate(found)


@pytest.mark.long
def test_where_the_sum_misses_the_change_the_path_is_halved(monkeypatch):
    """mini-BERT's score changes on a short part of the path: 16 points over all miss it by 1.4."""
    tuned, points, slopes = tuned_model(load_model(MINI["bert"]), "sst2"), [], gradients.slopes_at
    monkeypatch.setattr(gradients, "slopes_at", lambda t, at: points.extend(at) or slopes(t, at))
    wanted, errors, off = 0, [], []
    nodes, weights = np.polynomial.legendre.leggauss(192)
    for text in (
        "A gorgeous, witty, seductive movie.",
        "good film",
        "It is not a bad film at all.",
    ):
        found = margin_slopes(tuned, text, POSITIVE)
        errors.append(found.attributions.sum() - (found.difference - found.baseline))
        exact = weights / 2 @ slope_at(tuned, text, (nodes + 1) / 2)
        off.extend(found.attributions - exact)
        wanted += 4 * gradients.PARTS + 1
    assert np.abs(errors).max() < 2 * MISS
    assert np.abs(off).max() < MISS
    assert wanted < len(points) < 4 * wanted


def test_tokens_that_are_off_alike_in_both_directions_are_seen(monkeypatch):
    """Their errors add up to nothing: the sum alone would call a far too coarse rule exact."""

    class SteepPath(gradients.Integrand):
        def __init__(self):
            self.asked = set()

        @property
        def n_points(self):
            return len(self.asked)

        def values(self, places):
            return np.zeros(np.shape(places))

        def noise(self):
            return 0.0

        def sums(self, parts, weights):
            at = np.linspace(*parts.T, len(weights), axis=1)
            self.asked.update(at.flat)
            slope = 100 * np.exp(-(((at - 0.3) / 0.05) ** 2)) @ weights * np.diff(parts)[:, 0]
            return np.stack([slope, -slope], 1)

    path, tokens = SteepPath(), type("Two", (), {"ids": (1, 2)})
    monkeypatch.setattr(gradients, "Integrand", lambda *_: path)
    found = gradients.integrated(type("Any", (), {"tokens": tokens}), None, None)
    assert found.attributions[0] == pytest.approx(100 * 0.05 * np.sqrt(np.pi), abs=MISS)
    assert found.n_points == len(path.asked) > 4 * gradients.PARTS + 1


def test_a_path_that_never_adds_up_ends(tuned_family, monkeypatch):
    monkeypatch.setattr(gradients, "MISS", -1)
    monkeypatch.setattr(gradients, "NARROWEST", 1 / 8)
    monkeypatch.setattr(gradients.Integrand, "noise", lambda _: -1)
    tuned = tuned_model(tuned_family.loaded("albert"), "sst2")
    found = margin_slopes(tuned, TEXT, POSITIVE)
    assert found.attributions.sum() == pytest.approx(found.difference - found.baseline, abs=1e-4)


def spans_by_hand(network, tokenizer, passage, size, stride):
    """Place, start and end logits of every token of the passage, from the window with the most
    company around it."""
    whole = tokenizer(passage, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
    encoding = tokenizer(
        QUESTION,
        passage,
        truncation="only_second",
        max_length=size,
        stride=stride,
        return_overflowing_tokens=True,
        return_offsets_mapping=True,
        return_token_type_ids=True,
    )
    read = {}
    for i, ids in enumerate(encoding["input_ids"]):
        sides = encoding.sequence_ids(i)
        inputs = {"input_ids": torch.tensor([ids])}
        begin = sides.index(1)
        if getattr(network.config, "type_vocab_size", 0):
            inputs["token_type_ids"] = torch.tensor([[int(k >= begin) for k in range(len(ids))]])
        with torch.no_grad():
            out = network(**inputs)
        inside = [k for k, side in enumerate(sides) if side == 1]
        before = (
            i * (size - len(ids) + len(inside) - stride)
            if i + 1 < len(encoding["input_ids"])
            else (len(whole["input_ids"]) - len(inside))
        )
        assert whole["input_ids"][before : before + len(inside)] == [ids[k] for k in inside]
        for n, k in enumerate(inside, before):
            first, last = whole["offset_mapping"][n]
            while passage[first:last] and passage[first].isspace():
                first += 1
            company = min(k - inside[0], inside[-1] - k)
            scores = (float(out.start_logits[0, k]), float(out.end_logits[0, k]))
            if n not in read or company > read[n][0]:
                read[n] = (company, (first, last), scores)
    assert list(read) == list(range(len(whole["input_ids"])))
    return [one[1:] for one in read.values()], len(encoding["input_ids"])


@pytest.mark.parametrize("passage", [PASSAGE, SHARED])
@pytest.mark.parametrize("key", MODEL_KEYS)
def test_spans_are_those_of_transformers_over_a_passage_of_many_windows(tuned_family, key, passage):
    network, tokenizer = by_peft(tuned_family, key, "squad")
    read, n_windows = spans_by_hand(network, tokenizer, passage, 48, 12)
    assert n_windows > 2
    tuned = tuned_model(tuned_family.loaded(key), "squad")
    found = answer_spans(*span_logits(tuned, QUESTION, passage))
    places = [place for place, _ in read]
    assert list(found.token_spans) == places
    assert (len(set(places)) < len(places)) == (key == "albert"), "its ▁ shares the next letter's"
    logits = torch.tensor([scores for _, scores in read], dtype=torch.float64)
    start, end = logits.softmax(0).T.numpy()
    assert found.start == pytest.approx(start, abs=1e-5)
    assert found.end == pytest.approx(end, abs=1e-5)
    scored = {}
    for i in range(len(places)):
        for j in range(i, min(i + LONGEST, len(places))):
            place = (places[i][0], places[j][1])
            if place[0] < place[1]:
                scored[place] = max(scored.get(place, 0), start[i] * end[j])
    best = sorted(scored, key=scored.get, reverse=True)[:3]
    assert [(s.start, s.end) for s in found.best] == best
    assert [s.score for s in found.best] == pytest.approx([scored[b] for b in best], abs=1e-6)


def test_as_many_windows_as_are_allowed_are_read_and_one_more_is_refused(tuned_family, monkeypatch):
    tuned = tuned_model(tuned_family.loaded("bert"), "squad")
    n_windows = len(span_logits(tuned, QUESTION, PASSAGE)[0])
    monkeypatch.setattr(classifiers, "MAX_WINDOWS", n_windows)
    assert len(span_logits(tuned, QUESTION, PASSAGE)[0]) == n_windows
    monkeypatch.setattr(classifiers, "MAX_WINDOWS", n_windows - 1)
    with pytest.raises(BadText, match=f"{n_windows} windows"):
        span_logits(tuned, QUESTION, PASSAGE)


def test_all_weights_but_the_adapters_are_the_base_networks_own(tuned_family):
    loaded = tuned_family.loaded("bert")
    before = loaded.network.bert.encoder.layer[0].attention.self.query.weight.clone()
    tuned = tuned_model(loaded, "squad")
    own = {id(p) for p in loaded.network.base_model.parameters()}
    new = [n for n, p in tuned.network.named_parameters() if id(p) not in own]
    parts = {n.split(".layer.")[-1].split(".", 1)[-1] for n in new if "layer" in n}
    assert parts == {"attention.self.query.weight", "attention.self.value.weight"}
    assert [n for n in new if "layer" not in n] == ["qa_outputs.weight", "qa_outputs.bias"]
    assert torch.equal(loaded.network.bert.encoder.layer[0].attention.self.query.weight, before)


def test_an_adapter_of_other_weights_is_refused_in_a_sentence(tuned_family, tmp_path, monkeypatch):
    shutil.copytree(tuned_family.path, tmp_path / "m")
    card = tmp_path / "m" / "mini-bert" / "tasks" / "sst2" / "card.json"
    card.write_text(json.dumps(json.loads(card.read_text()) | {"base_sha256": "0" * 64}))
    monkeypatch.setattr(specs, "BUNDLED", tmp_path / "m")
    loaded = tuned_family.loaded("bert")
    with pytest.raises(NotTuned, match=r"has an adapter for other weights.*--task sst2"):
        tuned_model(loaded, "sst2")
    tuned_model(loaded, "squad")
    shutil.rmtree(card.parent)
    with pytest.raises(NotTuned, match=r"has no adapter for this task.*-m training tasks"):
        tuned_model(loaded, "sst2")


@pytest.mark.parametrize(
    ("question", "passage", "refusal"),
    [
        (QUESTION, " \x00 ", "There is no passage"),
        ("?", PASSAGE, "There is no question"),
        ("the cat " * 40, PASSAGE, "The question has .* tokens"),
        (QUESTION, "a" * 30_000, "characters"),
        (QUESTION, "the cat sat. " * 1200, "windows"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_a_sentence(tuned_family, question, passage, refusal):
    tuned = tuned_model(tuned_family.loaded("bert"), "squad")
    with pytest.raises(BadText, match=refusal):
        span_logits(tuned, question, read_passage(passage))
