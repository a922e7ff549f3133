"""Data of every kind of canvas, from the page's own handlers with random models."""

import json
from dataclasses import replace
from functools import partial

import numpy as np

from explorer.context import configure, context
from explorer.links.page_state import PageState
from explorer.ui.kit.jobs import handler
from explorer.ui.shell.tabs import values_of
from tests.analysis.latency.test_family import measured

STATE = PageState(text="the cat sat on the [MASK].")
LAST = -1
LIST = "text,answer,group\nthe [MASK] sat.,cat,x\nthe dog [MASK] on a mat.,sat,y\n"
TIMES = {"bert": 100.0, "distilbert": 50.0, "albert": 98.0}


def page_values(monkeypatch):
    """Return the data of each picture by its kind; needs the fixture ``tiny_family``."""
    values = (
        attention_values()
        | layer_values(monkeypatch)
        | depth_values(monkeypatch)
        | distillation_values(monkeypatch)
        | texts_values()
        | other_values()
    )
    return {kind: json.loads(str(value)) for kind, value in values.items()}


def attention_values():
    from explorer.ui.attention import folds, tab

    return {
        "attention/wall": values_of(tab, STATE)[1],
        "attention/summary": folds.show_summary(STATE, "rollout")[1],
        "attention/switches": folds.show_switches(STATE)[1],
        "attention/bertviz": folds.show_view(STATE, "bert", "head")[1],
    }


def layer_values(monkeypatch):
    from explorer.analysis import layer as measured_recurrent
    from explorer.ui.layer import folds, tab

    monkeypatch.setattr(folds.assets, "sentences", lambda: SENTENCES)
    monkeypatch.setattr(measured_recurrent, "LENGTHS", (8, 16))
    hasty = replace(measured_recurrent.PLAN, max_rounds=8, max_warm_rounds=1)
    measure = partial(measured_recurrent.measure_recurrent, plan=hasty)
    monkeypatch.setattr(measured_recurrent, "measure_recurrent", measure)
    return {
        "layer/stations": values_of(tab, STATE)[1],
        "layer/steps": folds.show_steps(STATE)[1],
        "layer/held_out": list(handler(folds.HELD_OUT)(STATE))[LAST][1],
        "layer/recurrent": list(handler(folds.RECURRENT)(STATE))[LAST][1],
    }


def texts_values():
    from explorer.lists.ui import tab
    from explorer.lists.views.tuned import charts as tuning_charts
    from explorer.models.tuning.training import Curves, Epoch
    from explorer.ui.kit.canvas import ran_with
    from tests.lists.ui.test_tab import asked

    epochs = (Epoch(2, 0.65, 0.6, 0.5), Epoch(4, 0.45, 0.5, 0.75))
    course = Curves(4, losses=(0.7, 0.6, 0.5, 0.4), epochs=epochs)
    tuning = tuning_charts({"bert": [course]}, {"bert": "BERT"}, ran_with(STATE))
    *_, rows, charts, _ = list(handler(tab.LIST)(asked(LIST), STATE))[LAST]
    shown = {"texts/ask": values_of(tab, STATE)[1], "texts/rows": rows, "texts/charts": charts}
    return shown | {"texts/tuning": tuning}


SAME_TWICE = PageState(family="only,before=mini-bert,after=mini-bert")
"""A page of one model in two columns."""
TWO_USES = (
    "the unbelievable cat sat.",
    "unbelievable",
    "it was [MASK]! [SEP] the =cat's mat.",
    "mat",
)
"""Two sentences and a word in each: one of many pieces, one after a mask and a separator."""


def depth_values(monkeypatch):
    from explorer.ui.depth import changed, meaning, patching, tab
    from explorer.ui.depth import folds as depth_folds

    texts = ("the cat sat on the mat.", "a dog ran in paris and the cat sat.")
    monkeypatch.setattr(changed, "sentences", lambda: texts)
    columns = context().columns
    configure(columns=columns or ("before", "after"))
    of_pair = list(handler(changed.CHANGED)(SAME_TWICE, "", False))[LAST][1]
    configure(columns=columns)
    monkeypatch.setattr(
        depth_folds.library, "sentences", lambda: ("the cat sat.", "a dog ran in paris.")
    )
    travel, _, film, _ = depth_folds.show_moves(STATE)
    return {
        "depth/lens": values_of(tab, STATE)[1],
        "depth/similarity": list(handler(depth_folds.SIMILARITY)(STATE))[LAST][1],
        "depth/changed": of_pair,
        "depth/meaning": list(handler(meaning.MEANING)(STATE, *TWO_USES))[LAST][1],
        "depth/patching": list(handler(patching.PATCHING)(STATE, "the dog sat on the [MASK]."))[
            LAST
        ][2],
        "depth/travel": travel,
        "depth/projection": depth_folds.show_projection(STATE)[1],
        "depth/film": film,
    }


