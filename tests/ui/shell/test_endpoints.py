"""Every endpoint asks the family that it was asked for, and refuses one that there is not."""

import inspect
import re

import pytest

from explorer import limits
from explorer.models.choice.family import PRESETS, family_specs
from explorer.refusal import Refusal
from explorer.ui.shell import api
from explorer.ui.shell.api import ENDPOINTS
from tests.public_names import ARGUMENTS

OF_ONE_SHAPE = "changed"
"""Compares two models of one shape, which no preset has: tests/library/test_changed.py."""
ASKED = {n: given for n, given in ARGUMENTS.items() if n not in ("parameters", OF_ONE_SHAPE)}


def test_every_endpoint_with_a_family_is_asked_here():
    takes = {n for n, f in ENDPOINTS.items() if "family" in inspect.signature(f).parameters}
    assert takes == {*ASKED, "latency", OF_ONE_SHAPE}


def said(name, family):
    try:
        return str(ENDPOINTS[name](**ASKED[name], family=family))
    except Refusal as refusal:
        return str(refusal)


@pytest.mark.parametrize("name", ASKED)
def test_the_family_asked_for_is_the_one_whose_files_are_missed(no_files, name):
    names = {f: {s.repo or s.name for s in family_specs(f)} for f in PRESETS}
    for family in PRESETS:
        answer = said(name, family)
        assert any(f"({one})" in answer for one in names[family]), answer
        others = set().union(*names.values()) - names[family]
        assert not any(f"({one})" in answer for one in others), answer


@pytest.mark.parametrize("name", ASKED)
def test_a_family_that_there_is_not_is_refused(name):
    for family in ("roberta", "bert=huge", "bert"):
        assert "There is no such family. Presets: mini, base, large. Sizes: bert: " in said(
            name, family
        )


def test_the_budget_names_every_endpoint_that_it_is_for():
    named = re.findall(r"/(\w+)", limits.PROCESSOR.sentence())
    assert sorted(named) == sorted(api.LONG)
    assert sorted(re.findall(r"`/(\w+)`", limits.PROCESSOR.subject)) == sorted(api.LONG)


def test_the_document_describes_every_endpoint_as_its_signature_and_docstring_do():
    written = api.DOCUMENT.read_text("utf-8")
    assert api.with_endpoints(written) == written, "python -m explorer.ui.shell.api writes it"
    assert re.findall(r"^### `/(\w+)`$", written, re.MULTILINE) == [*ENDPOINTS]


@pytest.mark.parametrize("row", api.TABLE, ids=lambda row: row.name)
def test_every_argument_and_answer_is_described(row):
    description = row.description
    assert [*description.arguments] == [*inspect.signature(row.answer).parameters]
    assert all(
        text.endswith(".")
        for text in (description.summary, description.json, *description.arguments.values())
    )
