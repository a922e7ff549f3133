"""Soft probabilities and losses against plain torch on twenty texts, and their laws."""

import numpy as np
import pytest
import torch
from torch.nn import functional
from torch.nn.functional import log_softmax

from explorer.analysis.distillation.soft import (
    BadTemperature,
    NotAPair,
    agreement_at_large,
    centred,
    check_temperature,
    dark_knowledge,
    shared_vocabulary,
    soft_pair,
    union_ids,
)
from explorer.analysis.measures import softmax

SUBJECTS = ["the cat", "a dog", "she", "he", "london"]
ENDINGS = [
    "sat on the [MASK].",
    "is not [MASK] and good",
    "was in [MASK], 7 2!",
    "played a [MASK]?",
]
TEXTS = [f"{subject} {ending}" for subject in SUBJECTS for ending in ENDINGS]


def reference(tiny_family, key, text):
    """Logits at the mask by a plain forward pass of the whole network."""
    loaded = tiny_family.loaded(key)
    ids = loaded.tokenizer(text, return_tensors="pt")
    out = loaded.network(input_ids=ids["input_ids"])
    logits = out.prediction_logits if "prediction_logits" in out else out.logits
    return logits[0][ids["input_ids"][0] == loaded.tokenizer.mask_token_id][0]


@pytest.mark.long
@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0, 9.0])
@pytest.mark.parametrize("text", TEXTS)
def test_a_pair_equals_plain_torch(tiny_family, text, temperature):
    teacher, student = tiny_family.run("bert", text), tiny_family.run("distilbert", text)
    pair = soft_pair(teacher, student, 0, temperature, top_k=10)
    t, s = (
        reference(tiny_family, key, text).double() / temperature for key in ("bert", "distilbert")
    )
    p, q = t.softmax(-1), s.softmax(-1)
    mixture = (p + q) / 2
    expected = {
        "kl_teacher_student": functional.kl_div(s.log_softmax(-1), p, reduction="sum"),
        "kl_student_teacher": functional.kl_div(t.log_softmax(-1), q, reduction="sum"),
        "js": (
            functional.kl_div(mixture.log(), p, reduction="sum")
            + functional.kl_div(mixture.log(), q, reduction="sum")
        )
        / 2,
        "entropy_teacher": torch.distributions.Categorical(p).entropy(),
        "entropy_student": torch.distributions.Categorical(q).entropy(),
        "dark_knowledge": 1 - p.max(),
    }
    for name, value in expected.items():
        assert getattr(pair, name) == pytest.approx(float(value), abs=1e-4), name
    assert np.allclose(pair.teacher, p[torch.tensor(pair.ids)].numpy(), atol=1e-4)
    assert np.allclose(pair.student, q[torch.tensor(pair.ids)].numpy(), atol=1e-4)
    both = set(p.topk(10).indices.tolist()) | set(q.topk(10).indices.tolist())
    assert set(pair.ids.tolist()) == both
    assert np.all(np.diff(pair.teacher) <= 1e-12)


def test_twenty_texts_are_twenty():
    assert len(set(TEXTS)) == 20


def test_a_hot_softmax_tends_to_uniform_and_a_cold_one_to_the_first_choice():
    logits = np.random.default_rng(0).normal(size=500) * 3
    assert np.allclose(softmax(logits, 1e6), 1 / 500, atol=1e-6)
    assert softmax(logits, 1e-3).max() == pytest.approx(1.0)


def test_dark_knowledge_grows_with_temperature():
    logits = np.random.default_rng(1).normal(size=300) * 4
    values = [dark_knowledge(logits, t) for t in (0.05, 0.5, 1, 2, 5, 20)]
    assert values == sorted(values)
    assert values[0] < values[-1] < 1 - 1 / 300


def test_a_model_does_not_differ_from_itself(tiny_family):
    run = tiny_family.run("bert", TEXTS[0])
    pair = soft_pair(run, run, 0, 2.0)
    assert pair.kl_teacher_student == pair.kl_student_teacher == pair.js == 0


def test_only_models_of_one_vocabulary_are_a_pair(tiny_family):
    with pytest.raises(NotAPair, match="vocabulary"):
        soft_pair(tiny_family.run("bert", TEXTS[0]), tiny_family.run("albert", TEXTS[0]))


@pytest.mark.parametrize(
    "bad", [0, -1, 0.04, 21, float("nan"), float("inf"), "warm", None, 10**400]
)
def test_a_bad_temperature_is_one_plain_sentence(bad):
    with pytest.raises(BadTemperature, match=r"from 0\.05 to 20"):
        check_temperature(bad)


@pytest.mark.parametrize("temperature", [0.05, 0.1, 0.3, 1, 2, 7, 20])
@pytest.mark.parametrize("spread", [0.5, 2, 5])
def test_what_the_browser_prints_is_exact(temperature, spread):
    """Probabilities and divergences from what is sent, against float64 of what was computed."""
    pair = np.random.default_rng(7).normal(size=(2, 30_522)).astype(np.float32) * spread - 6
    exact = log_softmax(torch.from_numpy(pair).double() / temperature, -1)
    sent = log_softmax(
        torch.tensor(np.stack([centred(row) for row in pair])).double() / temperature, -1
    )
    assert float((exact.exp() - sent.exp()).abs().max()) < 1e-5
    kl, of_sent = ((x[0].exp() * (x[0] - x[1])).sum() for x in (exact, sent))
    assert float(kl - of_sent) == pytest.approx(0, abs=5e-5)
    assert centred(pair[0]).max() == 0


def test_the_list_of_words_does_not_depend_on_temperature():
    rng = np.random.default_rng(2)
    t, s = rng.normal(size=400), rng.normal(size=400)
    words = set(union_ids(t, s, 8).tolist())
    for temperature in (0.05, 1, 20):
        p, q = softmax(t, temperature), softmax(s, temperature)
        assert words == set(np.argsort(-p)[:8].tolist()) | set(np.argsort(-q)[:8].tolist())


def test_pieces_are_shared_by_letters_and_by_place_in_the_word():
    first = ("[MASK]", "play", "##ing", "ing", ".", "zebra", "a")
    second = ("<pad>", "[MASK]", "▁play", "ing", ".", "a", "▁", "x")
    shared = shared_vocabulary(first, second)
    assert shared.partner.tolist() == [-1, 2, 3, -1, 4, -1, -1]
    assert shared.share_first == pytest.approx(3 / 7)
    assert shared.share_second == pytest.approx(3 / 8)


def test_agreement_counts_what_it_says():
    teacher = np.log(np.array([[0.5, 0.2, 0.1, 0.08, 0.07, 0.05]] * 3))
    student = teacher.copy()
    student[1] = teacher[1][[1, 0, 2, 3, 4, 5]]
    student[2] = teacher[2][::-1]
    found = agreement_at_large(teacher, student, np.array([0, 1, -1]))
    assert found.same_first.tolist() == [True, False, False]
    assert found.shared_five.tolist() == [5, 5, 4]
    assert found.teacher_right.tolist() == [True, False, False]
    assert found.student_right.tolist() == [True, True, False]
    p, q = np.exp(teacher[2]), np.exp(student[2])
    assert found.kl[0] == pytest.approx(0, abs=1e-12)
    assert found.kl[2] == pytest.approx(float((p * np.log(p / q)).sum()))
    assert found.worst.tolist() == [2, 1, 0]
