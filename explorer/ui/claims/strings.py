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
    "reports": "The claims come from five written comparisons of the three models. Share that is "
    "right of the claims that have a source:",
    "report": "{name}, {kind}: {n} claims, {right} right, {imprecise} imprecise, {wrong} wrong, "
    "{unsupported} without a source",
    "right_share": "{share}% of {n}",
    "kind": "{kind}; {n} claims",
    "rule": "How is a verdict given, and what are the reports?",
    "rules": {
        "right": "The source says the same. A number is right if it equals every value that the "
        "sources give for it: the paper's, and the count of the released model. Both are rounded "
        "to the coarser of the two precisions. The last digit that is not zero gives the "
        "precision: 40% is right for 39.4%, 110M for 109.5M.",
        "imprecise": "The source says it of a part only, or under a condition that the claim does "
        "not state. A number is imprecise if only some of the sources agree with it, or if the "
        "nearest one differs by at most one unit of its last digit.",
        "wrong": "The source says otherwise. A claim with several parts is as wrong as its worst "
        "part.",
        "unsupported": "No source that was read says or denies it. Such claims do not count in "
        "the percentages.",
    },
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
    "opened": "{n} of {total} claims: only the wrong ones. Clear shows all.",
    "none": "No claim fits: clear a filter or search for less.",
    "more": "Show {n} more",
    "claim": "Claim",
    "printed": "In short:",
    "wordings": "{n} wordings",
    "numbers": "Numbers compared",
    "number": "{name}: {claimed} claimed, {sources} in the sources ({verdict})",
    "value": "{value} ({where})",
    "says": {
        "is": "{value}",
        "about": "about {value}",
        "at_least": "at least {value}",
        "at_most": "at most {value}",
        "more_than": "more than {value}",
        "less_than": "less than {value}",
    },
    "source": "Primary source",
    "no_source": "no source",
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
    """Return the share that is right of the printed claims that a primary source decides."""
    total = shares.total
    n, more = shares.n_decided, total["unsupported"]
    without = f" {more} more {'has' if more == 1 else 'have'} no source." if more else ""
    return (
        f"{total['right']} of {n} printed claims agree with their primary source "
        f"({shares.right_share:.0%}). {total['imprecise']} {_are(total['imprecise'])} imprecise "
        f"and {total['wrong']} {_are(total['wrong'])} wrong.{without}"
    )


def _are(n: int) -> str:
    return "is" if n == 1 else "are"
