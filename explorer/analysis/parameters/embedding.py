"""What factorising the embedding gives up: the rank of the table that the layers really see."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from explorer.analysis.parameters.count import component_of
from explorer.models.run import read_only

if TYPE_CHECKING:
    from explorer.models.loading import LoadedModel, Network


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddingSpectrum:
    """Singular values of a model's effective V x H word embedding, largest first."""

    values: np.ndarray
    """float64 [H]."""
    d_vocab: int
    d_model: int

    @property
    def rank(self) -> int:
        """Values above float64's rounding noise: sigma_max * max(V, H) * eps."""
        noise = self.values[0] * max(self.d_vocab, self.d_model) * np.finfo(np.float64).eps
        return int((self.values > noise).sum())


def effective_embedding(network: "Network") -> torch.Tensor:
    """float64 [V, H]: the word table, times the projection where there is one."""
    words = network.get_input_embeddings().weight.detach().double()
    projection = next(
        (
            parameter.detach().double()
            for name, parameter in network.base_model.named_parameters()
            if component_of(name) == "embedding_projection" and parameter.dim() == 2
        ),
        None,
    )
    return words if projection is None else words @ projection.T


def embedding_spectrum(network: "Network") -> EmbeddingSpectrum:
    """Every singular value of the effective embedding, in float64: float32 hides the zeros.

    The triangular factor of a QR decomposition has the same values and is only H x H.
    """
    table = effective_embedding(network).cpu()
    values = torch.linalg.svdvals(torch.linalg.qr(table, mode="r").R)
    return EmbeddingSpectrum(read_only(values.numpy()), *table.shape)


_spectra: dict[tuple[str, str], EmbeddingSpectrum] = {}


def loaded_spectrum(loaded: "LoadedModel") -> EmbeddingSpectrum:
    """The spectrum of a loaded network, computed once for each model and precision."""
    key = (loaded.spec.name, loaded.dtype)
    if key not in _spectra:
        _spectra[key] = embedding_spectrum(loaded.network)
    return _spectra[key]
