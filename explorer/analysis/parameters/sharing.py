"""Nothing, the attention, the FFN or everything shared: real counts, printed scores."""

from dataclasses import dataclass, replace
from functools import lru_cache

from explorer.analysis.parameters.count import network_parameters
from explorer.models.architectures import SHARING_MODES, sharing_network
from explorer.models.specs import BASE


@dataclass(frozen=True, slots=True)
class Scores:
    """One row of the ALBERT paper's Table 4: published development scores, nothing measured."""

    printed_millions: int
    squad1: str
    """F1/EM."""
    squad2: str
    mnli: float
    sst2: float
    race: float
    average: float


TABLE_4: dict[int, dict[str, Scores]] = {
    768: {
        "none": Scores(108, "90.4/83.2", "80.4/77.6", 84.5, 92.8, 68.2, 82.3),
        "attention": Scores(83, "89.9/82.7", "80.0/77.2", 84.0, 91.4, 67.7, 81.6),
        "ffn": Scores(57, "89.2/82.1", "78.2/75.4", 81.5, 90.8, 62.6, 79.5),
        "all": Scores(31, "88.6/81.5", "79.2/76.6", 82.0, 90.6, 63.3, 79.8),
    },
    128: {
        "none": Scores(89, "89.9/82.8", "80.3/77.3", 83.2, 91.5, 67.9, 81.6),
        "attention": Scores(64, "89.9/82.8", "80.7/77.9", 83.4, 91.9, 67.6, 81.7),
        "ffn": Scores(38, "88.9/81.6", "78.6/75.6", 82.3, 91.7, 64.4, 80.2),
        "all": Scores(12, "89.3/82.3", "80.0/77.1", 82.0, 90.3, 64.0, 80.1),
    },
}
"""Lan et al. 2019, Table 4 (ALBERT-base), by embedding size E and sharing mode."""


@dataclass(frozen=True, slots=True)
class SharingMode:
    """One way to share, as a real network counted on the meta device."""

    mode: str
    d_embedding: int
    total: int
    applied: int
    scores: Scores


@lru_cache(maxsize=2)
def sharing_modes(d_embedding: int) -> tuple[SharingMode, ...]:
    """The four modes of ALBERT-base at E = 128 or 768, unshared first."""
    spec = BASE["albert"]
    spec = replace(spec, architecture=replace(spec.architecture, d_embedding=d_embedding))
    modes = []
    for mode in SHARING_MODES:
        counts = network_parameters(mode, sharing_network(spec, mode))
        scores = TABLE_4[d_embedding][mode]
        modes.append(SharingMode(mode, d_embedding, counts.total, counts.applied, scores))
    return tuple(modes)
