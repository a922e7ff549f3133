"""Distillation as HTML: softened probabilities as bars, and the divergences, as in the lab."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np

from explorer.analysis.digits import nats, percent, probability
from explorer.analysis.measures import entropy, js, kl_of_logs, log_softmax, softmax
from explorer.views.first.parts import buttons, controls
from explorer.views.markup import Markup, el, explained, join, model_name, note

LISTED = 8
"""Words of each of the two models."""
Model = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Softened:
    """One model of the lab with its probabilities at the temperature and at 1."""

    model: Model
    soft: np.ndarray
    plain: np.ndarray
    partner: np.ndarray | None
    """Ids of the teacher's words in the third model's vocabulary; -1 where it lacks one."""

    @classmethod
    def of(cls, model: Model, temperature: float) -> "Softened":
        """Return a model of the lab's JSON with its probabilities."""
        logits = _floats(model["logits"])
        partner = model.get("partner")
        ids = np.frombuffer(base64.b64decode(partner), np.int32) if partner else None
        return cls(model, softmax(logits, temperature), softmax(logits), ids)

    def at(self, word: int) -> int:
        """Return the id of a teacher's word in this model; -1 for none."""
        return word if self.partner is None else int(self.partner[word])


def _floats(packed: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(packed), np.float32)


def distillation_html(data: Mapping[str, Any], temperature: float) -> Markup:
    """Draw the JSON of ``distillation_lab`` at one temperature."""
    models = [Softened.of(model, temperature) for model in data["models"]]
    pair = [softened for softened in models if softened.partner is None]
    side = el("div", _dark(pair, data), _divergences(pair, data, temperature), class_="ds-side")
    outline = el("i", class_="ds-key ds-outline"), data["texts"]["outline"]
    legend = [
        *(_key(softened.model) for softened in models),
        el("span", *outline, class_="ds-lead"),
    ]
    main = el(
        "div",
        el("div", el("div", *legend, class_="ds-legend"), *_lists(data), class_="ds-top"),
        el("ol", *_rows(models, pair, data), class_="ds-list"),
        el("p", data["texts"]["scale"], class_="note scale"),
        class_="ds-main",
    )
    return join(_strip(data), _now(data, temperature), el("div", main, side, class_="ds-grid"))


def _lists(data: Mapping[str, Any]) -> list[Markup]:
    """Return the controls of the bars: their scale, and how many words are listed."""
    texts = data["texts"]
    scales = buttons(texts["scales_label"], list(texts["scales"].values()), 0)
    listed = el("select", el("option", str(LISTED)))
    return [
        controls(scales, class_=""),
        controls(el("label", texts["listed"]), listed, class_="ds-listed"),
    ]


def _key(model: Model) -> Markup:
    mark = el("i", class_="ds-key")
    return el("span", mark, model["role"], class_="model-name", data_model=model["key"])


def _strip(data: Mapping[str, Any]) -> Markup:
    words = [
        el(
            "span",
            item["text"],
            class_="ds-mark"
            if not item["clickable"]
            else f"ds-word{' chosen' * (i == data['selected'])}",
        )
        for i, item in enumerate(data["words"])
    ]
    lead = el("span", data["texts"]["pick"], class_="ds-lead")
    return el("div", lead, el("div", *words, class_="ds-strip", dir="auto"), class_="ds-pick")


def _now(data: Mapping[str, Any], temperature: float) -> Markup:
    texts = data["texts"]
    presets = [
        el("button", name, type="button", class_="chip", aria_pressed=str(t == temperature).lower())
        for t, name in texts["presets"]
    ]
    label, chosen = el("label", texts["temperature"]), el("span", f"{temperature:g}", class_="ds-t")
    dial = el(
        "div",
        label,
        el("span", "T = ", chosen, class_="ds-now"),
        controls(*presets, class_="ds-presets"),
        class_="ds-dial",
    )
    low, high = data["temperatures"]
    share = log(temperature / low) / log(high / low)
    field = {"min": 0, "max": 600, "value": round(600 * share), "aria_label": texts["temperature"]}
    room = el("div", "\u00a0", class_="ds-ticks")
    slider = controls(el("input", type="range", **field), room, class_="ds-range")
    return el("div", dial, slider, class_="ds-control")


