"""The training loop: the numbers of a loop in plain torch, weight decay, seeds, and what ends it."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from explorer.models.forward import encoded_texts
from explorer.models.loading import given_model
from explorer.models.tuning import networks, training
from explorer.models.tuning.networks import (
    classifier_on,
    decay_groups,
    head_modules,
    merged,
    trained_weights,
    with_lora,
)
from explorer.models.tuning.training import (
    Curves,
    EncodedRows,
    Epoch,
    NotFinite,
    Tuning,
    TuningPlan,
    epoch_batches,
    predicted,
)
from explorer.refusal import Refusal
from tests.tiny_models import make_albert, make_bert, make_distilbert

pytestmark = pytest.mark.long  # not needed at every save

MAKERS = {
    "bert": lambda: make_bert(2, 2, 24),
    "distilbert": lambda: make_distilbert(2, 2, 24),
    "albert": lambda: make_albert(2, 2, 24, 12),
}
NORMS = {"bert": 5, "distilbert": 5, "albert": 3}
"""Layer norms of two layers and of the embeddings; ALBERT's layers share theirs."""
TEXTS = [
    f"the {animal} sat on the mat{' and it was good' * (n % 4)}."
    for n in range(10)
    for animal in ("cat", "dog")
]
TRUTH = np.array([0, 1] * 10)
by_kind = pytest.mark.parametrize("kind", MAKERS)


def loaded_of(kind, dropout=0.0):
    network, tokenizer = MAKERS[kind]()
    for module in network.modules():
        if isinstance(module, nn.Dropout):
            module.p = dropout
    for name in (
        "hidden_dropout_prob",
        "attention_probs_dropout_prob",
        "dropout",
        "attention_dropout",
        "seq_classif_dropout",
        "classifier_dropout_prob",
    ):
        if hasattr(network.config, name):
            setattr(network.config, name, dropout)
    return given_model(kind, network.eval(), tokenizer)


def rows_of(loaded):
    return EncodedRows.of(loaded, encoded_texts(loaded, TEXTS, 512), TRUTH, "float32")


@by_kind
def test_every_step_is_that_of_a_loop_in_plain_torch(kind):
    loaded, plan = loaded_of(kind), TuningPlan("full", 2, 1e-3)
    network = classifier_on(loaded, ("a", "b"), 0)
    by_hand = copy.deepcopy(network).train()
    tuning = Tuning(network, rows_of(loaded), plan, 3)
    train = [*range(18)]
    for _ in tuning.run(train, [18, 19]):
        pass
    plain = [p for p in by_hand.parameters() if p.ndim < 2]
    groups = [
        {"params": [p for p in by_hand.parameters() if p.ndim > 1], "weight_decay": 0.01},
        {"params": plain, "weight_decay": 0.0},
    ]
    adam, losses = torch.optim.AdamW(groups, lr=1e-3), []
    batches = [batch for epoch in (0, 1) for batch in epoch_batches(train, 3, epoch)]
    schedule = torch.optim.lr_scheduler.LambdaLR(adam, lambda step: [1, 1, 2 / 3, 1 / 3, 0][step])
    for batch in batches:
        inputs = loaded.tokenizer([TEXTS[i] for i in batch], padding=True, return_tensors="pt")
        if kind == "distilbert":
            inputs.pop("token_type_ids", None)
        loss = cross_entropy(by_hand(**inputs).logits, torch.tensor(TRUTH[batch]))
        adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(by_hand.parameters(), 1.0)
        adam.step()
        schedule.step()
        losses.append(float(loss.detach()))
    assert len(batches) == 4
    np.testing.assert_allclose(tuning.curves.losses, losses, atol=1e-6)


@by_kind
def test_biases_and_norms_are_not_decayed_and_all_else_is(kind):
    network = classifier_on(loaded_of(kind), ("a", "b"), 0)
    decayed, spared = (group["params"] for group in decay_groups(network))
    assert all(p.ndim > 1 for p in decayed)
    assert all(p.ndim == 1 for p in spared)
    assert len(decayed) + len(spared) == len([*network.parameters()])
    norms = [m for m in network.modules() if isinstance(m, nn.LayerNorm)]
    assert len(norms) == NORMS[kind]
    ids = {id(p) for p in spared}
    assert all(id(p) in ids for m in norms for p in m.parameters())