def distillation_values(monkeypatch):
    from explorer.ui.distillation import folds, strings, tab
    from explorer.views.distillation.live import live_canvas

    monkeypatch.setattr(folds, "sentences", lambda: SENTENCES)
    settings = folds.settings_of(tuple(folds._defaults()))
    keys = {"teacher": folds.TEACHER, "student": folds.STUDENT}
    sentence_texts = {"texts": strings.CANVAS, "sentence": "", "done": True, "keys": keys}
    return {
        "distillation/lab": values_of(tab, STATE)[1],
        "distillation/losses": folds.show_losses(STATE),
        "distillation/agreement": list(handler(folds.AGREEMENT)(STATE))[LAST][0],
        "distillation/live": live_canvas(
            settings, _reports(), ["cat"], np.array([0.5]), sentence_texts
        ),
    }


def sweep_value():
    from explorer.analysis.latency.family import Sweep
    from explorer.timing.workload import Workload
    from explorer.ui.latency.strings import SWEEP_TITLES
    from explorer.views.latency.sweep import sweep_canvas

    points = tuple(measured(TIMES, Workload(length=n)) for n in (16, 32))
    return sweep_canvas(Sweep("length", points), SWEEP_TITLES)


def measured_value():
    from explorer.analysis.latency.model_choice import Figure
    from explorer.library.model_choice import MeasuredModels
    from explorer.models.choice.family import family_specs
    from explorer.timing.workload import Workload

    names = tuple(spec.name for spec in family_specs("mini"))
    bert, albert = names[0], names[-1]
    times = {bert: Figure(4.0, 3.8, 4.3), albert: Figure(4.1, 4.0, 4.2)}
    shares = {"right": {bert: Figure(0.5, 0.4, 0.6), albert: Figure(0.3, 0.2, 0.4)}}
    return MeasuredModels("right", names, Workload(), times, shares)


def other_values():
    from explorer.ui.claims import tab
    from explorer.ui.claims import tab as claims
    from explorer.ui.kit.strings import BOX
    from explorer.ui.latency import model_choice
    from explorer.ui.latency.tab import draw_detail
    from explorer.ui.parameters import folds as parameters_folds
    from explorer.ui.parameters import tab as parameters
    from explorer.ui.predictions import folds as predictions_folds
    from explorer.ui.predictions import tab as predictions
    from explorer.ui.shell.view import ViewRequest, view_canvas, view_config

    embedding, spectrum, _ = parameters_folds.show_embedding(STATE)
    _, shares, ledger, results = values_of(claims, STATE)
    answer = json.loads(view_canvas(ViewRequest(STATE), accepted=True, drawn=True))
    return {
        "predictions/gaps": values_of(predictions, STATE)[1],
        "predictions/words": list(handler(predictions_folds.WORDS)(STATE))[LAST][1],
        "parameters/map": values_of(parameters, STATE)[1],
        "parameters/sizes": parameters_folds.show_sizes()[0],
        "parameters/tensors": parameters_folds.show_tensors(STATE),
        "parameters/embedding": embedding,
        "parameters/spectrum": spectrum,
        "parameters/sharing": parameters_folds.show_sharing(),
        "parameters/build": parameters_folds.show_builder()[0],
        "parameters/memory": parameters_folds.show_memory("mini", 16, 2, True),
        "latency/sweep": sweep_value(),
        "latency/samples": draw_detail(measured(TIMES, n_rounds=40))[1],
        "latency/choose": model_choice.show_choice(STATE, measured_value(), 0, 4, "right", 30)[1],
        "claims/shares": shares,
        "claims/ledger": ledger,
        "claims/results": results,
        "claims/checks": claims.show_checks(),
        "claims/benchmarks": tab.show_tables(),
        "claims/retention": tab.show_retention(*tab.START)[1],
        "page/words": json.dumps({"text": STATE.text, **BOX}),
        "page/view": json.dumps(view_config() | answer),
    }


SENTENCES = (
    {"text": "the cat sat on the [MASK].", "answer": "mat"},
    {"text": "paris is the capital of [MASK].", "answer": "france"},
)


def _reports():
    from explorer.analysis.distillation.live import LiveAgreement, LiveReport

    parts = {"loss": 3.5, "ce": 0.5, "mlm": 1.0, "cos": 0.25}
    return [LiveReport(10, parts, LiveAgreement(0.5, 0.25, 0.125), np.array([0.25]))]
