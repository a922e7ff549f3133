"""No sentence on which model to use is false: each claim is evaluated on drawn results."""

import re
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.analysis.latency.model_choice import Candidate, Comparison, Figure, Limits
from explorer.models.specs import MINI
from explorer.ui.latency import choice_strings
from tests.ui.sentences import law, names_in, read

KEYS = ("bert", "distilbert", "albert")
NAMES = {key: MINI[key].label for key in KEYS}


def figures(values):
    def figure(value, spread):
        return Figure(value, value - spread, value + spread)

    return st.builds(figure, values, st.sampled_from([0, 0.1, 1.0]))


@st.composite
def choices(draw):
    found = {
        key: Candidate(
            draw(st.one_of(st.none(), figures(st.sampled_from([1.0, 2.0, 9.0])))),
            draw(st.one_of(st.none(), figures(st.sampled_from([1.0, 2.0, 9.0])))),
            draw(st.one_of(st.none(), figures(st.sampled_from([0.5, 0.9])))),
        )
        for key in KEYS
    }
    limit = st.one_of(st.none(), st.sampled_from([1.5, 5.0]))
    least = st.one_of(st.none(), st.sampled_from([0.4, 0.8]))
    limits = draw(st.one_of(st.just(Limits()), st.builds(Limits, limit, limit, least)))
    return found, limits, draw(st.sets(st.sampled_from(KEYS)))


def keeps(one, limits):
    """Whether every interval lies wholly within its limit."""
    return (
        (limits.megabytes is None or one.megabytes.high <= limits.megabytes)
        and (limits.milliseconds is None or one.milliseconds.high <= limits.milliseconds)
        and (limits.score is None or one.score.low >= limits.score)
    )


@pytest.mark.long
@law
@given(choices())
def test_who_meets_the_limits_and_is_best_among_them_follows_from_the_numbers(drawn):
    found, limits, examples = drawn
    compared = Comparison(MINI, found, limits, (), examples)
    text = read(choice_strings.choose_finding(compared))
    whose = ""
    if examples:
        is_alone = examples == set(KEYS)
        whose = f"Of the {'miniatures (an example)' if is_alone else 'published models'}, "
        found = found if is_alone else {k: one for k, one in found.items() if k not in examples}
    known = {k: c for k, c in found.items() if c.megabytes and c.milliseconds and c.score}
    fits = [key for key, one in known.items() if keeps(one, limits)]
    if not known:
        assert text in (*choice_strings.NOTHING.values(), choice_strings.NO_SIZE)
        return
    if not fits:
        assert (
            text == f"{whose or 'None of them '}{'none ' * bool(whose)}clearly meets these limits."
        )
        return
    assert text.startswith(whose)
    text = text.removeprefix(whose)
    if len(fits) == 1:
        if limits == Limits():
            assert text.lower().startswith(f"only {NAMES[fits[0]]} has a size, a time".lower())
        else:
            assert text == f"{NAMES[fits[0]]} alone clearly meets these limits."
        return
    assert text.lower().startswith("with no limits set: ") == (limits == Limits())
    parts = dict(re.findall(r"(smallest|fastest|best score): ((?:mini-\w+(?:, | and )?)+)", text))
    values = {
        "smallest": {k: known[k].megabytes.value for k in fits},
        "fastest": {k: known[k].milliseconds.value for k in fits},
        "best score": {k: -known[k].score.value for k in fits},
    }
    for what, costs in values.items():
        best = [key for key, cost in costs.items() if cost == min(costs.values())]
        assert names_in(parts[what], NAMES) == best
    for what, name in (("times", "milliseconds"), ("scores", "score")):
        costs = sorted((known[key].cost(name) for key in fits), key=lambda cost: cost.value)
        overlap = any(other.low <= costs[0].high for other in costs[1:])
        assert (f"of {what} overlap" in text or f"of {what} and of" in text) == overlap


@pytest.mark.long
@law
@given(choices())
def test_a_verdict_names_just_the_limits_that_a_model_misses_or_may_miss(drawn):
    found, limits, examples = drawn
    told = choice_strings.verdicts(Comparison(MINI, found, limits, (), examples))
    assert told.keys() == found.keys()
    for key, one in found.items():
        lacking = [n for n in ("megabytes", "milliseconds", "score") if getattr(one, n) is None]
        if lacking:
            assert told[key].startswith("not recommended: ")
            assert (" was not measured" in told[key]) == (len(lacking) == 1)
            continue
        over = {
            "over the size limit": limits.megabytes and one.megabytes.low > limits.megabytes,
            "over the time limit": limits.milliseconds
            and one.milliseconds.low > limits.milliseconds,
            "below the score limit": limits.score and one.score.high < limits.score,
        }
        assert {what for what in over if what in told[key]} == {
            w for w, is_so in over.items() if is_so
        }
        fits = "no limits set" if limits == Limits() else "meets the limits"
        assert told[key].startswith(fits) == keeps(one, limits)


@law
@given(
    st.sampled_from([*choice_strings.SCORES]),
    st.integers(1, 30),
    st.lists(st.sampled_from([1.0, 1.02, 2.4]), max_size=3),
)
def test_what_was_timed_is_counted_in_singular_and_plural(score, rounds, passes):
    work = SimpleNamespace(
        length=1 if rounds == 1 else 24, device="cpu", dtype="float32", clock="compute"
    )
    text = read(choice_strings.timed_said(score, work, rounds, passes, 126))
    assert f"{rounds} round{'s' * (rounds > 1)} with" in text
