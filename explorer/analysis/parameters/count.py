"""Parameter counts, uses of each tensor per forward pass, and the rank of the embedding."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import nn

from explorer.models.architectures import meta_network
from explorer.models.choice.family import all_specs
from explorer.models.loading import Network
from explorer.models.run import read_only
from explorer.models.specs import ModelSpec
from explorer.refusal import Refusal, Sentence, brief

if TYPE_CHECKING:
    from explorer.models.loading import LoadedModel, Network


COMPONENTS: tuple[str, ...] = (
    "word_embeddings",
    "position_embeddings",
    "token_type_embeddings",
    "embedding_projection",
    "attention",
    "ffn",
    "layer_norm",
    "pooler",
)
"""Parts of a released encoder; the pre-training ``head`` is counted separately."""
_RULES = (
    ("layer_norm", re.compile(r"layer_?norm", re.IGNORECASE)),
    ("word_embeddings", re.compile(r"^embeddings\.word_embeddings\.")),
    ("position_embeddings", re.compile(r"^embeddings\.position_embeddings\.")),
    ("token_type_embeddings", re.compile(r"^embeddings\.token_type_embeddings\.")),
    ("embedding_projection", re.compile(r"\.embedding_hidden_mapping_in\.")),
    ("attention", re.compile(r"\.attention\.")),
    ("ffn", re.compile(r"\.(intermediate|output|ffn|ffn_output)\.")),
    ("pooler", re.compile(r"^pooler\.")),
)
_LAYER = re.compile(r"\.(?:layer|albert_layer_groups)\.(\d+)\.")


@dataclass(frozen=True, slots=True)
class Tensor:
    """One stored tensor: its name, shape and number of uses per forward pass."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    n_bytes: int
    component: str
    layer: int | None
    """Counted from 0; None outside the layers. A shared layer is layer 0."""
    calls: int
    """Number of times that one forward pass of the encoder uses the tensor."""

    @property
    def size(self) -> int:
        """The number of parameters in the tensor."""
        return prod(self.shape)


@dataclass(frozen=True, slots=True)
class ParameterCounts:
    """Tensors of one network; every total is a sum over them."""

    name: str
    encoder: tuple[Tensor, ...]
    """Encoder and pooler, as released."""
    head: tuple[Tensor, ...]
    """Tensors that the pre-training heads add, without tied ones."""

    @property
    def total(self) -> int:
        """The number of stored parameters in encoder and pooler."""
        return sum(tensor.size for tensor in self.encoder)

    @property
    def applied(self) -> int:
        """The number of parameters applied by one forward pass: a shared layer counts each time."""
        return sum(tensor.size * tensor.calls for tensor in self.encoder)

    @property
    def head_total(self) -> int:
        """The number of parameters stored only for the pre-training heads."""
        return sum(tensor.size for tensor in self.head)

    @property
    def stored_bytes(self) -> int:
        """The bytes of encoder and pooler in their own dtypes."""
        return sum(tensor.n_bytes for tensor in self.encoder)

    @property
    def components(self) -> dict[str, int]:
        """The number of parameters per component, 0 where a model lacks it."""
        sums = dict.fromkeys(COMPONENTS, 0)
        for tensor in self.encoder:
            sums[tensor.component] += tensor.size
        return sums

    @property
    def layer_size(self) -> int:
        """The number of parameters in one layer."""
        return sum(tensor.size for tensor in self.encoder if tensor.layer == 0)


def network_parameters(name: str, network: Network) -> ParameterCounts:
    """List the tensors of a pre-training network, each once however many modules hold it.

    Runs one forward pass of two tokens through the encoder to count the uses of each, so the
    caller must hold the network's lock if other threads use it.

    Raises:
        ValueError: the encoder has a tensor that belongs to no component.
    """
    encoder = network.base_model
    calls = parameter_calls(encoder)
    encoder_ids = {id(parameter) for parameter in encoder.parameters()}
    return ParameterCounts(
        name,
        tuple(
            _tensor(name, parameter, component_of(name), calls.get(id(parameter), 0))
            for name, parameter in encoder.named_parameters()
        ),
        tuple(
            _tensor(name, parameter, "head", 0)
            for name, parameter in network.named_parameters()
            if id(parameter) not in encoder_ids
        ),
    )


def _tensor(name: str, parameter: nn.Parameter, component: str, calls: int) -> Tensor:
    layer = _LAYER.search(name)
    return Tensor(
        name,
        tuple(parameter.shape),
        str(parameter.dtype).removeprefix("torch."),
        parameter.numel() * parameter.element_size(),
        component,
        int(layer[1]) if layer else None,
        calls,
    )


def component_of(name: str) -> str:
    """Return the component of an encoder's tensor by its name in transformers.

    Raises:
        ValueError: no component matches the name.
    """
    for component, rule in _RULES:
        if rule.search(name):
            return component
    raise ValueError(f"The tensor {name} belongs to no known component.")


