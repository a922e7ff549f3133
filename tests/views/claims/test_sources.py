"""Every source that can be read somewhere leads there, and its text stays as it is printed."""

import re

import pytest

from explorer.analysis.claims.ledger import benchmark_tables, claims_ledger
from explorer.views.claims import ELSEWHERE, addresses, linked
from tests.markup import plain

SOURCES = [c.source for c in claims_ledger().claims] + [
    t.source for t in benchmark_tables().values()
]
UNLINKED = re.compile(
    r"measured (with|here)|no paper reports|metadata of|Model cards of|not read|same table|^$"
)
"""What is no place to go to: a measurement, the lack of a source, several files at once."""


@pytest.mark.parametrize("source", sorted(set(SOURCES)))
def test_a_source_leads_where_it_can_be_read_and_no_word_of_it_is_lost(source):
    shown = str(linked(source))
    assert plain(shown) == source
    ids = re.findall(r"\d{4}\.\d{4,5}", source)
    assert re.findall(r"arxiv\.org/abs/(\d{4}\.\d{4,5})", shown) == ids
    if not ids and not UNLINKED.search(source):
        assert "<a href=" in shown


def test_a_version_of_a_paper_is_part_of_its_address():
    places = addresses(["Lan (arXiv 1909.11942 v6); DistilBERT arXiv:1910.01108v4 Table 1"])
    assert list(places.values()) == [
        "https://arxiv.org/abs/1909.11942v6",
        "https://arxiv.org/abs/1910.01108v4",
    ]


def test_the_longer_of_two_names_is_the_link():
    assert "docs albert.md</a>" in linked("Hugging Face docs albert.md")
    assert "/distilbert/" in linked("file metadata (distilbert-base-uncased pytorch_model.bin)")


def test_every_place_is_named_by_a_source():
    said = "\n".join([*SOURCES, *(c.found for c in claims_ledger().claims)])
    assert [name for name in ELSEWHERE if name not in said] == []
    assert "<script" not in linked("<script>arXiv:1909.11942</script>")
