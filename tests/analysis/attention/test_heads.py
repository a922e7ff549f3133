"""Heads that were built to do one thing are measured as doing it."""

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from explorer.analysis.alignment import AlignedWord, Alignment
from explorer.analysis.attention import KINDS, PLACES, head_statistics, word_heads

TEXT = "The unbelievable capital of France... is [MASK]."
N = 8
SPECIAL = (0, N - 1)
WORDS = Alignment(tuple(AlignedWord(str(i), i, i + 1, i in SPECIAL) for i in range(N)), {})


def heads(*matrices):
    return np.stack(matrices)[None]


def looking(step):
    return np.eye(N)[np.clip(np.arange(N) + step, 0, N - 1)]


def kinds(attention):
    return [KINDS[i] for i in head_statistics(attention, WORDS).kind[0]]


def test_built_heads_get_their_names():
    cls, sep = np.zeros((N, N)), np.zeros((N, N))
    cls[:, 0] = sep[:, -1] = 1
    split = (looking(-2) + looking(2)) / 2
    built = heads(looking(-1), looking(1), looking(0), cls, sep, np.full((N, N), 1 / N), split)
    assert kinds(built) == list(KINDS)


def test_a_place_needs_half_of_the_attention():
    most = heads(*(share * looking(-1) + (1 - share) * looking(3) for share in (0.51, 0.49)))
    assert kinds(most) == ["previous", "mixed"]


def test_distance_is_in_words_and_entropy_in_nats():
    result = head_statistics(heads(looking(0), (looking(-2) + looking(2)) / 2), WORDS)
    assert result.distance[0, 0] == 0
    assert result.entropy[0, 0] == 0
    expected = np.mean(
        [np.mean([abs(max(q - 2, 0) - q), abs(min(q + 2, N - 1) - q)]) for q in range(1, N - 1)]
    )
    assert result.distance[0, 1] == pytest.approx(expected)
    assert result.entropy[0, 1] == pytest.approx(np.log(2))


def test_shares_of_one_place_and_the_rest_are_shares():
    attention = np.random.default_rng(0).dirichlet(np.ones(N), (2, 3, N))
    result = head_statistics(attention, WORDS)
    assert result.shares.shape == (2, 3, len(PLACES))
    assert result.shares[..., 3:].sum(-1) == pytest.approx(
        attention[:, :, 1:-1][..., [0, -1]].sum(-1).mean(-1)
    )
    assert result.shares.min() >= 0


def test_a_text_of_one_word_has_no_neighbours():
    alignment = Alignment(WORDS.words[:1] + WORDS.words[1:2] + WORDS.words[-1:], {})
    result = head_statistics(np.full((1, 1, 3, 3), 1 / 3), alignment)
    assert result.shares[0, 0].tolist() == pytest.approx([0, 0, 1 / 3, 1 / 3, 1 / 3])


@pytest.mark.long
def test_word_attention_of_every_head_equals_transformers_own(tiny_family):
    heads_of = word_heads(tiny_family.runs(TEXT))
    for key, spec in tiny_family.specs.items():
        tokenizer = AutoTokenizer.from_pretrained(spec.bundled_path)
        network = AutoModel.from_pretrained(spec.bundled_path, attn_implementation="eager").eval()
        with torch.no_grad():
            out = network(**tokenizer(TEXT, return_tensors="pt"), output_attentions=True)
        raw = torch.cat(out.attentions).double().numpy()
        groups = heads_of.alignment.groups[key]
        assert heads_of.attention[key].sum(-1) == pytest.approx(1, abs=1e-5)
        for i, queries in enumerate(groups):
            for j, keys in enumerate(groups):
                expected = raw[:, :, queries][..., keys].sum(-1).mean(-1)
                assert heads_of.attention[key][..., i, j] == pytest.approx(expected, abs=1e-5)
