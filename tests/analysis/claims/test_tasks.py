"""LC21 and LC29: what the cards say, above a guess or not, and that they wait without adapters."""

import json
import shutil

import pytest

from explorer.analysis.claims.checks import check_result
from explorer.models import specs
from explorer.models.architectures import family_check_models


@pytest.mark.long
@pytest.mark.parametrize(("check", "shown"), [("LC21", "80.0%"), ("LC29", "40.0%")])
def test_a_tuned_family_is_measured_by_its_cards(tuned_family, check, shown):
    result = check_result(check, family_check_models("mini"))
    assert result.status == "holds"
    assert result.text.count(shown) == 3


def test_one_model_no_better_than_a_guess_fails_and_one_that_is_open_leaves_it_open(
    tuned_family, tmp_path, monkeypatch
):
    shutil.copytree(tuned_family.path, tmp_path / "m")
    monkeypatch.setattr(specs, "BUNDLED", tmp_path / "m")
    path = tmp_path / "m" / "mini-albert" / "tasks" / "sst2" / "card.json"
    for interval, status in (([0.48, 0.50], "fails"), ([0.48, 0.60], "undecided")):
        card = json.loads(path.read_text())
        card["scores"]["accuracy"]["interval"] = interval
        path.write_text(json.dumps(card))
        assert check_result("LC21", family_check_models("mini")).status == status


def test_without_adapters_both_wait(tiny_family):
    for check in ("LC21", "LC29"):
        result = check_result(check, family_check_models("mini"))
        assert result.status == "waits"
        assert "no adapter for this task" in result.text
