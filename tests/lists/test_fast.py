"""Lists in bfloat16: the same bits in any list, and float32's decisions."""

import json

import numpy as np
import pytest
import torch
from torch import nn

import explorer
from explorer.inference.runs import call_on_model
from explorer.lists import fast as fast_lists
from explorer.lists import rule
from explorer.models import half, loading
from explorer.models.forward import tokenize
from explorer.models.read_at import mask_states, vocabulary_rows
from explorer.models.run import HEAD_ROWS, MaskedRow, half_batches, half_rows, half_tokens
from explorer.models.specs import KINDS
from tests.lists.test_bias import of_context
from tests.tiny_models import WORDS

pytestmark = pytest.mark.long  # not needed at every save

RNG = np.random.default_rng(11)
PLAIN = [word for word in WORDS if not word.startswith("##")]


def sentence(n_words):
    return " ".join(RNG.choice(PLAIN, n_words))


def masked(n_words):
    words = sentence(n_words).split()
    words[RNG.integers(n_words)] = "[MASK]"
    return " ".join(words)


ROWS = [
    {"text": masked(int(RNG.integers(3, 20))), "answer": str(RNG.choice(["cat", "played", "dog"]))}
    for _ in range(60)
]


@pytest.fixture
def has_instructions(monkeypatch):
    """Run bfloat16 also where it is emulated and in small networks: that is only slower."""
    monkeypatch.setattr(half, "has_instructions", lambda _device: True)
    monkeypatch.setattr(half, "LEAST_WIDTH", 0)


def in_batches(loaded, rows):
    found = [None] * len(rows)
    for batch in half_batches([len(row.ids) for row in rows], loaded.max_tokens, "cpu"):
        states = mask_states(loaded, [rows[place] for place in batch], True)
        for place, state in zip(batch, states, strict=True):
            found[place] = state
    parts = [np.array(found[n : n + HEAD_ROWS]) for n in range(0, len(found), HEAD_ROWS)]
    return np.concatenate([vocabulary_rows(loaded, part, True) for part in parts])


def rows_of(loaded):
    tokens = [tokenize(loaded, row["text"]) for row in ROWS]
    return [MaskedRow(each.ids, each.segments, each.mask_positions[0]) for each in tokens]


@pytest.mark.parametrize("key", KINDS)
def test_a_row_has_the_same_bits_alone_in_a_list_and_in_the_reversed_list(tiny_family, key):
    loaded = tiny_family.loaded(key)
    rows = rows_of(loaded)
    together = in_batches(loaded, rows)
    assert np.array_equal(together, in_batches(loaded, rows[::-1])[::-1])
    for row, log in zip(rows[:12], together, strict=False):
        assert np.array_equal(in_batches(loaded, [row])[0], log)
    exact = vocabulary_rows(loaded, mask_states(loaded, rows))
    assert 1e-4 < np.abs(together - exact).max() < 0.5


def test_the_layers_alone_are_copied_and_alberts_gelu_is_one_operation(tiny_family):
    for key in KINDS:
        loaded = tiny_family.loaded(key)
        with loaded.lock:
            layers = half.copied(loaded).layers
        assert {parts.query.weight.dtype for parts in layers} == {torch.bfloat16}
        assert len({id(parts.inner) for parts in layers}) == (1 if key == "albert" else len(layers))
        assert isinstance(layers[0].activation, nn.GELU) == (key == "albert")
    assert {p.dtype for p in loaded.network.parameters()} == {torch.float32}


def test_a_batch_of_another_shape_is_refused(tiny_family):
    loaded = tiny_family.loaded("bert")
    rows = sorted(rows_of(loaded), key=lambda row: len(row.ids))
    with pytest.raises(ValueError, match="one shape"):
        mask_states(loaded, [rows[0], rows[-1]], True)


def test_shapes_depend_on_the_length_only():
    assert [half_tokens(n, 512) for n in (1, 8, 9, 510)] == [8, 8, 16, 512]
    assert half_tokens(39, 40) == 40
    assert half_tokens(45, 44) == 44
    assert [half_rows(n, "cpu") for n in (8, 32, 40, 512)] == [32, 16, 12, 1]