def _rows(
    models: Sequence[Softened], pair: Sequence[Softened], data: Mapping[str, Any]
) -> list[Markup]:
    """Return a row of bars per word of both lists, and what is left for all other words."""
    ids = dict.fromkeys(word for softened in pair for word in softened.model["top"][:LISTED])
    teacher, student = pair
    order = sorted(ids, key=lambda word: (-teacher.soft[word], -student.soft[word]))
    left = [
        el("span", _left(softened, order), class_="ds-p", data_model=softened.model["key"])
        for softened in pair
    ]
    pad = [el("span", class_="ds-p")] * (len(models) - len(pair))
    n = f"{len(teacher.soft) - len(order):,}"
    name = el("span", data["texts"]["rest"].replace("{n}", n), class_="ds-text")
    rest = el(
        "li",
        el("span", name, class_="ds-name"),
        el("span", class_="ds-track"),
        el("span", *left, *pad, class_="ds-ps"),
        class_="ds-row ds-rest",
    )
    return [*(_row(word, models, data) for word in order), rest]


def _left(softened: Softened, shown: Sequence[int]) -> str:
    return probability(max(0.0, 1 - float(softened.soft[list(shown)].sum())))


def _row(word: int, models: Sequence[Softened], data: Mapping[str, Any]) -> Markup:
    texts, teacher = data["texts"], models[0].model
    badges = []
    if word == teacher["top"][0]:
        badges.append(el("span", texts["hard"], class_="badge ds-hard"))
    if word == data["answer"]["id"]:
        badges.append(el("span", texts["answer"], class_="badge ds-true"))
    name = el("span", data["names"][str(word)], class_="ds-text")
    return el(
        "li",
        el("span", name, *badges, class_="ds-name"),
        el(
            "span",
            *(_bars(softened, word) for softened in models),
            class_="ds-track",
            aria_hidden="true",
        ),
        el("span", *(_value(softened, word) for softened in models), class_="ds-ps"),
        class_="ds-row",
    )


def _bars(softened: Softened, word: int) -> Markup:
    key, at = softened.model["key"], softened.at(word)
    soft, plain = (float(p[at]) if at >= 0 else 0.0 for p in (softened.soft, softened.plain))
    ghost = 0.0 if np.array_equal(softened.soft, softened.plain) else plain
    return el(
        "span",
        el("i", class_="ds-ghost", data_model=key, style=f"--share:{ghost:.6g}"),
        el("i", class_="ds-bar", data_model=key, style=f"--share:{soft:.6g}"),
        class_="ds-pair",
    )


def _value(softened: Softened, word: int) -> Markup:
    at = softened.at(word)
    text = probability(float(softened.soft[at])) if at >= 0 else "–"
    return el("span", text, class_="ds-p", data_model=softened.model["key"])


def _dark(pair: Sequence[Softened], data: Mapping[str, Any]) -> Markup:
    """Return the card of what each model leaves to other words than its first."""
    texts, parts = data["texts"], []
    for softened in pair:
        key, first = softened.model["key"], float(softened.soft[softened.model["top"][0]])
        fill = el("i", style=f"--share:{first:.6g}")
        mass = el("span", fill, class_="ds-mass", aria_hidden="true")
        name = model_name(key, softened.model["label"])
        kept = el("strong", percent(1 - first), class_="ds-dark", data_model=key)
        parts.append(el("div", name, kept, mass, class_="ds-know", data_model=key))
    title = el("h3", explained(texts["dark_title"], *texts["terms"]))
    return el("section", title, *parts, note(texts["dark_note"]), class_="card ds-card")


def _divergences(pair: Sequence[Softened], data: Mapping[str, Any], temperature: float) -> Markup:
    p, q = (softened.soft for softened in pair)
    log_p, log_q = (
        log_softmax(_floats(softened.model["logits"]), temperature) for softened in pair
    )
    plain_p, plain_q = (log_softmax(_floats(softened.model["logits"])) for softened in pair)
    forward = float(kl_of_logs(log_p, log_q))
    divergences = {
        "kl_teacher_student": forward,
        "kl_plain": float(kl_of_logs(plain_p, plain_q)),
        "kl_student_teacher": float(kl_of_logs(log_q, log_p)),
        "js": float(js(p, q)),
        "t2_kl": temperature**2 * forward,
        "entropy_teacher": float(entropy(p)),
        "entropy_student": float(entropy(q)),
    }
    texts, lines = data["texts"], []
    for key, label, _ in texts["measures"]:
        lines += [
            el("dt", explained(label, *texts["terms"])),
            el("dd", nats(divergences[key])),
        ]
    title = el("h3", texts["measures_title"])
    return el("section", title, el("dl", *lines, class_="ds-measures"), class_="card ds-card")
