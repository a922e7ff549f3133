"""Checks that run the family's own networks: tampering with one changes what they find."""

import copy
import re
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import AutoModelForPreTraining

from explorer.analysis.claims import answer_checks as claims_pairs
from explorer.analysis.claims import answer_checks as claims_runs
from explorer.analysis.claims import architecture_checks as claims_attention
from explorer.analysis.claims import architecture_checks as claims_layers
from explorer.analysis.distillation.soft import NotAPair
from explorer.models.architectures import CheckModels, fill_randomly, sharing_network
from explorer.models.hub import ModelUnavailable

LOADED_CHECKS = [
    claims_layers.shared_layers,
    claims_layers.segment_effect,
    claims_layers.special_tokens,
    claims_layers.updated_rows,
    claims_attention.attention_formula,
    claims_attention.both_directions,
    claims_attention.position_effect,
    claims_runs.triple_loss_parts,
]


@pytest.fixture
def family(tiny_family):
    """Models of the random family; ``family(bert=other)`` puts another network in its place."""

    def untampered_models(**networks):
        def leased(key):
            own = tiny_family.loaded(key)
            return nullcontext(replace(own, network=networks[key]) if key in networks else own)

        return CheckModels("mini", leased)

    untampered_models.copy = lambda key: copy.deepcopy(tiny_family.loaded(key).network)
    untampered_models.spec = lambda key: tiny_family.specs[key]
    untampered_models.loaded = tiny_family.loaded
    return untampered_models


@pytest.mark.parametrize("check", LOADED_CHECKS, ids=lambda c: c.__name__)
def test_an_untampered_family_holds(family, check):
    measured = check(family())
    assert measured.holds, measured.text
    assert measured.on


@pytest.mark.long
@pytest.mark.parametrize("check", LOADED_CHECKS, ids=lambda c: c.__name__)
def test_a_bert_without_a_pooler_gives_the_same(family, check):
    network = family.copy("bert")
    network.base_model.pooler = None
    assert check(family(bert=network)).text == check(family()).text


@pytest.mark.long
def test_broken_sharing_is_noticed(family):
    spec = family.spec("albert")
    broken = sharing_network(spec, "none").to_empty(device="cpu")
    broken.tie_weights()
    assert not claims_layers.shared_layers(family(albert=fill_randomly(broken, 0))).holds


def test_an_added_pooler_is_noticed(family):
    network = family.copy("distilbert")
    network.base_model.pooler = torch.nn.Linear(4, 4)
    measured = claims_layers.segment_effect(family(distilbert=network))
    assert not measured.holds
    assert measured.quantities["distilbert_nsp_weights"].value == 2


def test_segment_embeddings_in_distilbert_are_noticed(family):
    measured = claims_layers.segment_effect(family(distilbert=family.copy("bert")))
    assert not measured.holds
    assert measured.quantities["distilbert_segment_rows"].value == 2


def test_dead_segments_are_noticed(family):
    network = family.copy("bert")
    network.base_model.embeddings.token_type_embeddings.weight.zero_()
    assert not claims_layers.segment_effect(family(bert=network)).holds


def test_segments_that_move_the_outputs_a_little_are_used_all_the_same(family):
    network = family.copy("bert")
    network.base_model.embeddings.token_type_embeddings.weight.mul_(1e-2)
    measured = claims_layers.segment_effect(family(bert=network))
    assert 0 < measured.quantities["bert_moved"].value < 0.5
    assert measured.holds


def test_a_missing_end_is_noticed(family, monkeypatch):
    real = claims_layers.tokenize
    monkeypatch.setattr(
        claims_layers,
        "tokenize",
        lambda loaded, text: replace(real(loaded, text), pieces=real(loaded, text).pieces[:-1]),
    )
    assert not claims_layers.special_tokens(family()).holds


def test_rows_touched_without_being_read_are_noticed(family):
    network = family.copy("bert")
    words = network.base_model.embeddings.word_embeddings
    words.register_forward_hook(lambda m, _in, out: out + m.weight.mean(0))
    assert not claims_layers.updated_rows(family(bert=network)).holds


