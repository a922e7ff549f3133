"""The claims ledger and its live checks as data for the browser, which filters and draws them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from explorer.analysis.claims.ledger import Claim, ClaimsLedger, VerdictShares
from explorer.analysis.claims.results import CheckResult
from explorer.views.claims.sources import addresses
from explorer.views.markup import script_json


def shares_canvas(shares: VerdictShares, ledger: ClaimsLedger, texts: Mapping[str, str]) -> str:
    """The stacked picture: one bar for all claims, a thin one for each report."""
    return script_json(
        {
            "texts": dict(texts),
            "verdicts": dict(ledger.verdicts),
            "total": dict(shares.total),
            "reports": [
                {"id": report, "name": ledger.reports[report], "counts": dict(counts)}
                for report, counts in shares.reports.items()
            ],
        }
    )


def ledger_canvas(ledger: ClaimsLedger, models: Mapping[str, str], texts: Mapping[str, str]) -> str:
    """Every claim beside its source; the browser searches and filters them by itself."""
    return script_json(
        {
            "texts": dict(texts),
            "verdicts": dict(ledger.verdicts),
            "topics": dict(ledger.topics),
            "reports": dict(ledger.reports),
            "models": dict(models),
            "addresses": addresses(text for c in ledger.claims for text in (c.source, c.found)),
            "checks": {check.id: asdict(check) for check in ledger.checks},
            "claims": [asdict(claim) | {"live": _checks_of(claim)} for claim in ledger.claims],
        }
    )


def _checks_of(claim: Claim) -> list[str]:
    return list(dict.fromkeys(test.check for test in claim.live))


def results_canvas(progress: Mapping[str, object], results: Sequence[CheckResult]) -> str:
    """What arrived from the live checks; the browser adds it to what it has."""
    return script_json(dict(progress) | {"results": [asdict(result) for result in results]})


def checks_canvas(ledger: ClaimsLedger, texts: Mapping[str, str]) -> str:
    """Every live check with what it measures and what the sources lead one to expect."""
    return script_json({"texts": dict(texts), "checks": [asdict(check) for check in ledger.checks]})
