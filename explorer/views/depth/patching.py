"""JSON of activation patching: the proposed changes, and what each state brings back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from explorer.analysis.depth.patching import OneChange, Patching, TextPair
from explorer.analysis.records import unrounded
from explorer.models.tokens import Tokens
from explorer.views.depth.lens import mask_places
from explorer.views.markup import script_json


@dataclass(frozen=True, slots=True, eq=False)
class PatchingResults:
    """Results of patching one pair of texts."""

    tokens: Tokens
    """Tokens of the first text, by any model."""
    pair: TextPair
    labels: Mapping[str, str]
    maps: Mapping[str, Sequence[Patching]]
    """Results per mask, by key of the models that can be patched."""
    refused: Mapping[str, str]
    """Reasons, by key of the models that cannot be patched."""


class OfferedChange(TypedDict):
    """Change of the text that is proposed."""

    kind: str
    was: str
    becomes: str
    text: str


class PatchingMap(TypedDict):
    """Effect of each state at one mask: [layer][word], empty where the texts differ too little."""

    answers: list[str]
    are_first: bool
    gaps: list[float]
    effect: list[list[float]]
    taken: int


class PatchedModel(TypedDict):
    """One model's maps, or why it has none."""

    key: str
    label: str
    maps: list[PatchingMap]
    groups: list[list[int]]
    refused: str


class PatchingFound(TypedDict):
    """Results of patching: the words of the second text, and each model's maps."""

    words: list[str]
    changed: int
    was: str
    becomes: str
    masks: list[int]
    n_masks: int
    near: list[str]
    models: list[PatchedModel]


class PatchingOffer(TypedDict):
    """Proposed changes, and the two texts."""

    offered: list[OfferedChange]
    first: str
    second: str
    other: str


def patching_canvas(
    suggested: Sequence[OneChange],
    first: str,
    second: str,
    results: PatchingResults | None,
    texts: Mapping[str, Any],
) -> str:
    """Return the JSON of suggested changes and, where given, of the patching results."""
    changes: list[OfferedChange] = [
        {
            "kind": change.kind,
            "was": change.original,
            "becomes": change.replacement,
            "text": change.text,
        }
        for change in suggested
    ]
    proposed = suggested[0].text if suggested else ""
    other = "" if second == proposed else second
    offer: PatchingOffer = {"offered": changes, "first": first, "second": second, "other": other}
    found: Mapping[str, object] = _results_json(results) if results else {}
    return script_json({**offer, **found, "texts": dict(texts)})


def _results_json(results: PatchingResults) -> PatchingFound:
    pair = results.pair
    n_masks = len(next(iter(results.maps.values()), ()))
    return {
        "words": list(pair.words),
        "changed": pair.changed,
        "was": pair.original,
        "becomes": pair.replacement,
        "masks": list(pair.masks[:n_masks]),
        "n_masks": len(pair.masks),
        "near": mask_places(results.tokens)[:n_masks],
        "models": [_model(key, label, results) for key, label in results.labels.items()],
    }


def _model(key: str, label: str, followed: PatchingResults) -> PatchedModel:
    maps: list[PatchingMap] = [
        {
            "answers": list(patching.answers),
            "are_first": patching.are_first,
            "gaps": unrounded([patching.d_first, patching.d_second]),
            "effect": unrounded(patching.effect),
            "taken": patching.takeover_layer(followed.pair.masks[mask], followed.pair.changed),
        }
        for mask, patching in enumerate(followed.maps.get(key, ()))
    ]
    return {
        "key": key,
        "label": label,
        "maps": maps,
        "groups": [list(group) for group in followed.pair.groups.get(key, ())],
        "refused": followed.refused.get(key, ""),
    }