@lru_cache(maxsize=64)
def parameter_counts(spec: ModelSpec) -> ParameterCounts:
    """List the tensors of a spec's architecture on the meta device, without weights in memory."""
    counts = network_parameters(spec.name, meta_network(spec))
    if not (absent := spec.absent_heads):
        return counts
    head = tuple(t for t in counts.head if not any(part in t.name for part in absent))
    return replace(counts, head=head)


def named_counts(
    names: list[str], own: Mapping[str, ModelSpec] = MappingProxyType({})
) -> tuple[ParameterCounts, ...]:
    """Return the counts of architectures by name, in the order of the names.

    ``own`` are a caller's models by name, besides those that are bundled, published or a page's.

    Raises:
        Refusal: no names, or an unknown one (the message lists the known ones), or an architecture
            whose bundled files are missing.
    """
    specs = {**all_specs(), **own}
    names = list(dict.fromkeys(map(str, names)))
    unknown = [brief(name) for name in names if name not in specs]
    if unknown or not names:
        problem = f"There is no architecture {unknown[0]!r}" if unknown else "No architecture asked"
        raise Refusal(
            Sentence("unknown-architecture", f"{problem}; there are: {', '.join(specs)}.")
        )
    if absent := [name for name in names if not specs[name].architecture.d_vocab]:
        raise Refusal(
            Sentence(
                "no-bundled-shape",
                f"The bundled files of {absent[0]} are missing, so it has no shape.",
            )
        )
    return tuple(parameter_counts(specs[name]) for name in names)


Called = list[nn.Module]


@dataclass(frozen=True, slots=True)
class LayerCalls:
    """Number of layer calls in one forward pass, and of distinct layers among them."""

    calls: int
    distinct: int
    """Distinct weight tensors among the calls: 1 when all share one layer."""
    tensors: tuple[int, ...]
    """Index of the tensor that each call used, numbered from 0 in order of first use."""


@contextmanager
def _recorded(modules: list[nn.Module]) -> Iterator[Called]:
    """Record the calls of modules in order by forward hooks, removed on exit."""
    called: Called = []
    handles = [m.register_forward_hook(lambda m, _in, _out: called.append(m)) for m in modules]
    try:
        yield called
    finally:
        for handle in handles:
            handle.remove()


@torch.inference_mode()
def _forward(encoder: nn.Module, length: int = 2) -> None:
    device = next(encoder.parameters()).device
    encoder(input_ids=torch.zeros(1, length, dtype=torch.long, device=device))


def parameter_calls(encoder: nn.Module) -> dict[int, int]:
    """Count the uses of each parameter in one forward pass, by the parameter's ``id``."""
    owners = [m for m in encoder.modules() if next(m.parameters(recurse=False), None) is not None]
    with _recorded(owners) as called:
        _forward(encoder)
    return Counter(id(p) for module in called for p in module.parameters(recurse=False))


def layer_calls(encoder: nn.Module, output_pattern: str) -> LayerCalls:
    """Count the layers of one forward pass, recognised by their attention output projection."""
    pattern = re.compile(output_pattern)
    outputs = [module for name, module in encoder.named_modules() if pattern.search(name)]
    with _recorded(outputs) as called:
        _forward(encoder)
    numbers: dict[int, int] = {}
    tensors = tuple(numbers.setdefault(id(m.weight), len(numbers)) for m in called)
    return LayerCalls(len(called), len(numbers), tensors)


@lru_cache(maxsize=64)
def shape_layer_calls(spec: ModelSpec) -> LayerCalls:
    """Count the layer calls of a spec's architecture on the meta device."""
    return layer_calls(meta_network(spec).base_model, spec.kind.output)


def loaded_layer_calls(loaded: "LoadedModel") -> LayerCalls:
    """Count the layer calls of a loaded network while holding its lock."""
    with loaded.lock:
        return layer_calls(loaded.network.base_model, loaded.spec.kind.output)


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddingSpectrum:
    """Singular values of a model's effective V x H word embedding, largest first."""

    values: np.ndarray
    """float64 [H]."""
    d_vocab: int
    d_model: int

    @property
    def rank(self) -> int:
        """The number of values above float64's rounding noise, sigma_max * max(V, H) * eps."""
        noise = self.values[0] * max(self.d_vocab, self.d_model) * np.finfo(np.float64).eps
        return int((self.values > noise).sum())


def effective_embedding(network: "Network") -> torch.Tensor:
    """Return the word embedding, times the projection if there is one: float64 [V, H]."""
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
    """Compute the singular values of the effective embedding, in float64: float32 hides zeros.

    The triangular factor of a QR decomposition has the same values and is only H x H.
    """
    table = effective_embedding(network).cpu()
    values = torch.linalg.svdvals(torch.linalg.qr(table, mode="r").R)
    return EmbeddingSpectrum(read_only(values.numpy()), *table.shape)


def loaded_spectrum(loaded: "LoadedModel") -> EmbeddingSpectrum:
    """Return the spectrum of a loaded network."""
    return embedding_spectrum(loaded.network)