def test_the_tied_output_moves_every_row_as_plain_torch_has_it(family, tiny_family):
    path = tiny_family.specs["bert"].bundled_path
    network = AutoModelForPreTraining.from_pretrained(path).eval()
    ids = torch.tensor([family.loaded("bert").tokenizer(claims_layers.TEXT)["input_ids"]])
    scores = network(input_ids=ids).prediction_logits[0]
    torch.nn.functional.cross_entropy(scores, ids[0]).backward()
    rows = int((network.bert.embeddings.word_embeddings.weight.grad.abs().sum(1) > 0).sum())
    said = claims_layers.updated_rows(family()).text
    assert said.endswith(f"with the output layer {rows:,}")
    assert rows == network.config.vocab_size, "softmax moves every score"


def test_an_output_layer_of_its_own_is_noticed(family):
    network = family.copy("bert")
    decoder = network.cls.predictions.decoder
    decoder.weight = torch.nn.Parameter(decoder.weight.detach().clone())
    assert not claims_layers.updated_rows(family(bert=network)).holds


def test_another_scale_in_one_layer_is_noticed(family):
    network = family.copy("bert")
    network.base_model.encoder.layer[3].attention.self.scaling *= 2
    measured = claims_attention.attention_formula(family(bert=network))
    assert not measured.holds
    assert measured.quantities["largest_difference"].value > 0.01


def test_a_model_that_ignores_its_context_is_noticed(family):
    network = family.copy("distilbert")
    for layer in network.base_model.transformer.layer:
        layer.attention.out_lin.weight.zero_()
    assert not claims_attention.both_directions(family(distilbert=network)).holds


def test_order_that_comes_in_by_another_door_is_noticed(family):
    network = family.copy("albert")
    network.base_model.embeddings.register_forward_hook(
        lambda _m, _in, out: out + torch.arange(out.shape[1])[:, None]
    )
    assert not claims_attention.position_effect(family(albert=network)).holds


def test_the_three_losses_equal_plain_torch(family, tiny_family):
    ids = torch.tensor([family.loaded("bert").tokenizer(claims_runs.TEXT)["input_ids"]])
    out = {}
    for key in ("bert", "distilbert"):
        path = tiny_family.specs[key].bundled_path
        model = AutoModelForPreTraining.from_pretrained(path, attn_implementation="eager").eval()
        with torch.inference_mode():
            got = model(input_ids=ids, output_hidden_states=True)
        out[key] = (
            got[0][0].double() if key == "distilbert" else got.prediction_logits[0].double(),
            got.hidden_states[-1][0].double(),
        )
    (t, t_last), (s, s_last) = out["bert"], out["distilbert"]
    p, q = (t / 2).softmax(-1), (s / 2).softmax(-1)
    ce = 4 * (p * (p / q).log()).sum(-1).mean()
    cos = (1 - torch.cosine_similarity(s_last, t_last, dim=-1)).mean()
    quantities = claims_runs.triple_loss_parts(family()).quantities
    assert quantities["ce"].value == pytest.approx(float(ce), rel=1e-4)
    assert quantities["cos"].value == pytest.approx(float(cos), rel=1e-4)


def test_a_total_that_leaves_out_a_part_is_noticed(family, monkeypatch):
    monkeypatch.setattr(claims_runs, "PUBLISHED", {"ce": 5.0, "mlm": 2.0, "cos": 0.0})
    assert not claims_runs.triple_loss_parts(family()).holds


def test_the_trained_pair_is_compared_by_direction(family):
    student = family.copy("distilbert")
    straight = claims_runs.layer_alignment(family()).quantities["trained"].value
    for parameter in student.base_model.transformer.layer[-1].output_layer_norm.parameters():
        parameter.neg_()
    turned = claims_runs.layer_alignment(family(distilbert=student))
    assert turned.quantities["trained"].value == pytest.approx(-straight, abs=1e-5)


def test_the_lineage_of_a_copied_student_is_found_and_a_false_one_refused(family):
    teacher, student = family.copy("bert"), family.copy("distilbert")
    layers = family.spec("distilbert").initialised_from
    copied = _copied(teacher, student, layers)
    assert claims_runs.layer_lineage(family(distilbert=copied)).holds
    wrong = _copied(teacher, student, layers[::-1])
    assert not claims_runs.layer_lineage(family(distilbert=wrong)).holds


