"""A RoBERTa beside the random family: one segment, and positions that begin at 2."""

import pytest

from explorer.models import specs
from explorer.models.kinds import KINDS, ROBERTA
from tests.tiny_roberta import roberta_spec, save_roberta


@pytest.fixture(scope="session")
def _roberta_pieces(_tiny_folder):
    return save_roberta(_tiny_folder / "mini-roberta")


@pytest.fixture
def four(tiny_family, _roberta_pieces, monkeypatch):
    """The random family and a random RoBERTa."""
    monkeypatch.setitem(KINDS, "roberta", ROBERTA)
    monkeypatch.setitem(specs.MINI, "roberta", roberta_spec(specs, _roberta_pieces))
    specs.MODEL_KEYS.append("roberta")
    yield tiny_family
    specs.MODEL_KEYS.remove("roberta")
