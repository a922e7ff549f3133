"""The browser prints a number as Python does: by the rules of the same name."""

import json
import subprocess
from random import Random

import pytest

from explorer.analysis import digits
from explorer.assets import ASSETS
from tests.needs import needs_node

pytestmark = [needs_node, pytest.mark.processes]
RULES = {
    "number": digits.probability,
    "percent": digits.percent,
    "nats": digits.nats,
    "cosine": digits.cosine,
    "quotient": digits.quotient,
    "weights": digits.weights,
    "memory": digits.memory,
    "gflop": digits.gflop,
}
"""Python's rules by the browser's names."""
EDGES = (0, 1e-5, 0.00049, 0.0005, 0.00099, 0.001, 0.4996, 0.9994, 0.9996, 1)
LARGE = (1.994, 1.996, 9.994, 9.996, 99.94, 99.96, 999_999, 1_000_001, 9.994e6, 9.996e6, 1.2e9)


def test_both_print_every_kind_of_number_alike():
    random = Random(71)
    shares = [*EDGES, *(random.random() ** 4 for _ in range(200))]
    amounts = [*shares, *LARGE, *(10 ** random.uniform(-2, 9.5) for _ in range(200))]
    given = {name: shares if name in SHARES else amounts for name in RULES}
    printed = in_the_browser(given)
    for name, rule in RULES.items():
        assert printed[name] == [rule(x) for x in given[name]], name


SHARES = {"number", "percent", "cosine"}
"""Kinds whose numbers are from 0 to 1."""


def in_the_browser(given):
    """Return the numbers of each kind as kit/numbers.js prints them."""
    module = (ASSETS / "js" / "kit" / "numbers.js").as_uri()
    script = (
        f"import * as rules from {json.dumps(module)};"
        "import {readFileSync} from 'node:fs';"
        "const given = JSON.parse(readFileSync(0, 'utf8'));"
        "const print = ([name, list]) => [name, list.map(x => rules[name](x))];"
        "const printed = Object.fromEntries(Object.entries(given).map(print));"
        "process.stdout.write(JSON.stringify(printed));"
    )
    done = subprocess.run(
        ["node", "--input-type=module", "-e", script],
        input=json.dumps(given),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
