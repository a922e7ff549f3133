"""What a head computes with: the query and key vectors of every token, caught on their way."""

import re
from collections.abc import Callable

import numpy as np
import torch
from torch import nn

from explorer.models.forward import inputs_of
from explorer.models.loading import LoadedModel
from explorer.models.run import read_only
from explorer.models.tokens import Tokens


@torch.inference_mode()
def queries_and_keys(loaded: LoadedModel, tokens: Tokens) -> tuple[np.ndarray, np.ndarray]:
    """Query and key vectors, float32 [layer, head, position, d_head], as the network computes them.

    ``softmax(q k^T / sqrt(d_head))`` over keys is the attention. Calls are caught in the order of
    the layers, ALBERT's one layer once for each time it is applied.
    """
    caught: tuple[list[torch.Tensor], list[torch.Tensor]] = ([], [])
    patterns = (loaded.spec.kind.query, loaded.spec.kind.key)
    with loaded.lock:
        handles = [
            module.register_forward_hook(_catch(into))
            for pattern, into in zip(patterns, caught, strict=True)
            for name, module in loaded.network.base_model.named_modules()
            if re.search(pattern, name)
        ]
        try:
            loaded.network.base_model(**inputs_of(loaded, tokens))
        finally:
            for handle in handles:
                handle.remove()
    queries, keys = (_by_head(layers, loaded.spec.architecture.n_heads) for layers in caught)
    return queries, keys


def _catch(into: list[torch.Tensor]) -> Callable[[nn.Module, tuple, torch.Tensor], None]:
    def hook(_: nn.Module, __: tuple, output: torch.Tensor) -> None:
        into.append(output[0])

    return hook


def _by_head(layers: list[torch.Tensor], n_heads: int) -> np.ndarray:
    stacked = torch.stack(layers).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    return read_only(stacked.float().cpu().numpy())
