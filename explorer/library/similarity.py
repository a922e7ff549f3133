"""Similarity of all layers of all models over the bundled sentences."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from explorer import assets
from explorer.inference.cache import key_of_family, memo
from explorer.inference.runs import call_on_model, gather, get_runs
from explorer.library.family import Family, asked, missing_reasons
from explorer.library.progress import result_of
from explorer.library.results import Result
from explorer.links.page_state import PageState
from explorer.models.specs import ModelSpec
from explorer.models.tokens import MASK
from explorer.refusal import Refusal
from explorer.views.sketch import Sketch

if TYPE_CHECKING:
    from explorer.analysis.depth.states import LayerSimilarity

MOST_WORDS = 1000
"""Upper limit of words: their square matrices of all layers stay under 150 MB."""
AT_ONCE = 8
"""Sentences between two steps of progress."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Similarity(Result):
    """CKA of every layer of every model with every other, over the bundled sentences."""

    family: str
    layers: "LayerSimilarity"
    """``cka`` and ``shuffled``, float64 [row, row]; ``nearest`` finds a layer's likest."""
    missing: Mapping[str, Refusal]

    COLUMNS: ClassVar = ("model", "layer", "other_model", "other_layer", "cka", "shuffled")
    SKETCH: ClassVar = Sketch(
        "heatmap", "other_layer", "cka", down="layer", panels="model other_model"
    )

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``/similarity``."""
        rows = [{"model": key, "layer": layer} for key, layer in self.layers.rows]
        matrices = {"cka": self.layers.cka.tolist(), "shuffled": self.layers.shuffled.tolist()}
        answer = {"family": self.family, "words": self.layers.n_words, "rows": rows, **matrices}
        return answer | missing_reasons(self.missing)

    def rows(self) -> list[tuple[Any, ...]]:
        """Return a row for each two layers; layer 0 is the embeddings."""
        layers = self.layers
        return [
            (*first, *second, float(layers.cka[i, j]), float(layers.shuffled[i, j]))
            for i, first in enumerate(layers.rows)
            for j, second in enumerate(layers.rows)
        ]


def similarity(family: Family | str = "mini") -> Similarity:
    """Compare the representations of all layers of all models by centered kernel alignment.

    The states are those of the first 1,000 words of the bundled sentences; 1 is equal up to a
    rotation and a scale, and ``shuffled`` is the level of chance.

    Args:
        family: What ``load`` returned, or the name of a family.

    Raises:
        Refusal: no model can be had.
    """
    with asked(family) as models:
        state = models.state(sentences()[0])
        runs, missing = get_runs(state)
        if not runs:
            raise Refusal(" ".join(str(error) for error in missing.values()))
        specs = {key: run.spec for key, run in runs.items()}
        layers = memo(
            key_of_family("similarity", specs, state),
            lambda: result_of(compared(specs, state), len(sentences()), "sentences"),
        )
        return Similarity(models.name, layers, missing)


@cache
def sentences() -> tuple[str, ...]:
    """Return the bundled sentences with their masked words filled in."""
    return tuple(
        sentence["text"].replace(MASK, sentence["answer"]) for sentence in assets.sentences()
    )


def compared(
    specs: Mapping[str, ModelSpec], state: PageState
) -> "Generator[int, None, LayerSimilarity]":
    """Run every sentence; yield how many are done before each batch, and return the similarity."""
    from explorer.analysis.depth.states import layer_similarity

    parts: dict[str, list[np.ndarray]] = {key: [] for key in specs}
    for start in range(0, len(sentences()), AT_ONCE):
        yield start
        batch = sentences()[start : start + AT_ONCE]
        for result in gather([partial(states_of, specs, state, text) for text in batch]):
            for key, states in result.items():
                parts[key].append(states)
        if sum(states.shape[1] for states in next(iter(parts.values()))) >= MOST_WORDS:
            break
    yield len(sentences())
    states_by_key = {key: np.concatenate(part, 1)[:, :MOST_WORDS] for key, part in parts.items()}
    return layer_similarity(states_by_key)


def states_of(specs: Mapping[str, ModelSpec], state: PageState, text: str) -> dict[str, np.ndarray]:
    """Compute the word states of one sentence in every model, without caching the runs."""
    from explorer.analysis.alignment import align
    from explorer.analysis.depth.lens import sentence_states
    from explorer.models.forward import tokenize

    tokens = {key: call_on_model(tokenize, spec, state, text) for key, spec in specs.items()}
    alignment, states = align(tokens), {}
    for key, spec in specs.items():
        groups = tuple(alignment.groups[key][i] for i in alignment.content)
        states[key] = call_on_model(sentence_states, spec, state, tokens[key], groups)
    return states
