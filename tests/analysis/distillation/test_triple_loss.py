import math

import pytest
import torch
from torch import nn

from explorer.analysis.distillation.triple_loss import (
    distillation_ce,
    hidden_cosine,
    mlm_loss,
    triple_loss,
)


@pytest.fixture
def scores():
    generator = torch.Generator().manual_seed(3)
    return torch.randn(2, 5, 11, generator=generator), torch.randn(2, 5, 11, generator=generator)


def kl_by_hand(student, teacher, temperature):
    total = 0.0
    rows = zip(student.reshape(-1, 11).tolist(), teacher.reshape(-1, 11).tolist(), strict=True)
    for s, t in rows:
        q = [math.exp(v / temperature) for v in s]
        p = [math.exp(v / temperature) for v in t]
        total += sum(
            a / sum(p) * (math.log(a / sum(p)) - math.log(b / sum(q)))
            for a, b in zip(p, q, strict=True)
        )
    return temperature**2 * total / 10


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0, 7.0])
def test_distillation_ce_is_the_scaled_kl_of_teacher_over_student(scores, temperature):
    student, teacher = scores
    ours = distillation_ce(student, teacher, temperature).item()
    assert ours == pytest.approx(kl_by_hand(student, teacher, temperature), abs=1e-5)
    assert ours != pytest.approx(kl_by_hand(teacher, student, temperature), abs=1e-3)


def test_distillation_ce_agrees_with_the_published_form(scores):
    student, teacher = scores
    published = (
        nn.KLDivLoss(reduction="batchmean")(
            nn.functional.log_softmax(student.reshape(-1, 11) / 2.0, dim=-1),
            nn.functional.softmax(teacher.reshape(-1, 11) / 2.0, dim=-1),
        )
        * 2.0**2
    )
    torch.testing.assert_close(distillation_ce(student, teacher), published)


def test_distillation_ce_vanishes_on_itself_and_ignores_a_shift(scores):
    student, teacher = scores
    assert distillation_ce(student, student).item() == pytest.approx(0, abs=1e-6)
    torch.testing.assert_close(
        distillation_ce(student + 4, teacher), distillation_ce(student, teacher)
    )


def test_hidden_cosine_agrees_with_the_cosine_embedding_loss(scores):
    student, teacher = scores
    flat_s, flat_t = student.reshape(-1, 11), teacher.reshape(-1, 11)
    published = nn.CosineEmbeddingLoss()(flat_s, flat_t, torch.ones(10))
    torch.testing.assert_close(hidden_cosine(student, teacher), published)


def test_hidden_cosine_leaves_padding_out(scores):
    student, teacher = scores
    mask = torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]])
    spoiled = teacher.clone()
    spoiled[0, 3:] = 99
    torch.testing.assert_close(
        hidden_cosine(student, spoiled, mask), hidden_cosine(student, teacher, mask)
    )
    assert hidden_cosine(student, spoiled) != hidden_cosine(student, teacher)


def test_hidden_cosine_bounds(scores):
    student, _ = scores
    assert hidden_cosine(student, 3 * student).item() == pytest.approx(0, abs=1e-6)
    assert hidden_cosine(student, -student).item() == pytest.approx(2, abs=1e-6)


def test_mlm_loss_counts_labelled_positions_only(scores):
    logits, _ = scores
    labels = torch.full((2, 5), -100)
    labels[0, 2], labels[1, 4] = 7, 1
    by_hand = -(logits[0, 2].log_softmax(-1)[7] + logits[1, 4].log_softmax(-1)[1]) / 2
    torch.testing.assert_close(mlm_loss(logits, labels), by_hand)


def test_triple_loss_weighs_five_two_one():
    parts = torch.tensor(0.5), torch.tensor(3.0), torch.tensor(0.25)
    assert triple_loss(*parts).item() == pytest.approx(5 * 0.5 + 2 * 3.0 + 0.25)
    without_ce = {"ce": 0.0, "mlm": 2.0, "cos": 1.0}
    assert triple_loss(*parts, without_ce).item() == pytest.approx(6.25)


def test_bad_input_is_refused_in_words(scores):
    student, teacher = scores
    for temperature in (0, -1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="temperature"):
            distillation_ce(student, teacher, temperature)
    with pytest.raises(ValueError, match="same words"):
        distillation_ce(student, teacher[..., :4])
    with pytest.raises(ValueError, match="same shape"):
        hidden_cosine(student, teacher[..., :4])
    with pytest.raises(ValueError, match="no MLM loss"):
        mlm_loss(student, torch.full((2, 5), -100))