NAMES = {
    "attention.self.query": "attention.q_lin",
    "attention.self.key": "attention.k_lin",
    "attention.self.value": "attention.v_lin",
    "attention.output.dense": "attention.out_lin",
    "intermediate.dense": "ffn.lin1",
    "output.dense": "ffn.lin2",
}


def _copied(teacher, student, layers):
    for target, source in enumerate(layers):
        for from_, to in NAMES.items():
            weight = teacher.get_parameter(f"bert.encoder.layer.{source}.{from_}.weight")
            student.get_parameter(f"distilbert.transformer.layer.{target}.{to}.weight").copy_(
                weight
            )
    return student


@pytest.mark.long
def test_agreement_follows_who_answers_like_bert(family):
    def with_places(distilbert, albert):
        places = {"bert": "bert", "distilbert": distilbert, "albert": albert}
        return CheckModels("mini", lambda key: nullcontext(family.loaded(places[key])))

    same = claims_runs.fill_agreement(with_places("bert", "albert"))
    assert same.quantities["same_distilbert"].value == 100
    assert same.quantities["kl"].value == pytest.approx(0, abs=1e-9)
    assert not claims_runs.fill_agreement(with_places("distilbert", "bert")).holds


@pytest.mark.long
def test_agreement_waits_for_words_that_can_be_compared(family):
    def with_other(key, **changes):
        def leased(place):
            own = family.loaded(place)
            return nullcontext(replace(own, **changes) if place == key else own)

        return CheckModels("mini", leased)

    headless = replace(family.spec("bert"), has_head=False)
    with pytest.raises(ModelUnavailable, match="no masked-LM head"):
        claims_runs.fill_agreement(with_other("bert", spec=headless))
    words = family.loaded("distilbert").vocabulary
    with pytest.raises(NotAPair, match="two vocabularies"):
        claims_runs.fill_agreement(with_other("distilbert", vocabulary=words[::-1]))


def test_one_segment_moves_nothing(family):
    network = family.copy("bert")
    rows = network.base_model.embeddings.token_type_embeddings.weight
    network.base_model.embeddings.token_type_embeddings.weight = torch.nn.Parameter(rows[:1])
    spec = family.spec("bert")
    one = replace(spec, architecture=replace(spec.architecture, n_segments=1))
    loaded = replace(family.loaded("bert"), network=network, spec=one)
    assert claims_layers._moved_by_segments(loaded) == 0


def test_a_lead_of_few_sentences_is_undecided():
    both, one = np.ones(24, bool), np.arange(24)
    assert claims_runs._hits_more_often(both, one < 4) is True
    assert claims_runs._hits_more_often(both, one < 22) is None
    assert claims_runs._hits_more_often(one < 4, both) is False
    assert claims_runs._hits_more_often(one < 22, both) is None, "few are no proof of less either"
    assert claims_runs._hits_more_often(both, both) is None


def test_steps_between_layers_are_lengths_of_changes(family):
    measured = {
        key: claims_runs.layer_steps(
            CheckModels("mini", lambda k, key=key: nullcontext(family.loaded(key)))
        )
        for key in ("bert", "albert")
    }
    run = claims_runs._run(family.loaded("bert"), claims_runs.TEXT)
    steps = [
        np.mean([np.linalg.norm(b - a) for a, b in zip(x, y, strict=True)])
        for x, y in zip(run.hidden_states[:-1], run.hidden_states[1:], strict=True)
    ]
    expected = np.std(steps) / np.mean(steps)
    assert measured["bert"].quantities["bert_unevenness"].value == pytest.approx(expected, rel=1e-4)
    other = {"bert": "albert", "albert": "bert"}
    swapped = CheckModels("mini", lambda key: nullcontext(family.loaded(other[key])))
    assert claims_runs.layer_steps(swapped).holds is not claims_runs.layer_steps(family()).holds


def heads_with_lead(bert, albert):
    """Replace the pair heads: by order, the lead of class 0 for each pair."""

    def logits(loaded, order):
        lead = torch.tensor((bert if loaded.spec.key == "bert" else albert)[order])
        return torch.stack([lead, -lead], 1).float()

    return logits


