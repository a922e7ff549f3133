"""Near-copies of a teacher's heads in a student: against scipy, and against controls of its own."""

import itertools

import numpy as np
import pytest

from explorer.analysis import attention
from explorer.analysis.alignment import AlignedWord, Alignment
from explorer.analysis.attention import KEPT_JS, POOL, kept_heads, word_heads
from explorer.inference.runs import get_runs
from explorer.links.page_state import PageState
from tests.analysis.attention.near_copies import apart, n_pairs, shuffled
from tests.ui.sentences import TEXTS


def words(n):
    """``n`` words between [CLS] and [SEP]."""
    ends = [AlignedWord("[CLS]", 0, 0, special=True)], [AlignedWord("[SEP]", 0, 0, special=True)]
    return Alignment((*ends[0], *(AlignedWord("w", i, i + 1) for i in range(n)), *ends[1]), {})


def heads(rng, layers, n_heads, size, sharpness=2.0):
    raw = np.exp(sharpness * rng.normal(size=(layers, n_heads, size, size)))
    raw[rng.random(raw.shape) < 0.1] = 0  # some weights underflow
    raw[..., 0] += 1e-6
    return raw / raw.sum(-1, keepdims=True)


@pytest.mark.parametrize("n", [0, 1, 7])
def test_every_pair_is_what_scipy_says_over_the_words_of_the_text(n):
    rng = np.random.default_rng(n)
    teacher, student = heads(rng, 2, 3, n + 2), heads(rng, 1, 2, n + 2)
    found = kept_heads(teacher, student, words(n))
    rows = list(range(1, n + 1)) if n else [0, 1]
    assert found.js == pytest.approx(apart(teacher, student, rows), abs=1e-6)
    assert found.nearest.tolist() == apart(teacher, student, rows).argmin(1).tolist()
    assert found.n_words == (len(rows), len(rows))


def test_a_copy_keeps_every_head_once():
    teacher = heads(np.random.default_rng(1), 1, 3, 6, 4.0)
    found = kept_heads(teacher, teacher[:, ::-1], words(4))
    assert found.nearest.tolist() == found.partner.tolist() == [2, 1, 0]
    assert found.matched.count == 3
    twice = kept_heads(teacher, teacher[:, [0, 0, 0]], words(4))
    assert twice.nearest[0] == 0
    assert sorted(twice.partner.tolist()) == [-1, -1, twice.partner.max()], "a head is used once"
    assert twice.matched.count == 1


def test_the_matching_has_the_most_pairs_and_of_those_the_nearest():
    rng = np.random.default_rng(3)
    sizes = []
    for _ in range(20):
        teacher, student = heads(rng, 1, 5, 5, 0.45), heads(rng, 1, 4, 5, 0.45)
        found = kept_heads(teacher, student, words(3))
        js = apart(teacher, student, [1, 2, 3])
        options = []
        for chosen in itertools.permutations(range(5), 4):
            costs = js[list(chosen), range(4)]
            options.append(((costs <= KEPT_JS).sum(), -costs[costs <= KEPT_JS].sum()))
        most, total = max(options)
        pairs = [(i, j) for i, j in enumerate(found.partner) if j >= 0]
        assert found.matched.count == len(pairs) == most == n_pairs(js)
        assert len({j for _, j in pairs}) == most
        assert sum(js[i, j] for i, j in pairs) == pytest.approx(-total, abs=1e-5)
        sizes.append(most)
    assert len(set(sizes)) > 1


@pytest.fixture(scope="module")
def drawn_texts():
    """The heads of three models on texts of at most 20 words."""
    found = []
    for text in TEXTS:
        runs, _ = get_runs(PageState(text=text).ask)
        shared = word_heads(runs)
        if len(shared.alignment) <= 20:
            found.append((shared.attention, shared.alignment))
    return found[:20]


@pytest.mark.long
def test_the_control_s_mean_is_that_of_heads_shuffled_and_drawn_here(drawn_texts):
    """Twelve shuffles of the student, and twelve draws from ALBERT's heads, by this test's own."""
    rng = np.random.default_rng(4)
    for heads_of, alignment in drawn_texts[::3]:
        teacher, student, other = (heads_of[key] for key in ("bert", "distilbert", "albert"))
        rows, n = list(alignment.content), student.shape[0] * student.shape[1]
        shuffles = [n_pairs(apart(teacher, shuffled(student, rows, rng), rows)) for _ in range(12)]
        js = apart(teacher, other, rows)
        draws = [n_pairs(js[:, rng.choice(js.shape[1], n, replace=False)]) for _ in range(60)]
        for control, expected in ((None, shuffles), (other, draws)):
            found = kept_heads(teacher, student, alignment, control)
            assert found.is_shuffled == (control is None)
            assert found.matched.count == n_pairs(apart(teacher, student, rows))
            assert found.matched.mean == pytest.approx(np.mean(expected), abs=1.5)
            assert found.matched.low <= np.median(expected) <= found.matched.high


@pytest.mark.long
@pytest.mark.parametrize("is_shuffled", [True, False])
def test_a_student_of_shuffled_heads_is_no_better_than_its_control(drawn_texts, is_shuffled):
    """Of 100 students, five on each of 20 texts, at most five are above the control."""
    rng = np.random.default_rng(7)
    above = 0
    for heads_of, alignment in drawn_texts:
        control = None if is_shuffled else heads_of["albert"]
        for _ in range(5):
            student = shuffled(heads_of["distilbert"], alignment.content, rng)
            above += kept_heads(heads_of["bert"], student, alignment, control).matched.is_more
    assert above <= 5


@pytest.mark.long
def test_a_student_of_another_model_s_heads_is_no_better_than_the_others(drawn_texts):
    rng = np.random.default_rng(8)
    above = 0
    for heads_of, alignment in drawn_texts:
        other = heads_of["albert"]
        flat = other.reshape(-1, *other.shape[-2:])
        for _ in range(5):
            student = flat[rng.choice(len(flat), len(flat) // POOL, replace=False)][None]
            above += kept_heads(heads_of["bert"], student, alignment, other).matched.is_more
    assert above <= 5


@pytest.mark.long
def test_the_distilled_student_is_better_than_its_heads_shuffled(drawn_texts):
    """On texts of five words or more; where there is one word nothing can be shuffled."""
    for heads_of, alignment in drawn_texts:
        found = kept_heads(heads_of["bert"], heads_of["distilbert"], alignment)
        if len(alignment.content) >= 5:
            assert found.matched.is_more
        if len(alignment.content) == 1:
            assert found.matched.low == found.matched.high == found.matched.count


def test_a_tie_with_the_control_s_limit_is_not_more():
    one = attention.AgainstControl(5, 4.0, 3, 5)
    assert not one.is_more
    assert attention.AgainstControl(6, 4.0, 3, 5).is_more
    assert not attention.AgainstControl(3, 4.0, 3, 5).is_fewer
    assert attention.AgainstControl(2, 4.0, 3, 5).is_fewer


def test_of_a_long_text_evenly_spaced_words_stand_for_all(monkeypatch):
    rng = np.random.default_rng(2)
    teacher, student = heads(rng, 1, 2, 12), heads(rng, 1, 2, 12)
    monkeypatch.setattr(attention, "SHUFFLES", (3, 3))
    monkeypatch.setattr(attention, "MAX_CELLS", 2 * 2 * (1 + 3) * 12 * 4)
    found = kept_heads(teacher, student, words(10))
    assert found.n_words == (4, 10)
    assert found.js == pytest.approx(apart(teacher, student, [1, 4, 7, 10]), abs=1e-6)