@pytest.mark.parametrize("flag", ["avx512_bf16", "amx_bf16", "bf16"])
def test_only_a_processor_with_the_instructions_runs_bfloat16(monkeypatch, flag):
    for known in ({flag: True}, {flag: False}, {"avx512_f": True, "avx512_bw": True}):
        half.has_instructions.cache_clear()
        monkeypatch.setattr(half, "processor", lambda known=known: known)
        assert half.has_instructions("cpu") == bool(known.get(flag))
    half.has_instructions.cache_clear()
    assert not half.has_instructions("mps")


def test_margins_are_those_of_the_sorted_words():
    for _ in range(50):
        logs = RNG.normal(0, 3, 200).astype(np.float32)
        target = int(RNG.integers(200))
        others = np.sort(np.delete(logs, target))[::-1]
        by_hand = [logs[target] - others[rank - 1] for rank in rule.RANKS]
        assert rule.answer_margins(logs, target) == pytest.approx(by_hand)
        assert rule.first_margin(logs, target) == pytest.approx(logs[target] - others[0])


def test_the_bound_is_that_of_the_differences_of_near_margins():
    seen = rule.Seen(40, (0, 1))
    fast, exact = RNG.normal(0, 1, (40, 2)), RNG.normal(0, 1, (40, 2))
    fast[:3, 0] = 9.0
    for row in range(40):
        seen.put_half(row, fast[row], 0.5, 3)
        seen.put_exact(row, exact[row], 0.5)
    assert np.isinf(seen.bounds()).all()
    seen.is_exact[:20] = True
    for column in (0, 1):
        near = np.abs(fast[:20, column]) < 2
        difference = (fast - exact)[:20, column][near]
        rms = np.sqrt(np.mean(difference**2))
        assert seen.bounds()[column] == pytest.approx(3.5 * rms)
    close = (np.abs(fast) < seen.bounds()).any(1)
    assert seen.close(range(40)).tolist() == [bool(c) and n >= 20 for n, c in enumerate(close)]


def test_a_fast_list_has_the_decisions_of_float32(tiny_family, has_instructions):
    exact, fast = explorer.texts(ROWS), explorer.texts(ROWS, precision="fast")
    frame = fast.to_frame()
    assert set(frame["precision"]) == {"float32", "bfloat16"}
    for key, seen in fast.fast.models.items():
        one, other = exact.answers.answers[key], fast.answers.answers[key]
        assert one.words == other.words
        for rank in rule.RANKS:
            assert np.array_equal(one.right(rank), other.right(rank))
        is_exact = fast.fast.exact[key]
        assert is_exact.sum() == seen.n_first + seen.n_repeated
        assert (frame[frame["model"] == key]["precision"] == "float32").sum() == is_exact.sum()
        difference = np.abs(one.log_probs - other.log_probs)
        assert np.nanmax(difference[is_exact]) < 1e-5
        assert np.nanmin(difference[~is_exact]) > 0
    assert not [key for key in loading._loaded if half.COPY in key[0]]


def test_the_batches_of_the_first_rows_are_filled_with_other_rows(
    tiny_family, has_instructions, monkeypatch
):
    """Until all rows are read once, at most one batch of each length is not full."""
    asked = []

    def noted(job, spec, ask, *given):
        if job is mask_states and given[1]:
            asked.append((spec.key, [row.ids for row in given[0]]))
        return call_on_model(job, spec, ask, *given)

    monkeypatch.setattr(fast_lists, "call_on_model", noted)
    texts = list(dict.fromkeys(f"{sentence(4 + 7 * (n % 2))} [MASK]" for n in range(200)))
    explorer.texts([{"text": text} for text in texts], kind="masked", precision="fast")
    for key in tiny_family.specs:
        batches = [rows for of_model, rows in asked if of_model == key]
        read = np.cumsum([len(rows) for rows in batches])
        batches = batches[: int(np.searchsorted(read, len(texts))) + 1]
        shapes = [half_tokens(len(rows[0]), 512) for rows in batches]
        is_full = [
            len(rows) == half_rows(n, "cpu") for n, rows in zip(shapes, batches, strict=True)
        ]
        assert is_full.count(False) <= len(set(shapes)) < is_full.count(True)


