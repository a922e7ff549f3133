"""The calculated table of docs/serving.md is what its own arithmetic gives."""

import math
import re
from pathlib import Path

SAID = (Path(__file__).parents[2] / "docs" / "serving.md").read_text("utf-8")
MEMORY = r"Memory: ([\d.]+) GB for each page and ([\d.]+) GB for each replica"
ROWS = [
    [float(cell.split()[0].replace(",", "")) for cell in line.strip("| ").split("|")]
    for line in SAID.partition("| visitors at once |")[2].splitlines()[2:]
    if line.startswith("|")
]


def sized(visitors):
    """A row, by the figures in the sentences below the table."""
    (every,) = re.findall(r"Compares a second = visitors / (\d+)", SAID)
    page, of = re.findall(r"Pages = Compares a second × (\d+) ms / (\d+) ms", SAID)[0]
    replica, of_it = re.findall(r"each model = Compares a second × (\d+) ms / (\d+) ms", SAID)[0]
    page_gb, replica_gb = re.findall(MEMORY, SAID)[0]
    per_second = visitors / int(every)
    pages = math.ceil(per_second * int(page) / int(of))
    replicas = math.ceil(per_second * int(replica) / int(of_it))
    memory = [pages * float(page_gb), 3 * replicas * float(replica_gb)]
    memory = [round(gb, 1) for gb in memory]
    return [visitors, per_second, pages, replicas, *memory, pages + 3 * replicas]


def test_every_row_is_what_the_arithmetic_below_it_gives():
    assert [row[0] for row in ROWS] == [10, 100, 1_000, 10_000]
    assert [sized(row[0]) for row in ROWS] == ROWS


def test_what_it_takes_a_page_to_cost_is_what_was_measured():
    measured = (Path(__file__).parents[2] / "BENCHMARKS.md").read_text("utf-8")
    low, high = re.findall(r"the page takes (\d+) to (\d+) ms for each", measured)[0]
    (page,) = re.findall(r"Pages = Compares a second × (\d+) ms", SAID)
    assert int(low) <= int(page) <= int(high)
