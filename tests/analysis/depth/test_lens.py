"""The head at every layer, against plain transformers with each model's head written out."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from explorer.analysis.depth.lens import mask_lens
from explorer.library.depth import lens_of
from explorer.links.page_state import PageState

TEXT = "the [MASK] sat on the [MASK]."


def bert_head(network, hidden):
    head = network.cls.predictions
    normed = head.transform.LayerNorm(functional.gelu(head.transform.dense(hidden)))
    return normed @ network.bert.embeddings.word_embeddings.weight.T + head.bias


def distilbert_head(network, hidden):
    inner = network.vocab_layer_norm(functional.gelu(network.vocab_transform(hidden)))
    table = network.distilbert.embeddings.word_embeddings.weight
    return inner @ table.T + network.vocab_projector.bias


def albert_head(network, hidden):
    head = network.predictions
    inner = head.LayerNorm(functional.gelu(head.dense(hidden), approximate="tanh"))
    return inner @ network.albert.embeddings.word_embeddings.weight.T + head.bias


HEADS = {"bert": bert_head, "distilbert": distilbert_head, "albert": albert_head}


@pytest.mark.parametrize("key", HEADS)
def test_every_row_is_the_models_own_head_on_that_layers_state(tiny_family, key):
    run, network = tiny_family.run(key, TEXT), tiny_family.loaded(key).network
    with torch.no_grad():
        out = network(torch.tensor([run.tokens.ids]), output_hidden_states=True)
        position = run.tokens.mask_positions[1]
        logits = torch.stack([HEADS[key](network, s[0, position]) for s in out.hidden_states])
    found, log_p = lens_of(run, PageState(text=TEXT), 1), logits.double().log_softmax(-1)
    answer = int(logits[-1].argmax())
    assert found.n_layers == run.spec.architecture.n_layers
    assert found.top == pytest.approx(log_p.exp().topk(5).values.numpy(), abs=1e-5)
    assert found.probabilities[:, 0] == pytest.approx(log_p.exp()[:, answer].numpy(), abs=1e-5)
    ordered = (-logits).argsort(stable=True, dim=-1)
    assert found.rank.tolist() == [row.tolist().index(answer) + 1 for row in ordered]
    kl = [functional.kl_div(row, log_p[-1], reduction="sum", log_target=True) for row in log_p]
    assert found.kl == pytest.approx(np.array(kl), abs=1e-5)
    ids = {"own": answer, "any": 17, "first": int(logits[0].argmax())}
    followed = lens_of(run, PageState(text=TEXT), 1, ids).followed
    for name, token in ids.items():
        one, ranks = followed[name], [row.tolist().index(token) + 1 for row in ordered]
        assert one.piece == run.vocabulary[token]
        assert one.probabilities == pytest.approx(log_p.exp()[:, token].numpy(), abs=1e-5)
        assert one.rank.tolist() == ranks
        stays = [all(rank == 1 for rank in ranks[n:]) for n in range(len(ranks))]
        assert one.decided_at == (stays.index(True) if any(stays) else None)


@pytest.mark.parametrize("key", HEADS)
def test_the_last_row_is_what_predict_answers(tiny_family, key):
    run = tiny_family.run(key, TEXT)
    p = torch.tensor(run.mask_logits[0]).double().softmax(-1).topk(5)
    found = lens_of(run, PageState(text=TEXT), 0)
    assert found.top_ids[-1].tolist() == p.indices.tolist()
    assert found.top[-1] == pytest.approx(p.values.numpy(), abs=1e-12)
    assert (found.kl[-1], found.rank[-1]) == (0, 1)


@pytest.mark.parametrize(
    ("answers", "decided"), [("aaa", 0), ("baa", 1), ("aba", 2), ("bba", 2), ("=ba", 2), ("b=a", 1)]
)
def test_a_model_decides_where_its_answer_becomes_first_for_good(tiny_family, answers, decided):
    """``=``: another piece is exactly as likely, which is not likelier."""
    run = tiny_family.run("bert", "the [MASK] sat")
    logits = np.zeros((len(answers), len(run.vocabulary)), np.float32)
    for row, first in zip(logits, answers, strict=True):
        row[[50, 60]] = {"a": (3, 1), "b": (1, 3), "=": (3, 3)}[first]
    found = mask_lens(run, 0, logits)
    assert found.decided_at == decided
    assert found.rank.tolist() == [2 if first == "b" else 1 for first in answers]
