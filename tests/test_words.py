"""The terms of the field: what was replaced does not come back, and a number has one form."""

import ast
import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
REPLACED = {
    r"\bbegun as layers|\bbegan as (one of|copies)": "initialised from",
    r"\bas unsure as\b": "like choosing among n equally likely words",
    r"\bfull bar\b": "bars end at",
    r"shares? of the whole vocabulary": "over the whole vocabulary",
    r"\bleast sure\b": "lowest probability",
    r"do not agree on their own": "not independent evidence",
    r"words offered in the text": "alternatives written in the text",
    r"shares among the words": "relative probability",
    r"gaps are filled together": "filling several masks jointly",
    r"a word spends\b": "[CLS] and [SEP] receive ... of attention",
    r"sharpest first|farthest first": "lowest entropy first, longest range first",
    r"rest to 100": "rows renormalised",
    r"\bsigns and itself|words and signs\b": "punctuation",
    r"on no other word more than": "no other word stands out",
    r"attention add up to": "summed over all layers",
    r"which heads can be switched off": "switch heads off and see what changes",
    r"when does each model know": "at which layer does the answer appear",
    r"\bdecides on\b": "settles on",
    r"\bin place \{|the place of the final": "rank",
    r"share of the whole depth": "relative depth",
    r"of the usual$": "the usual compute",
    r"see words alike|see alike": "similar representations",
    r"the fuller the colo": "stronger colour = more similar",
    r"often repeated and wrong": "a common misconception",
    r"\bpart (most|by)\b": "differ most, differ by",
    r"read the course": "look at the trend",
    r"beside them$|beside the pair": "for comparison",
    r"what it would say to the student": "the training loss on this sentence",
    r"was ever its loss": "trained on the second number only",
    r"made for you, one at a time": "runs are not saved",
    r"\btold right\b|\btells \{\w+\}": "classified correctly",
    r"\bmost of all for\b": "mainly because of",
    r"from the text of masks": "score difference from the all-[MASK] baseline",
    r"to its own full height": "each strip has its own scale",
    r"are no order\b": "do not rank the models",
    r"own weights rest|layer at rest": "base weights frozen",
    r"not (measured is|was) not? ?advised|not advised": "not recommended",
    r"too (large|slow)$|scores too little": "over the limit",
    r"\(0: any\)": "leave empty for no limit",
    r"directions stay empty": "dimensions are unused",
    r"× (fewer|more) (numbers|parameters)": "9.4 times fewer weights",
    r"trust only what lies": "smaller differences are noise",
    r"hardly feels it": "barely affected",
    r"9\d ?% (of the median|under)": "95% CI of the median, p90",
    r"\+\{\w+\} beyond": "outliers not shown",
    r"round was over in time": "exceeded the time limit",
    r"change places": "cross over",
    r"texts at once|^what runs$": "batch size, workload",
    r"borne out": "supported",
    r"can be had\b": "could not be downloaded, available",
    r"lines for another page": "embed code copied",
    r"narrow door|nobody knows at the start|half the work, and all": "factorised embeddings, ...",
    r"in pieces of its own": "tokenized",
    r"\bwide instead of\b": "n-dimensional embeddings, projected to",
    r"first (guess|choice|answer)(e?s)?\b": "top prediction",
    r"\bhid(den)? words?\b|\bhide (each|this|a) word|words? (was|is) hidden\b": "masked",
    r"never taught|any teaching": "held-out, training",
    r"\blearn(ed)? alone\b": "trained independently",
    r"\bword head\b": "MLM head",
    r"the time was over": "the time limit was reached",
    r"near the processor": "in the cache",
    r"\blooks? at (each other|the other)|\bwho looks alike": "attend",
    r"signs without letters|added tokens and signs": "punctuation",
    r"is said rightly": "which claims hold up",
    r"objective notice|was asked whether": "what NSP and SOP detect; trained on NSP",
    r"keep to these limits": "meets the limits",
    r"hooks counted": "calls, distinct layers",
    r"one pass \d+ ?%": "activations of one pass take",
    r"machine's limit, and the times": "roofline: ...",
    r"two texts, patched": "activation patching: ...",
    r"light or dark": "theme",
    r"\ban echo\b|year or place": "what the example shows",
    r"\bdraws? on\b": "attends to",
    r"to hide it\b|a hidden word to bring": "mask or unmask",
    r"\btells \d": "classifies correctly",
    r"each, in pieces": "tokenizes",
    r"equal words": "equally likely words",
}
"""What a reader of the field found odd, as a pattern, and what is said instead."""
NUMBERS = {
    r"[\d}] %": "60%, without a space",
    r"(?<![\w\[×.·/−-])\.\d\d\b": "0.13, with its zero",
    r"(?<=[ (\[:|])-\d+(\.\d+)?(?![\d-])(?!\))": "−0.5, with a true minus",
    r"\d\.\d+e[-+]?\d": "7.0×10⁻⁴",
}


