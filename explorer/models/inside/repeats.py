"""A shared layer applied more often, or less often, than the network usually applies it."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch

from explorer.models.forward import inputs_of
from explorer.models.loading import LoadedModel
from explorer.models.run import read_only
from explorer.models.tokens import Tokens
from explorer.refusal import Refusal


@contextmanager
def applied(loaded: LoadedModel, times: int) -> Iterator[None]:
    """Let the shared layer be applied this many times while inside.

    The caller holds ``loaded.lock``: meanwhile the network is of another depth for everybody.
    """
    name, config = loaded.spec.kind.config["n_layers"], loaded.network.base_model.config
    usual = getattr(config, name)
    setattr(config, name, times)
    try:
        yield
    finally:
        setattr(config, name, usual)


@torch.inference_mode()
def unrolled_states(loaded: LoadedModel, tokens: Tokens, times: int) -> np.ndarray:
    """Hidden states float32 [times + 1, position, d_model] of one pass, however long.

    The state after layer k is the last state of the model with k layers: one pass has them all.

    Raises:
        Refusal: the layers of this model differ, so that there is none to apply again.
    """
    if not loaded.spec.architecture.shares_layers:
        raise Refusal(f"{loaded.spec.label} has no layer that all depths share.")
    with loaded.lock, applied(loaded, times):
        out = loaded.network.base_model(**inputs_of(loaded, tokens), output_hidden_states=True)
    return read_only(torch.cat(out.hidden_states).float().cpu().numpy())
