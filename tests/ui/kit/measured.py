"""Drawings of the latency tab for known measurements, and tables of other tabs."""

import json
import re
from dataclasses import replace

from explorer.analysis.latency.family import roofline
from explorer.analysis.latency.faster import FasterResult
from explorer.analysis.latency.report import latency_report
from explorer.analysis.latency.variants import AccuracyCost
from explorer.models.specs import BASE
from explorer.timing.workload import Workload
from tests.analysis.latency.test_family import measured
from tests.ui.latency.test_jobs import TIMES, variants

WORK = Workload(48, 2)


def timed_drawings():
    """Return every table and scale that holds times, by its kind."""
    from explorer.ui.latency import folds
    from explorer.ui.latency.tab import detail

    result = measured(TIMES, WORK)
    pair = measured({"bert": 163.0, "distilbert": 100.0}, WORK, tuple(BASE.values())[:2])
    limits = [roofline(spec, WORK, 4e11, 2e10) for spec in BASE.values()]
    timed = variants("bert", float32=0.1, int8=0.04)
    eight_texts = variants("bert", int8=0.16).summary
    models = (replace(timed, resident={"int8": 5}, batches={2: timed.summary, 8: eight_texts}),)
    faster = FasterResult(models, (AccuracyCost("bert", "int8", 0.9, 0.0123, 40),), workload=WORK)
    whole = detail(result)
    in_detail = ("latency/times", "latency/ratios")
    return {
        "latency/claim": folds.draw_claim({False: pair})[0],
        "latency/limits": folds.draw_limits((limits, result))[0],
        "latency/faster": folds.draw_faster(faster)[0],
        "latency/recorded": folds.draw_recorded(json.dumps(latency_report(result, {"torch": "9"}))),
        **{kind: piece(whole, kind) for kind in in_detail},
    }


def quoted_drawings(state):
    """Return every table of stored or published scores, by its kind."""
    from explorer.ui.parameters import folds
    from explorer.ui.parameters.strings import first_shape
    from explorer.ui.tasks import tab, tuned

    scores = tuned.show_kept(state)
    return {
        "parameters/built": folds.built_shape(first_shape(BASE["albert"].architecture)),
        "tasks/objectives": tab.show_objectives(state),
        **{kind: piece(scores, kind) for kind in ("tasks/sst2", "tasks/squad", "tasks/printed")},
    }


def piece(markup, kind):
    """Return one drawing of several, including its menu, which comes last in it."""
    return re.search(rf'<div class="drawn" data-kind="{kind}".*?</details>', markup, re.S)[0]