GOOD = {"next": [1.0] * 12, "random": [-1.0] * 12, "swapped": [1.0] * 12}
ORDERLY = {"next": [1.0] * 12, "swapped": [-1.0] * 12}
SAME = {"next": [1.0] * 12, "random": [1.0] * 12, "swapped": [1.0] * 12}


@pytest.mark.parametrize(("bert", "albert", "holds"), [(GOOD, ORDERLY, True), (SAME, SAME, False)])
def test_pair_heads_are_judged_by_what_they_tell_apart(family, monkeypatch, bert, albert, holds):
    monkeypatch.setattr(claims_pairs, "pair_logits", heads_with_lead(bert, albert))
    assert claims_pairs.next_sentence_head(family()).holds is holds
    assert claims_pairs.sentence_order_head(family()).holds is holds
    found = claims_pairs.next_sentence_head(family()).quantities
    for order in ("next", "random", "swapped"):
        assert found[order].value == (100.0 if bert[order][0] > 0 else 0.0)


def test_pairs_too_few_to_tell_leave_the_heads_undecided(family, monkeypatch):
    nearly = {"next": [1.0] * 7 + [-1.0] * 5, "random": [-1.0] * 7 + [1.0] * 5}
    nearly["swapped"] = nearly["next"]
    orders = {"next": nearly["next"], "swapped": [-1.0] * 7 + [1.0] * 5}
    monkeypatch.setattr(claims_pairs, "pair_logits", heads_with_lead(nearly, orders))
    assert claims_pairs.next_sentence_head(family()).holds is None
    assert "next 7 [" in claims_pairs.next_sentence_head(family()).text
    assert claims_pairs.sentence_order_head(family()).holds is None


def test_pair_logits_are_the_networks_own(family, tiny_family):
    loaded = family.loaded("albert")
    model = AutoModelForPreTraining.from_pretrained(tiny_family.specs["albert"].bundled_path).eval()
    first, second = claims_pairs.PAIRS[0]
    inputs = loaded.tokenizer(second, first, return_tensors="pt", return_token_type_ids=True)
    with torch.inference_mode():
        expected = model(**inputs).sop_logits[0]
    got = claims_pairs.pair_logits(loaded, "swapped")
    assert got.shape == (len(claims_pairs.PAIRS), 2)
    torch.testing.assert_close(got[0], expected, atol=1e-4, rtol=1e-4)


def test_a_head_without_weights_waits(family):
    loaded = replace(family.loaded("albert"), missing=("sop_classifier.classifier.weight",))
    with pytest.raises(ModelUnavailable, match="sentence head"):
        claims_pairs.pair_logits(loaded, "next")


def test_masking_and_pairs_are_drawn_as_the_papers_say(family, monkeypatch):
    masking = claims_pairs.masking_shares(family())
    assert masking.holds
    assert masking.text.startswith("of 1,000,000 tokens ")
    fates = [float(share) for share in re.findall(r"([\d.]+)%", masking.text)]
    assert sum(fates) == pytest.approx(masking.quantities["chosen"].value, abs=0.02)
    assert claims_pairs.pair_shares(family()).holds
    from explorer.analysis.distillation import losses as distillation_masking

    monkeypatch.setattr(distillation_masking, "OUTCOME_SHARES", (1.0, 0.0, 0.0))
    assert not claims_pairs.masking_shares(family()).holds
    monkeypatch.setattr(claims_pairs, "sentence_pair", lambda pairs, task, rng: ("a", "b", 1))
    assert not claims_pairs.pair_shares(family()).holds


def test_a_random_second_sentence_is_never_the_true_one():
    rng = np.random.default_rng(1)
    true = set(claims_pairs.PAIRS)
    for _ in range(500):
        first, second, label = claims_pairs.sentence_pair(claims_pairs.PAIRS, "nsp", rng)
        assert ((first, second) in true) is (label == 0)
        first, second, label = claims_pairs.sentence_pair(claims_pairs.PAIRS, "sop", rng)
        assert ((second, first) in true) is (label == 1)
