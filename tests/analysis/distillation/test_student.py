"""Live distillation: it learns, repeats itself, leaves the serving network alone, and queues."""

import copy
import hashlib
import re
from itertools import islice

import numpy as np
import pytest

from explorer.analysis.distillation import live
from explorer.analysis.distillation.live import (
    BadSettings,
    LiveSettings,
    WatchedSentence,
    bundled_sentences,
    made_up_sentences,
    questions_of,
    split_sentences,
)
from explorer.analysis.distillation.student import (
    distil_live,
    fresh_student,
    masked_batch,
    run_batch,
    student_layers,
)

SHORT = LiveSettings(layers=1, steps=12, seed=4)


def checksum(network):
    digest = hashlib.sha256()
    for name, tensor in network.state_dict().items():
        digest.update(name.encode() + tensor.numpy().tobytes())
    return digest.hexdigest()


def curve(reports):
    return [
        (r.step, r.parts, r.agreement, None if r.soft is None else r.soft.tolist()) for r in reports
    ]


@pytest.mark.processes
def test_the_loss_falls_and_the_serving_network_stays_as_it_was(tiny_family, few_questions):
    loaded = tiny_family.loaded("bert")
    before = checksum(loaded.network)
    reports = list(distil_live(loaded, SHORT, WatchedSentence((2, 4, 3), 1, (7, 8))))
    assert [r.step for r in reports] == list(range(13))
    losses = [r.parts["loss"] for r in reports[1:]]
    assert np.mean(losses[-3:]) < np.mean(losses[:3])
    assert reports[0].agreement is not None
    assert reports[-1].agreement is not None
    assert reports[0].soft.shape == (2,)
    assert not np.allclose(reports[0].soft, reports[-1].soft)
    assert checksum(loaded.network) == before
    assert not loaded.network.training
    weighted = sum(SHORT.weights[part] * reports[5].parts[part] for part in SHORT.weights)
    assert reports[5].parts["loss"] == pytest.approx(weighted, rel=1e-4)


@pytest.mark.processes
def test_the_same_seed_gives_the_same_curve_and_another_does_not(tiny_family, few_questions):
    loaded = tiny_family.loaded("bert")
    one, two = (curve(islice(distil_live(loaded, SHORT), 4)) for _ in range(2))
    other = curve(islice(distil_live(loaded, LiveSettings(layers=1, steps=12, seed=5)), 4))
    assert one == two
    assert one != other


def test_a_copied_student_starts_with_the_teachers_layers(tiny_family):
    teacher = tiny_family.loaded("bert").network
    student = fresh_student(teacher, LiveSettings(layers=2))
    ours = student.distilbert.transformer.layer[0].ffn.lin1.weight
    assert ours.equal(teacher.bert.encoder.layer[2].intermediate.dense.weight)
    alone = fresh_student(teacher, LiveSettings(layers=2, start="random"))
    assert not alone.distilbert.transformer.layer[0].ffn.lin1.weight.equal(ours)


@pytest.mark.parametrize(("layers", "copied"), [(1, (5,)), (2, (2, 5)), (3, (1, 3, 5))])
def test_copied_layers_are_spread_and_end_with_the_last(layers, copied):
    assert student_layers(6, layers) == copied


def test_a_quarter_is_hidden_and_only_there_is_anything_masked(tiny_family):
    tokenizer = tiny_family.loaded("bert").tokenizer
    texts = [tokenizer(text)["input_ids"] for text in made_up_sentences(50)]
    batch = masked_batch(tokenizer, texts, np.random.default_rng(0))
    assert len(batch.labels) == len(batch.masked_positions)
    assert len(batch.masked_positions) / batch.tokens == pytest.approx(0.23, abs=0.04)
    now = batch.ids.reshape(-1)[batch.masked_positions]
    changed = now != batch.labels
    assert (now[changed] == tokenizer.mask_token_id).float().mean() > 0.7
    rest = np.delete(batch.ids.reshape(-1).numpy(), batch.masked_positions.numpy())
    assert tokenizer.mask_token_id not in rest


@pytest.mark.parametrize("key", ["bert", "albert"])
def test_a_teacher_without_a_pooler_answers_the_same_words(key, tiny_family):
    loaded = tiny_family.loaded(key)
    texts = [loaded.tokenizer(text)["input_ids"] for text in made_up_sentences(5)]
    batch = masked_batch(loaded.tokenizer, texts, np.random.default_rng(0))
    network = copy.deepcopy(loaded.network)
    network.base_model.pooler = None
    found = run_batch(network, batch)
    assert found.pair is None
    assert found.words.equal(run_batch(loaded.network, batch).words)


@pytest.mark.parametrize(
    "bad", [{"steps": 9}, {"layers": 4}, {"temperature": float("nan")}, {"ce": 11.0}, {"start": "x"},
            {"ce": 0, "mlm": 0, "cos": 0}, {"seed": -1}]
)  # fmt: skip
def test_bad_settings_are_one_sentence(bad):
    with pytest.raises(BadSettings):
        LiveSettings(**bad)


def test_sentences_are_seeded_and_the_held_out_ones_are_not_taught():
    assert made_up_sentences(20, 1) == made_up_sentences(20, 1) != made_up_sentences(20, 2)
    parts = live.PATTERNS, live.PEOPLE, live.PLACES, live.THINGS, live.ACTS, live.MOVES, live.TIMES
    known = {*re.findall(r"[a-z]+", str((*parts, live.STATES, live.FIELDS)).lower())}
    for sentence in made_up_sentences():
        assert {*re.findall(r"[a-z]+", sentence.lower())} <= known
        assert sentence[0].isupper()
    own, held_out = split_sentences()
    assert len(held_out) == len(bundled_sentences()) // 2
    assert not set(own) & {sentence.whole for sentence in held_out}
    assert not set(made_up_sentences()) & {sentence.whole for sentence in held_out}
    assert all(sentence.text.count("[MASK]") == 1 for sentence in bundled_sentences())


def test_a_held_out_sentence_asks_two_questions_with_one_mask_each():
    for sentence in split_sentences()[1]:
        (text, answer), (other, longest) = questions_of(sentence)
        assert (text, answer) == (sentence.text, sentence.answer)
        assert other.count("[MASK]") == 1
        assert other.replace("[MASK]", longest) == sentence.whole


@pytest.mark.slow
def test_in_the_default_run_agreement_rises_by_a_tenth():
    from explorer.models.loading import load_model
    from explorer.models.specs import MINI

    reports = [told for told in distil_live(load_model(MINI["bert"]), LiveSettings()) if told]
    exams = [report.agreement for report in reports if report.agreement]
    assert exams[-1].same_first >= exams[0].same_first + 0.1
    losses = [report.parts["loss"] for report in reports[1:]]
    assert np.mean(losses[-10:]) < 0.8 * np.mean(losses[:5])
