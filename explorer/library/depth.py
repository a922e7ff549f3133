"""Predictions at every layer through the masked-LM head."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from explorer.inference.runs import call_on_model, get_run
from explorer.library import strings
from explorer.library.family import Family, asked
from explorer.library.results import Result
from explorer.links.page_state import PageState
from explorer.models.run import Run
from explorer.refusal import Refusal
from explorer.views.sketch import Sketch

if TYPE_CHECKING:
    from explorer.analysis.depth.lens import MaskLens


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Depth(Result):
    """Predictions of one model's masked-LM head for each mask at every layer."""

    model: str
    pieces: tuple[str, ...]
    vocabulary: tuple[str, ...]
    masks: "tuple[MaskLens, ...]"
    """Per mask: top ids and probabilities, rank of the final answer, KL(final || layer)."""

    COLUMNS: ClassVar = (
        *("model", "mask", "layer", "rank", "token", "probability"),
        *("rank_of_final", "kl_to_final"),
    )
    SKETCH: ClassVar = Sketch("lines", "layer", "probability", panels="model mask token")
    BAR: ClassVar = "probability"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``/depth``."""
        masks = [_as_json(self.vocabulary, lens) for lens in self.masks]
        return {"model": self.model, "tokens": list(self.pieces), "masks": masks}

    def rows(self) -> list[tuple[Any, ...]]:
        """Return a row for each mask, layer and listed token; layer 0 is the embeddings."""
        return [
            (
                *(self.model, mask, layer, rank, self.vocabulary[i], float(p)),
                *(int(lens.rank[layer]), float(lens.kl[layer])),
            )
            for mask, lens in enumerate(self.masks)
            for layer in range(len(lens.rank))
            for rank, (i, p) in enumerate(zip(lens.top_ids[layer], lens.top[layer], strict=True), 1)
        ]


def depth(text: str, family: Family | str = "mini", model: str = "bert") -> Depth:
    """Return a model's masked-LM head's predictions for each [MASK] at every layer.

    Args:
        text: The text, with at least one [MASK]; ``A [SEP] B`` makes a sentence pair.
        family: What ``load`` returned, or the name of a family.
        model: "bert", "distilbert" or "albert".

    Raises:
        Refusal: there is no mask, no such model, or the text is too long.
    """
    with asked(family) as models:
        spec, state = models.spec(model), models.state(text)
        run = get_run(spec, state)
        if not run.tokens.mask_positions:
            raise Refusal(strings.NO_MASK_TO_FOLLOW)
        masks = range(len(run.tokens.mask_positions))
        lenses = tuple(lens_of(run, state, mask) for mask in masks)
        return Depth(model, run.tokens.pieces, run.vocabulary, lenses)


def lens_of(run: Run, state: PageState, mask: int) -> "MaskLens":
    """Compute the lens of one mask at every layer; its last row is the run's own answer."""
    from explorer.analysis.depth.lens import mask_lens
    from explorer.models.forward import state_logits

    states = run.hidden_states[:-1, run.tokens.mask_positions[mask]]
    earlier = call_on_model(state_logits, run.spec, state, states)
    return mask_lens(run, mask, np.concatenate([earlier, run.mask_logits[mask, None]]))


def _as_json(vocabulary: tuple[str, ...], lens: "MaskLens") -> dict[str, Any]:
    layers = [
        {
            "layer": layer,
            "predictions": [
                {"token": vocabulary[i], "id": int(i), "probability": float(p)}
                for i, p in zip(lens.top_ids[layer], lens.top[layer], strict=True)
            ],
            "rank_of_final": int(lens.rank[layer]),
            "kl_to_final": float(lens.kl[layer]),
        }
        for layer in range(len(lens.rank))
    ]
    return {"position": lens.position, "layers": layers, "decided_at": lens.decided_at}
