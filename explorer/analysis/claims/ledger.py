"""The claims ledger: what five reports print about the three models, and what the sources say."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from pathlib import Path
from types import MappingProxyType

from explorer.assets import DATA, read_in

LEDGER = DATA / "claims.json"
VERDICTS: tuple[str, ...] = ("right", "imprecise", "wrong", "unsupported")
"""Always in this order: from agreeing with the source to having none."""


@dataclass(frozen=True, slots=True)
class LiveTest:
    """One number of a claim, and the quantity of a live check it is held against."""

    check: str
    quantity: str
    op: str
    """``rounds_to``, ``equals``, ``at_least`` or ``at_most``."""
    value: float
    unit: float = 0.0
    """For ``rounds_to``: the precision of the printed number, 1,000,000 for 66M."""

    def holds(self, low: float, high: float | None = None) -> bool | None:
        """Whether a value known to lie between two ends is what the claim prints.

        None where one end is and the other is not: then no verdict is due. One value alone is
        both ends.
        """
        ends = {self._side(low), self._side(low if high is None else high)}
        return ends == {0} if len(ends) == 1 else None

    def _side(self, x: float) -> int:
        """0 where a value is what the claim prints; -1 and 1 where it is less or more."""
        return 0 if _OPERATORS[self.op](x, self) else 1 if x > self.value else -1


_OPERATORS = {
    # 1e-9: 39.5 / 1 must not depend on how a binary fraction happens to fall.
    "rounds_to": lambda x, t: abs(x) < inf and abs(round(x / t.unit) - t.value / t.unit) < 1e-9,
    "equals": lambda x, t: abs(x - t.value) <= 1e-9 * max(1.0, abs(t.value)),
    "at_least": lambda x, t: x >= t.value,
    "at_most": lambda x, t: x <= t.value,
}


@dataclass(frozen=True, slots=True)
class Claim:
    """One printed statement beside its primary source."""

    id: str
    report: str
    claim: str
    models: tuple[str, ...]
    topic: str
    claimed: str
    source: str
    """Empty where no source was found."""
    found: str
    """What the primary source says."""
    verdict: str
    checks: tuple[str, ...]
    """Live checks that bear on it."""
    live: tuple[LiveTest, ...]
    """Its numbers, testable here; empty where it prints none that can be measured."""
    same: str = ""
    """The claim of which this is another wording; empty where it is the first of its kind."""


@dataclass(frozen=True, slots=True)
class CheckNote:
    """What the reader is told about one live check before it runs."""

    id: str
    name: str
    measures: str
    expected: str
    see: str = ""
    """The tab, and its fold, where the same is seen on any text; empty where nowhere is."""


@dataclass(frozen=True, slots=True)
class ClaimsLedger:
    """All claims and live checks, with the names of reports, topics and verdicts."""

    reports: Mapping[str, str]
    topics: Mapping[str, str]
    verdicts: Mapping[str, str]
    checks: tuple[CheckNote, ...]
    claims: tuple[Claim, ...]


@lru_cache(maxsize=1)
def claims_ledger(path: Path = LEDGER) -> ClaimsLedger:
    """Every claim of the ledger, in the order of the reports.

    Raises:
        ValueError: a verdict, topic, report or check that the ledger does not list.
    """
    with read_in(path):
        raw = json.loads(path.read_text("utf-8"))
        ledger = ClaimsLedger(
            MappingProxyType({report["id"]: report["name"] for report in raw["reports"]}),
            MappingProxyType(raw["topics"]),
            MappingProxyType(raw["verdicts"]),
            tuple(CheckNote(**check) for check in raw["checks"]),
            tuple(_claim(row) for row in raw["claims"]),
        )
    for claim in ledger.claims:
        _refuse_unlisted(claim, ledger)
    return ledger


def _claim(row: dict) -> Claim:
    tuples = {name: tuple(row[name]) for name in ("models", "checks")}
    return Claim(**row | tuples | {"live": tuple(LiveTest(**test) for test in row["live"])})


def _refuse_unlisted(claim: Claim, ledger: ClaimsLedger) -> None:
    checks = {check.id for check in ledger.checks}
    listed = (
        claim.verdict in ledger.verdicts
        and claim.topic in ledger.topics
        and claim.report in ledger.reports
        and checks.issuperset(claim.checks)
        and set(claim.checks).issuperset(test.check for test in claim.live)
    )
    if not listed:
        raise ValueError(f"Claim {claim.id} names something that the ledger does not list.")


@dataclass(frozen=True, slots=True)
class VerdictShares:
    """How many claims got each verdict, in all and per report."""

    total: Mapping[str, int]
    reports: Mapping[str, Mapping[str, int]]

    @property
    def n_claims(self) -> int:
        """All claims."""
        return sum(self.total.values())

    def share(self, verdict: str) -> float:
        """The share of all claims with a verdict, 0 to 1."""
        return self.total[verdict] / self.n_claims


def verdict_shares(ledger: ClaimsLedger) -> VerdictShares:
    """What share of the printed claims is right, imprecise, wrong or without a source."""
    reports = {
        report: _count([claim for claim in ledger.claims if claim.report == report])
        for report in ledger.reports
    }
    return VerdictShares(_count(list(ledger.claims)), MappingProxyType(reports))


def _count(claims: list[Claim]) -> Mapping[str, int]:
    counts = Counter(claim.verdict for claim in claims)
    return MappingProxyType({verdict: counts[verdict] for verdict in VERDICTS})