@by_kind
def test_the_encoder_is_copied_and_left_as_it_was_and_the_head_follows_the_seed(kind):
    loaded = loaded_of(kind)
    before = copy.deepcopy(loaded.network.state_dict())
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    first, again, other = (classifier_on(loaded, ("a", "b", "c"), seed) for seed in (0, 0, 1))
    assert torch.equal(torch.rand(1), expected)
    for name, value in loaded.network.base_model.state_dict().items():
        assert torch.equal(first.base_model.state_dict()[name], value)
    assert torch.equal(first.classifier.weight, again.classifier.weight)
    assert not torch.equal(first.classifier.weight, other.classifier.weight)
    assert first.config.id2label == {0: "a", 1: "b", 2: "c"}
    for _ in Tuning(first, rows_of(loaded), TuningPlan("full", 1, 1e-2)).run(
        [*range(16)], [16, 17]
    ):
        pass
    after = loaded.network.state_dict()
    assert all(torch.equal(value, after[name]) for name, value in before.items())


@by_kind
def test_lora_trains_queries_values_and_the_whole_head_and_merges_to_the_same_answers(kind):
    loaded = loaded_of(kind)
    plain = classifier_on(loaded, ("a", "b"), 0)
    names = head_modules(plain)
    adapted = with_lora(plain, loaded.spec.kind, 0)
    trained = trained_weights(adapted)
    assert all("lora_" in name or "modules_to_save" in name for name in trained)
    saved = {
        name.split(".modules_to_save")[0].rpartition(".")[2]
        for name in trained
        if "modules_to_save" in name
    }
    assert (
        saved
        == set(names)
        == ({"pre_classifier", "classifier"} if kind == "distilbert" else {"pooler", "classifier"})
    )
    frozen = {n: p.detach().clone() for n, p in adapted.named_parameters() if n not in trained}
    rows = rows_of(loaded)
    for _ in Tuning(adapted, rows, TuningPlan("lora", 1, 1e-2)).run([*range(16)], [16, 17]):
        pass
    asked = [*range(20)]
    before = training.logits_of(adapted, rows, asked)
    same = dict(adapted.named_parameters())
    assert all(torch.equal(value, same[name]) for name, value in frozen.items())
    network = merged(adapted)
    assert "lora" not in " ".join(network.state_dict())
    torch.testing.assert_close(training.logits_of(network, rows, asked), before, atol=1e-5, rtol=0)


def test_a_batch_of_many_tokens_is_computed_in_parts_with_the_same_step(monkeypatch):
    loaded = loaded_of("bert")
    first = classifier_on(loaded, ("a", "b"), 0)
    second = copy.deepcopy(first)
    one = Tuning(first, rows_of(loaded), TuningPlan("full", 1, 1e-3))
    loss = one.step([*range(16)], 1e-3)
    monkeypatch.setattr(training, "MOST_TOKENS", 40)
    two = Tuning(second, rows_of(loaded), TuningPlan("full", 1, 1e-3))
    assert len([*rows_of(loaded).parts([*range(16)])]) > 4
    assert two.step([*range(16)], 1e-3) == pytest.approx(loss, abs=1e-6)
    for p, q in zip(first.parameters(), second.parameters(), strict=True):
        torch.testing.assert_close(p, q, atol=2e-4, rtol=0)  # Adam divides by the gradient's size


def test_dropout_follows_the_seed_and_leaves_the_caller_s_random_numbers():
    loaded = loaded_of("bert", 0.2)
    losses = []
    for seed in (1, 1, 2):
        torch.manual_seed(9)
        network = classifier_on(loaded, ("a", "b"), 0)
        tuning = Tuning(network, rows_of(loaded), TuningPlan("full", 1, 1e-3), seed)
        losses.append([tuning.step([*range(16)], 1e-3) for _ in range(2)])
        assert float(torch.rand(1)) == pytest.approx(0.6558, abs=1e-3)
    assert losses[0] == losses[1] != losses[2]


def test_the_rate_rises_and_falls_in_lines():
    plan = TuningPlan("full", 1, 1.0)
    rates = [plan.rate_at(step, 20) for step in range(20)]
    assert rates[:3] == [0.5, 1.0, 1.0]
    np.testing.assert_allclose(np.diff(rates[2:]), -1 / 18)
    assert rates[-1] == pytest.approx(1 / 18)