def test_pairs_and_sentences_are_fast_too(tiny_family, has_instructions):
    pairs = [{"good": sentence(6), "bad": sentence(6)} for _ in range(40)]
    exact, fast = explorer.texts(pairs), explorer.texts(pairs, precision="fast")
    for key, margins in exact.answers.margins.items():
        assert np.array_equal(margins > 1e-4, fast.answers.margins[key] > 1e-4)
        assert 0 < fast.fast.exact[key].sum() < 40
    plain = explorer.texts([pair["good"] for pair in pairs], precision="fast")
    seen = plain.fast.models["bert"]
    assert (seen.n_first, seen.n_repeated) == (rule.FEWEST_FIRST, 0)
    assert 0 < seen.typical <= seen.largest


def test_the_words_at_a_blank_are_fast_too(tiny_family, has_instructions, tmp_path):
    draw = np.random.default_rng(3).choice
    rows = [
        of_context(
            n, " ".join([*draw(PLAIN, 4), "BLANK", *draw(PLAIN, 2)]), draw(PLAIN, 3, replace=False)
        )
        for n in range(60)
    ]
    pairs = tmp_path / "pairs.json"
    pairs.write_text(json.dumps({"data": {"intrasentence": rows}}))
    exact, fast = explorer.texts(pairs), explorer.texts(pairs, precision="fast")
    assert not fast.fast.exact["bert"].all()
    for key in KINDS:
        one, other = exact.answers.blanks[key], fast.answers.blanks[key]
        assert [order(blank) for blank in one] == [order(blank) for blank in other]


def order(blank):
    """The comparisons of a blank's words that StereoSet's scores count."""
    stereotype, against, unrelated = blank.words
    return stereotype > against, stereotype > unrelated, against > unrelated


def test_without_the_instructions_float32_is_used_and_a_sentence_says_so(tiny_family, monkeypatch):
    monkeypatch.setattr(half, "has_instructions", lambda _device: False)
    usual, fast = explorer.texts(ROWS).to_dict(), explorer.texts(ROWS, precision="fast")
    assert fast.sentences()[-1] == (
        "Every model was run in float32: this cpu has no instructions for bfloat16."
    )
    found = fast.to_dict()
    assert found.pop("precision")["models"] == {}
    assert {row.pop("precision") for row in found["rows"]} == {"float32"}
    assert found == usual


def test_rows_that_train_a_regression_stay_in_float32(tiny_family, has_instructions):
    rows = [{"text": sentence(5), "label": "ab"[n % 2]} for n in range(44)]
    fast = explorer.texts(rows, precision="fast")
    assert "must not mix two precisions" in fast.sentences()[-1]
    assert fast.fast.models == {}
    assert "precision" not in fast.to_frame()


def test_a_short_list_stays_in_float32(tiny_family, has_instructions):
    fast = explorer.texts(ROWS[:20], precision="fast")
    assert "20 are fewer than 33" in fast.sentences()[-1]


def test_a_precision_that_is_not_offered_is_refused(tiny_family):
    with pytest.raises(explorer.Refusal, match="precision must be one of: float32, fast"):
        explorer.texts(ROWS, precision="half")


def test_an_encoder_too_narrow_to_gain_time_is_run_in_float32(tiny_family, monkeypatch):
    monkeypatch.setattr(half, "has_instructions", lambda _device: True)
    fast = explorer.texts(ROWS, precision="fast")
    assert fast.sentences()[-1] == (
        "Every model was run in float32: its layers are too narrow to gain time by bfloat16."
    )
    assert fast.rows() == explorer.texts(ROWS).rows()
