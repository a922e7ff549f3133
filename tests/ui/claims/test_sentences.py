"""No sentence of the claims tab is false: each claim is evaluated on drawn results."""

import re
from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from explorer.analysis.claims.ledger import VERDICTS, Retention, TaskDrop, VerdictShares
from explorer.ui.claims import strings
from explorer.views.claims import retention_finding
from tests.ui.sentences import law, read

SCORES = st.sampled_from([50.0, 79.5, 79.6, 80.0, 92.7])


@law
@given(st.lists(st.integers(0, 200), min_size=4, max_size=4).filter(any))
def test_the_share_that_is_right_is_of_all_claims(counts):
    total = dict(zip(VERDICTS, counts, strict=True))
    text = read(strings.shares_finding(VerdictShares(total, {})))
    right, n, share = re.match(r"(\d+) of (\d+) printed claims .*\((\d+)%\)", text).groups()
    decided = sum(counts[:3])
    assert (int(right), int(n)) == (total["right"], decided), "what has no source is not counted"
    assert share == (f"{100 * total['right'] / decided:.0f}" if decided else "0")
    for verdict in ("imprecise", "wrong"):
        assert f"{total[verdict]} {'is' if total[verdict] == 1 else 'are'} {verdict}" in text
    more = re.search(r"(\d+) more (has|have) no source", text)
    found = (int(more[1]), more[2]) if more else (0, "")
    verb = {0: "", 1: "has"}.get(total["unsupported"], "have")
    assert found == (total["unsupported"], verb)


@law
@given(st.lists(st.tuples(SCORES, SCORES), min_size=1, max_size=4))
def test_what_a_smaller_model_loses_most_is_the_largest_printed_drop(pairs):
    tasks = tuple(
        TaskDrop(f"T{i}", "%", reference, student) for i, (reference, student) in enumerate(pairs)
    )
    table = SimpleNamespace(sort="T0", source="Lan et al. 2019", split="dev")
    text = read(retention_finding(Retention(table, "ALBERT", "BERT", tasks), strings.RETENTION))
    reference, student = pairs[0]
    assert f"ALBERT keeps {100 * student / reference:.1f}% of the T0 of BERT" in text
    drops = {task.task: round(task.reference - task.student, 6) for task in tasks}
    most = max(drops.values())
    assert ("matches or beats it on every task" in text) == (most <= 0)
    if most > 0:
        names, points = re.search(r"loses most on ([\w ,]+), ([\d.]+) points", text).groups()
        assert re.split(", | and ", names) == [name for name, drop in drops.items() if drop == most]
        assert points == f"{most:.1f}"


@law
@given(st.lists(st.integers(0, 3), min_size=4, max_size=4))
def test_checks_are_counted_whatever_their_number(counts):
    holds, fails, undecided, waits = counts
    done = strings.PROGRESS["done"].format(
        n=sum(counts), total=30, holds=holds, fails=fails, undecided=undecided, waits=waits
    )
    assert read(done).startswith(f"Checks run here: {sum(counts)} of 30.")