def test_batches_hold_each_row_once_in_an_order_by_seed_and_epoch():
    rows = [*range(100, 140)]
    first = epoch_batches(rows, 0, 0)
    assert sorted(row for batch in first for row in batch) == rows
    assert [len(batch) for batch in first] == [16, 16, 8]
    assert first == epoch_batches(rows, 0, 0)
    assert first != epoch_batches(rows, 1, 0) != epoch_batches(rows, 0, 1)


def test_the_weights_are_those_of_the_best_epoch_and_training_ends_when_it_gets_no_better():
    loaded = loaded_of("bert")
    network = classifier_on(loaded, ("a", "b"), 0)
    early = [16, 17, 18, 19]
    truth = TRUTH.copy()
    truth[early] = 1 - truth[early]  # what the other rows teach is wrong of these
    rows = replace(rows_of(loaded), truth=truth)
    tuning, kept = Tuning(network, rows, TuningPlan("full", 12, 1e-2)), []
    for step in tuning.run([*range(16)], early):
        if len(step.curves.epochs) > len(kept):
            kept.append(copy.deepcopy(network.state_dict()))
    epochs = tuning.curves.epochs
    best = tuning.curves.best
    assert len(kept) == len(epochs) == best + 1 + 3 < 12
    assert all(torch.equal(value, network.state_dict()[n]) for n, value in kept[best].items())
    logits = training.logits_of(network, rows, early)
    assert float(cross_entropy(logits, torch.tensor(truth[early]))) == pytest.approx(
        epochs[best].loss
    )
    assert (
        predicted(network, rows, [3]).tolist()
        == training.logits_of(network, rows, [3]).argmax(-1).tolist()
    )


def curves_of(accuracies, early, patience=2):
    return Curves(
        9, patience, early, epochs=tuple(Epoch(n, 0.0, n, a) for n, a in enumerate(accuracies))
    )


@pytest.mark.parametrize(
    ("accuracies", "early", "best"),
    [
        ([0.5, 0.8, 0.8], 25, 2),  # the latest of equal ones, although its loss is higher
        ([0.5, 0.8, 0.72], 25, 2),  # a standard error of 0.8 on 25 rows is 0.08
        ([0.5, 0.8, 0.71], 25, 1),
        ([0.5, 0.8, 0.72], 100, 1),
        ([0.9, 1.0, 0.96], 25, 1),  # an accuracy of 1 has none
        ([0.0], 4, 0),
    ],
)
def test_the_best_epoch_is_the_latest_within_a_standard_error_of_the_highest_accuracy(
    accuracies, early, best
):
    assert curves_of(accuracies, early).best == best


def test_training_is_over_two_epochs_after_the_best_one():
    accuracies = [0.5, 0.9, 0.6, 0.6]
    found = [curves_of(accuracies[:n], 100).is_over for n in (1, 2, 3, 4)]
    assert found == [False] * 3 + [True]
    assert not curves_of(accuracies, 100, patience=3).is_over


def test_a_loss_that_is_no_number_has_its_sentence():
    loaded = loaded_of("bert")
    network = classifier_on(loaded, ("a", "b"), 0)
    with torch.no_grad():
        network.classifier.weight[0, 0] = float("nan")
    tuning = Tuning(network, rows_of(loaded), TuningPlan("full", 1, 1e-3))
    with pytest.raises(NotFinite, match=r"was no number in step 1: .* rate 0\.001 is too high"):
        for _ in tuning.run([*range(16)], [16, 17]):
            pass


def test_a_method_that_is_not_there_is_refused_and_lora_names_its_package(monkeypatch):
    with pytest.raises(Refusal, match="one of: full, lora"):
        networks.check_method("adapters")
    monkeypatch.setattr(networks, "find_spec", lambda _: None)
    networks.check_method("full")
    with pytest.raises(Refusal, match=r"LoRA needs the package peft: pip install"):
        networks.check_method("lora")


def test_few_rows_are_read_more_often_and_narrow_encoders_learn_faster():
    assert [training.usual_epochs(n) for n in (16, 31, 160, 192, 500)] == [60, 30, 6, 5, 5]
    assert training.usual_rate("full", 768) == 5e-5
    assert training.usual_rate("full", 384) == pytest.approx(2e-4)
    assert training.usual_rate("lora", 384) == pytest.approx(1e-3)
