"""What is timed where reading in order is compared: one encoder layer, and an LSTM as wide."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch
from torch import nn

from explorer.models.architectures import fill_randomly, random_network
from explorer.models.specs import ModelSpec

CallOfLength = Callable[[int], Callable[[], object]]
"""From a number of tokens to one pass over them."""


def one_layer_calls(spec: ModelSpec, longest: int) -> tuple[CallOfLength, CallOfLength]:
    """One layer of a model and an LSTM of its width in one direction, with random weights."""
    width = spec.architecture.d_model
    shape = replace(spec.architecture, n_layers=1, d_vocab=1_000)
    encoder = random_network(replace(spec, architecture=shape)).base_model
    layer = next(m for name, m in encoder.named_modules() if re.search(spec.kind.layer, name))
    lstm = fill_randomly(nn.LSTM(width, width, batch_first=True), 0)
    states = torch.randn(1, longest, width, generator=torch.Generator().manual_seed(0))
    return partial(_call, layer, states), partial(_call, lstm, states)


def _call(run: nn.Module, states: torch.Tensor, length: int) -> Callable[[], object]:
    def call() -> None:
        # Gradient mode belongs to a thread, so it is entered where the call runs.
        with torch.inference_mode():
            run(states[:, :length])

    return call
