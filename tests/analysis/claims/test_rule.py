"""Verdicts follow one rule: recomputed from the printed cells, and never in contradiction."""

import json
from decimal import ROUND_HALF_UP, Decimal
from itertools import permutations

import pytest
from transformers import (
    AlbertConfig,
    AlbertModel,
    BertConfig,
    BertModel,
    DistilBertConfig,
    DistilBertModel,
)

from explorer.analysis.claims.ledger import LEDGER, TABLES, claims_ledger
from explorer.analysis.claims.rule import (
    ClaimedNumber,
    SourcedQuantity,
    SourceValue,
    number_verdict,
    worst_verdict,
)
from explorer.assets import Broken

RAW = json.loads(LEDGER.read_text("utf-8"))
ORDER = ("right", "imprecise", "unsupported", "wrong")


def printed_cell(path):
    table_id, row, column = path.split("/")
    (table,) = (t for t in json.loads(TABLES.read_text("utf-8"))["tables"] if t["id"] == table_id)
    at = [c["label"] for c in table["columns"]].index(column)
    (values,) = (r["values"] for r in table["rows"] if r["name"] == row)
    return Decimal(str(values[at]))


def source_value(source):
    if "value" in source:
        return Decimal(str(source["value"]))
    a, *rest = map(printed_cell, source["cells"])
    made = {
        "value": lambda: a,
        "difference": lambda: a - rest[0],
        "ratio": lambda: a / rest[0],
        "share": lambda: 100 * a / rest[0],
        "saved": lambda: 100 - 100 * a / rest[0],
    }
    return made[source.get("as", "value")]()


def rounded(x, unit):
    return (x / unit).quantize(Decimal(1), ROUND_HALF_UP) * unit if unit else x


def recomputed(number, sources):
    """The verdict by the words of the rule, in decimal arithmetic."""
    value, unit = Decimal(str(number["value"])), Decimal(str(number.get("unit", 0)))
    agree, plain, near = [], [], []
    for source in sources:
        x = source_value(source)
        coarser = max(unit, Decimal(str(source.get("unit", 0))))
        holds = {
            "is": rounded(x, coarser) == rounded(value, coarser),
            "about": abs(x - value) <= unit,
            "at_least": x >= value,
            "at_most": x <= value,
            "more_than": x > value,
            "less_than": x < value,
        }[number["op"]]
        agree.append(holds)
        plain += [] if source.get("condition") else [holds]
        near.append(number["op"] in ("is", "about") and abs(x - value) <= unit)
    if plain and all(plain):
        return "right"
    return "imprecise" if any(agree) or any(near) else "wrong"


def test_the_verdict_of_every_row_with_numbers_is_what_the_rule_says():
    sources = {q["id"]: q["sources"] for q in RAW["quantities"]}
    claims = {claim.id: claim for claim in claims_ledger().claims}
    rows = [row for row in RAW["claims"] if row.get("numbers")]
    assert len(rows) > 90
    for row in rows:
        verdicts = [recomputed(n, sources[n["quantity"]]) for n in row["numbers"]]
        verdicts += [row["verdict"]] if "verdict" in row else []
        assert claims[row["id"]].verdict == max(verdicts, key=ORDER.index), row["id"]