def constants(source: str) -> list[str]:
    """The strings of a module that are not its documentation, placeholders left as {}."""
    tree = ast.parse(source)
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    said = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            said.append(
                "".join(
                    getattr(part, "value", "{}") if isinstance(part, ast.Constant) else "{x}"
                    for part in node.values
                )
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            said += [] if id(node) in bare else [node.value]
    return said


def strings(source: str) -> list[str]:
    """The strings of a script, one line each."""
    code = re.sub(r"(?m)(^|\s)//.*$|/\*.*?\*/", "", source, flags=re.DOTALL)
    return [found[1:-1] for found in re.findall(r"'[^'\n]*'|\"[^\"\n]*\"|`[^`]*`", code)]


def values(found: object) -> list[str]:
    """Every text of a JSON document."""
    if isinstance(found, str):
        return [found]
    items = found.values() if isinstance(found, dict) else found if isinstance(found, list) else ()
    return [text for item in items for text in values(item)]


def prose(source: str) -> list[str]:
    """The lines of a Markdown file that are not code."""
    return re.sub(r"```.*?```|`[^`]*`", "", source, flags=re.DOTALL).splitlines()


def read(pattern: str, kind: Callable[[str], list[str]]) -> dict[str, list[str]]:
    found = sorted(ROOT.glob(pattern))
    assert found, pattern
    return {p.relative_to(ROOT).as_posix(): kind(p.read_text("utf-8")) for p in found}


@cache
def sources() -> dict[str, list[str]]:
    """Every text that a reader may see, by file."""
    layers = ("ui", "views", "analysis", "serving", "timing", "models", "inference", "links")
    return {
        **{
            k: v
            for layer in layers
            for k, v in read(f"explorer/{layer}/**/*.py", constants).items()
        },
        **read("training/report/card*.py", constants),
        **read("training/report/overview.py", constants),
        **read("assets/js/**/*.js", strings),
        **read("assets/data/gallery.json", lambda s: values(json.loads(s))),
        **read(
            "assets/data/examples.json",
            lambda s: [e[k] for e in json.loads(s)["examples"] for k in ("label", "shows")],
        ),
        **read("explorer/*.py", constants),
        **read(
            "assets/data/claims.json",
            lambda s: [c[k] for c in json.loads(s)["checks"] for k in ("name", "measures")],
        ),
        **read("README.md", prose),
        **read("BENCHMARKS.md", prose),
        **read("GLOSSARY.md", prose),
        **read("docs/*.md", prose),
        **read("assets/models/**/README.md", prose),
    }


def offenders(patterns: dict[str, str], kinds: tuple[str, ...]) -> list[str]:
    found = []
    for path, texts in sources().items():
        for text in texts if path.endswith(kinds) else ():
            for pattern, instead in patterns.items():
                hit = re.search(pattern, text, re.IGNORECASE)
                if hit:
                    found.append(f"{path}: “{hit[0]}” in “{text[:90]}”; rather: {instead}")
    return found


def test_no_term_that_was_replaced_comes_back():
    assert not offenders(REPLACED, (".py", ".js", ".json", ".md"))


def test_numbers_have_one_form():
    assert not offenders(NUMBERS, (".py", ".json", ".md"))


def test_no_name_is_held_together_by_another_hyphen():
    """A non-breaking hyphen looks alike and is not found by a search."""
    assert not [p for p, texts in sources().items() if any("‑" in text for text in texts)]
