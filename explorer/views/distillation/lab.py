"""Soft-probability lab: the logits of two or three models, and charts over temperature."""

import base64
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from explorer.analysis.distillation.soft import HiddenWord, centred, shared_vocabulary
from explorer.analysis.measures import top_ids
from explorer.models.run import Run, answer_id, named_only
from explorer.models.tokens import Word, spelling_of
from explorer.views.chart import Chart, line
from explorer.views.markup import script_json
from explorer.views.theme import LOSSES

if TYPE_CHECKING:
    import plotly.graph_objects as go

CURVES_HEIGHT, STEPS = 360, 81
TICKS = (0.05, 0.2, 0.5, 1, 2, 5, 20)
ALWAYS = (1.0, 2.0)
"""Temperatures that always have a point: 1 as the models are, 2 as in training."""
LOOKS: dict[str, dict[str, Any]] = {
    "soft_loss": {"color": LOSSES["ce"], "width": 4.5},
    "soft_gradient": {"color": LOSSES["ce"], "width": 4.5},
    "ab": {"dash": "dot", "width": 2.25},
    "gradient": {"dash": "dot", "width": 2.25},
    "js": {"color": LOSSES["mlm"], "width": 2.25},
    "mean": {"color": LOSSES["cos"], "width": 2.25, "dash": "dash"},
}
"""Line styles: wide below dotted, so that both are visible where they coincide."""


def temperature_figures(ends: tuple[float, float], texts: Mapping[str, Any]) -> "list[go.Figure]":
    """Draw divergences and gradients over temperature without values.

    The browser has the logits and computes each trace by its ``meta``. The last trace is a marker
    on every line at the chosen temperature; the shape is a vertical line there.
    """
    steps = np.geomspace(*ends, STEPS).tolist()
    temperatures = sorted({*steps, *ALWAYS})
    charts = {
        "divergences": ("soft_loss", "ab", "js", "mean"),
        "gradients": ("soft_gradient", "gradient"),
    }
    return [_figure(temperatures, names, texts[title], texts) for title, names in charts.items()]


def _figure(
    temperatures: list[float], names: tuple[str, ...], title: str, texts: Mapping[str, Any]
) -> "go.Figure":
    import plotly.graph_objects as go

    figure = go.Figure(layout={"height": CURVES_HEIGHT, "hovermode": "x unified"})
    for name in names:
        curve = line(temperatures, [], texts["names"][name], line=LOOKS[name], meta=name)
        figure.add_trace(curve.update(visible=name != "mean", hovertemplate="%{y:.4g}"))
    figure.add_scatter(mode="markers", marker_size=9, showlegend=False, hoverinfo="skip")
    figure.add_vline(ALWAYS[0], line_width=1.25)
    figure.update_layout(title=title)
    figure.update_xaxes(type="log", tickvals=TICKS, ticktext=[f"{t:g}" for t in TICKS])
    figure.update_xaxes(title=texts["temperature"], hoverformat=".3~g")
    figure.update_yaxes(type="log", dtick=1)
    return figure


LISTED = 20
"""The longest top list that the reader can choose."""


class LabWord(TypedDict):
    """Word of the sentence, and whether it can be hidden."""

    text: str
    clickable: bool


class LabModel(TypedDict):
    """Model with its packed logits."""

    key: str
    label: str
    role_key: str
    role: str
    beside: bool
    logits: str


class ComparedModel(LabModel):
    """Teacher or student, with its likeliest tokens."""

    top: list[int]


class BesideModel(LabModel):
    """Third model: the packed id that each token of the teacher has there, and its top token."""

    partner: str
    share_first: float
    share_second: float
    first_id: int
    first_here: int
    first: str


class LabAnswer(TypedDict):
    """Token that was hidden; -1 where it is unknown."""

    id: int


class LabSettings(TypedDict):
    """Texts of the lab, its temperatures, its empty charts, and what is said of a third model."""

    texts: dict[str, Any]
    temperature: float
    temperatures: tuple[float, float]
    curves: list[Chart]
    back: bool
    beside_key: str
    beside_missing: str


class LabData(LabSettings):
    """Logits of every model at one mask, and the tokens that may be listed."""

    words: list[LabWord]
    selected: int
    models: list[ComparedModel | BesideModel]
    names: dict[int, str]
    answer: LabAnswer


def distillation_lab(
    hidden: HiddenWord,
    words: Sequence[Word],
    selected: int,
    settings: LabSettings,
    roles: Mapping[str, str],
) -> str:
    """Return the lab's JSON: every model's logits as float32, and the words that may be listed.

    These are both top lists, the answer, and the third model's top word where the teacher has it.

    Args:
        hidden: The runs and the mask.
        words: The words of the sentence, which can be hidden.
        selected: Index of the hidden word.
        settings: The lab's texts and further top-level values.
        roles: What each model is called after its name: ``teacher``, ``student``, ``beside``.
    """
    teacher, student = hidden.teacher, hidden.student
    tops = {
        run.spec.key: top_ids(named_only(hidden.logits(run), run.vocabulary), LISTED)
        for run in (teacher, student)
    }
    answer = [hidden.answer] if hidden.answer >= 0 else []
    models: list[ComparedModel | BesideModel] = [
        {**_model(hidden, run, role, roles), "top": tops[run.spec.key].tolist()}
        for run, role in ((teacher, "teacher"), (student, "student"))
    ]
    if hidden.third is not None:
        third = _third_model(hidden, hidden.third, roles)
        models.append(third)
        answer += [i for i in (third["first_here"],) if i >= 0]
    listed = np.unique(np.concatenate([*tops.values(), np.array(answer, np.int64)]))
    data: LabData = {
        "words": strip_words(words),
        "selected": selected,
        "models": models,
        "names": {int(i): shown_word(teacher.vocabulary, int(i)) for i in listed},
        "answer": {"id": hidden.answer},
        **settings,
    }
    return script_json(data)


def strip_words(words: Sequence[Word]) -> list[LabWord]:
    """Return the words of a sentence; masks and words with an alphanumeric start are clickable."""
    return [
        {"text": "▢" if w.is_mask else w.text, "clickable": w.is_mask or w.text[0].isalnum()}
        for w in words
    ]


def shown_word(vocabulary: tuple[str, ...], i: int) -> str:
    """Return a token in readable spelling."""
    return spelling_of(vocabulary).word(vocabulary[i])


def packed(array: np.ndarray) -> str:
    """Return an array as base64 of its little-endian bytes."""
    return base64.b64encode(array.astype(array.dtype.newbyteorder("<")).tobytes()).decode()


def _model(hidden: HiddenWord, run: Run, role: str, roles: Mapping[str, str]) -> LabModel:
    return {
        "key": run.spec.key,
        "label": run.spec.label,
        "role_key": role,
        "role": ", ".join(filter(None, (run.spec.label, roles[role]))),
        "beside": role == "beside",
        "logits": packed(centred(hidden.logits(run))),
    }


def _third_model(hidden: HiddenWord, run: Run, roles: Mapping[str, str]) -> BesideModel:
    shared = shared_vocabulary(hidden.teacher.vocabulary, run.vocabulary)
    first = answer_id(hidden.logits(run), run.vocabulary)
    here = np.flatnonzero(shared.partner == first)
    return {
        **_model(hidden, run, "beside", roles),
        "partner": packed(shared.partner),
        "share_first": shared.share_first,
        "share_second": shared.share_second,
        "first_id": first,
        "first_here": int(here[0]) if here.size else -1,
        "first": shown_word(run.vocabulary, first),
    }
