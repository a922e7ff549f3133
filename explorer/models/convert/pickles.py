"""Pickled weights to safetensors, in a process of its own: ``python pickles.py SOURCE... TARGET``.

Only tensors and plain containers are unpickled (``weights_only=True``). Nothing of the explorer is
imported here, and nothing but the tensors is written.
"""

import pickle
import sys

import torch
from safetensors.torch import save_file

RUNS_CODE = 3
"""Exit code for a pickle that names a class or a function other than those of tensors."""
INSIDE = ("state_dict", "model_state_dict", "model")
"""Keys under which training programs keep a network's weights beside their own state."""


def tensors_of(value: object) -> dict[str, torch.Tensor]:
    """Return the tensors of an unpickled dictionary, each in memory of its own."""
    inside = next((value[k] for k in INSIDE if isinstance(value, dict) and k in value), value)
    found = inside.items() if isinstance(inside, dict) else ()
    return {
        str(name): tensor.detach().clone().contiguous()
        for name, tensor in found
        if isinstance(tensor, torch.Tensor)
    }


def main(sources: list[str], target: str) -> int:
    """Write the tensors of all sources to one safetensors file; return the exit code."""
    tensors: dict[str, torch.Tensor] = {}
    for source in sources:
        try:
            tensors |= tensors_of(torch.load(source, map_location="cpu", weights_only=True))
        except pickle.UnpicklingError as error:
            sys.stderr.write(f"{error}\n")
            return RUNS_CODE
    save_file(tensors, target, {"format": "pt"})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:-1], sys.argv[-1]))
