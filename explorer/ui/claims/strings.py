"""Sentences and labels of the Claims tab."""

from explorer.analysis.claims.ledger import VerdictShares
from explorer.analysis.claims.outcomes import CLAIMED
from explorer.models.specs import label_of

LABEL = "Claims"
QUESTION = "Which claims about these models hold up?"
RUN_ALL = "Run all checks"
STOP = "Stop"
MODELS = {key: label_of(key) for key in CLAIMED}
MORE = "inconclusive: run again for more rounds"
SHARES = {
    "label": "Printed claims by verdict; a button shows only those claims",
    "reports": "From five written comparisons of the three models, by subject:",
    "report": "{name}: {n} claims, {right} right, {imprecise} imprecise, {wrong} wrong, "
    "{unsupported} unsupported",
    "right_share": "{share}% right",
}
LEDGER = {
    "search": "Search the claims",
    "placeholder": "ALBERT is faster because …",
    "model": "Model",
    "topic": "Topic",
    "verdict": "Verdict",
    "report": "Report",
    "any": "Any",
    "live": "With a live check",
    "clear": "Clear",
    "count": "{n} of {total} claims",
    "none": "No claim fits: clear a filter or search for less.",
    "more": "Show {n} more",
    "claim": "Claim",
    "printed": "Printed:",
    "wordings": "{n} wordings",
    "source": "Primary source",
    "no_source": "no source found",
    "here": "Here",
    "no_check": "nothing to measure",
    "run": "Run {name}: {measures}",
    "running": "running",
    "holds": "holds",
    "fails": "does not hold",
    "undecided": "undecided: the interval contains both answers",
    "press": MORE,
    "waits": "waiting for weights",
    "failed": "could not be run",
    "measured": "measured",
    "published": "from the tables",
    "partly": "run {names} too for a verdict",
}
CHECKS_FOLD = "Live checks: what does this machine find?"
BENCHMARKS_FOLD = "Published scores: how much do smaller models keep?"
RETENTION_TITLE = "How much of a score does a smaller model keep?"
PROGRESS = {
    "none": "{total} live checks, none run yet.",
    "running": "Running “{names}”: {done} of {total} done.",
    "done": "Checks run here: {n} of {total}. As the sources say: {holds}; not as they say: "
    "{fails}; undecided: {undecided}; waiting for weights: {waits}.",
    "stopped": "Stopped after {n} of {total}.",
}
CHECKS = {
    "expected": "expected",
    "here": "here",
    "not_run": "not run yet",
    "holds": "as the sources say",
    "fails": "not as the sources say",
    "undecided": "undecided: too few texts to say",
    "press": MORE,
    "waits": "waiting for weights",
    "failed": "could not be run",
    "measured": "measured",
    "published": "from the tables",
    "run": "Run {name}: {measures}",
    "see": "See it on your text",
}
BENCHMARKS = {
    "table": "Table",
    "published": "published, not measured here",
    "sort": "Sort by {column}",
    "bars": "{column}, as printed",
    "system": "System",
    "misprint": "misprint",
    "note": "note",
    "lower": "less is better",
}
RETENTION = {
    "finding": "{student} keeps {kept:.1f}% of the {task} of {reference}: {a} of {b}; ",
    "worst": "it loses most on {worst}, {drop:.1f} points.",
    "none_lost": "it matches or beats it on every task.",
    "published": "published, not measured here",
    "split": "; {split}.",
    "task": "Task",
    "drop": "Points",
    "kept": "Kept",
    "table": "Scores of both models and the share kept, by task",
    "axis": "Score as printed",
    "choose_table": "Table",
    "student": "Smaller model",
    "reference": "Compared with",
}


def shares_finding(shares: VerdictShares) -> str:
    """Return the share of printed claims that agree with their primary source."""
    total = shares.total
    return (
        f"{total['right']} of {shares.n_claims} printed claims agree with their primary source "
        f"({shares.share('right'):.0%}); {total['imprecise']} are imprecise, "
        f"{total['wrong']} wrong, and {total['unsupported']} are supported by no source."
    )