def test_every_count_of_a_model_is_what_transformers_builds():
    def albert(width, layers):
        shape = {"hidden_size": width, "num_hidden_layers": layers, "intermediate_size": 4 * width}
        return AlbertModel(AlbertConfig(**shape, num_attention_heads=width // 64))

    def bert(width, layers):
        shape = {"hidden_size": width, "num_hidden_layers": layers, "intermediate_size": 4 * width}
        return BertModel(BertConfig(**shape, num_attention_heads=width // 64))

    import torch

    with torch.device("meta"):
        networks = {
            "bert": bert(768, 12),
            "bert_large": bert(1024, 24),
            "distilbert": DistilBertModel(DistilBertConfig()),
            "albert": albert(768, 12),
            "albert_large": albert(1024, 24),
            "albert_xlarge": albert(2048, 24),
            "albert_xxlarge": albert(4096, 12),
        }
    counts = {key: sum(p.numel() for p in net.parameters()) for key, net in networks.items()}
    quantities = claims_ledger().quantities
    for key, count in counts.items():
        counted = [s for s in quantities[f"{key}.parameters"].sources if "count" in s.where]
        assert counted[0].value == pytest.approx(count / 1e6, abs=1e-6), key
    saved = {key: 100 * (1 - counts[key] / counts["bert"]) for key in ("distilbert", "albert")}
    for key, share in saved.items():
        (counted,) = (s for s in quantities[f"{key}.cut"].sources if "count" in s.where)
        assert counted.value == pytest.approx(share, abs=1e-3)


@pytest.mark.parametrize(
    ("op", "value", "unit", "sources", "verdict"),
    [
        ("is", 40, 10, [(39.4, 0)], "right"),
        ("is", 90, 10, [(89.3, 0)], "right"),
        ("is", 11, 1, [(12, 1), (11.68, 0)], "imprecise"),
        ("is", 235, 1, [(235, 1), (222.6, 0)], "imprecise"),
        ("is", 59, 1, [(60, 10), (58.7, 0)], "right"),
        ("is", 0.4, 0.1, [(0.35, 0)], "right"),  # 0.35 / 0.1 is 3.4999999999999996
        ("is", 76.9, 0.1, [(77.0, 0)], "imprecise"),
        ("is", 102, 1, [(97.3, 0), (104.1, 0)], "wrong"),
        ("is", 12, 0, [(11, 0)], "wrong"),
        ("about", 11, 1, [(11.68, 0)], "right"),
        ("about", 11, 1, [(12.5, 0)], "wrong"),
        ("at_least", 100, 0, [(98.2, 0), (97.0, 0)], "wrong"),
        ("at_least", 100, 0, [(97.3, 0), (104.1, 0)], "imprecise"),
        ("more_than", 1, 0, [(1, 0)], "wrong"),
        ("less_than", 1, 0, [(0.606, 0)], "right"),
        ("at_most", 1, 0, [(1, 0)], "right"),
    ],
)
def test_a_number_is_right_imprecise_or_wrong(op, value, unit, sources, verdict):
    quantity = SourcedQuantity("x", "x", tuple(SourceValue("", *source) for source in sources))
    assert number_verdict(ClaimedNumber("x", op, value, unit), quantity) == verdict


def test_what_holds_only_under_a_condition_is_imprecise():
    sources = (SourceValue("", 12.0), SourceValue("", 15.0, 0, "chosen, not replaced"))
    quantity = SourcedQuantity("x", "x", sources)
    assert number_verdict(ClaimedNumber("x", "is", 15, 1), quantity) == "imprecise"
    assert number_verdict(ClaimedNumber("x", "is", 12, 1), quantity) == "right"


def test_a_claim_is_as_wrong_as_its_worst_part():
    assert worst_verdict(["right", "wrong", "imprecise"]) == "wrong"
    assert worst_verdict(["right", "unsupported"]) == "unsupported"
    assert worst_verdict(["right"]) == "right"
    with pytest.raises(ValueError, match="empty"):
        worst_verdict([])


# The law: two rows about the same quantity never have contradictory verdicts.


def allowed(number):
    """Values of a quantity for which a number holds, as (low, high, open at the end)."""
    value, unit = number["value"], number.get("unit", 0)
    inf = float("inf")
    return {
        "is": (value - unit / 2, value + unit / 2),
        "about": (value - unit, value + unit),
        "at_least": (value, inf),
        "more_than": (value + 1e-12, inf),
        "at_most": (-inf, value),
        "less_than": (-inf, value - 1e-12),
    }[number["op"]]


def says_all_of(strong, weak):
    """Whether the numbers of one row imply every number of another."""

    def implied(number):
        low, high = allowed(number)
        return any(
            other["quantity"] == number["quantity"]
            and low <= allowed(other)[0]
            and allowed(other)[1] <= high
            for other in strong.get("numbers", [])
        )

    return bool(weak.get("numbers")) and all(map(implied, weak["numbers"]))


def contradictions(rows, verdicts):
    """Pairs of rows whose verdicts cannot both be true, each with the reason."""
    by_id = {row["id"]: row for row in rows}
    better = lambda a, b: ORDER.index(verdicts[a]) < ORDER.index(verdicts[b])  # noqa: E731
    found = []
    for strong, weak in permutations(rows, 2):
        is_all = weak.get("verdict", "right") == "right"  # its words cannot lower its verdict
        if is_all and says_all_of(strong, weak) and better(strong["id"], weak["id"]):
            found.append((strong["id"], weak["id"], "the stronger has the better verdict"))
    for row in rows:
        pairs = [(row["id"], other) for other in row.get("implies", [])]
        found += [(a, b, "implied") for a, b in pairs if better(a, b)]
        if (same := row.get("same")) and verdicts[same] != verdicts[row["id"]]:
            found.append((row["id"], same, "two wordings of one claim"))
        for other in row.get("opposes", []):
            assert row["id"] in by_id[other].get("opposes", []), "they oppose each other"
            if verdicts[row["id"]] == verdicts[other] == "right":
                found.append((row["id"], other, "both cannot be right"))
    return found


def test_no_two_rows_about_the_same_cells_contradict_each_other():
    verdicts = {claim.id: claim.verdict for claim in claims_ledger().claims}
    pairs = [p for p in permutations(RAW["claims"], 2) if says_all_of(*p)]
    assert len(pairs) > 100, "so many pairs of rows are about the same"
    assert contradictions(RAW["claims"], verdicts) == []


@pytest.mark.parametrize(
    ("changed", "pair"),
    [
        ({"B23": "wrong"}, {"B13", "B23"}),
        ({"E24": "imprecise"}, {"A22", "E24"}),
        ({"C31": "right", "A37": "imprecise"}, {"A37", "C31"}),
        ({"D17": "wrong"}, {"A36", "D17"}),
        ({"E42": "wrong"}, {"C39", "E42"}),
        ({"C40": "right", "E43": "right"}, {"C40", "E43"}),
    ],
)
def test_the_law_finds_verdicts_that_contradict_each_other(changed, pair):
    verdicts = {claim.id: claim.verdict for claim in claims_ledger().claims} | changed
    found = contradictions(RAW["claims"], verdicts)
    assert any({a, b} == pair for a, b, _ in found)


def test_a_claim_without_numbers_needs_a_verdict(tmp_path):
    raw = json.loads(LEDGER.read_text("utf-8"))
    row = next(row for row in raw["claims"] if row["id"] == "A12")
    del row["verdict"]
    path = tmp_path / "claims.json"
    path.write_text(json.dumps(raw), "utf-8")
    with pytest.raises(Broken, match="A12"):
        claims_ledger.__wrapped__(path)
