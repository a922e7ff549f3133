"""A pretend accelerator: tensors report it as their device, and the CPU computes them.

As strict as a GPU: an operation that mixes its tensors with CPU tensors (other than scalars) or a
CPU generator raises; ``numpy`` fails; transfers are counted. Importing this module registers the
device for good, so import it only in a separate process.
"""

import time
from collections import Counter
from functools import partial

import torch
from torch.utils._pytree import tree_map
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

NAME = "pretend"
CROSSED: Counter[str] = Counter()
"""Number of transfers ``to`` the device, back to the ``cpu``, and of single numbers by ``item``."""
VIEWS = {"aten.view.default", "aten._reshape_alias.default", "aten._unsafe_view.default"}
FULL = [False]
"""Flag in a list: the device is out of memory."""
_setup_privateuseone_for_python_backend(NAME)


class PretendEvent:
    """An event in the queue of a device that executes synchronously."""

    def __init__(self, enable_timing=False):
        self.at = None

    def record(self):
        self.at = time.perf_counter()

    def synchronize(self):
        pass

    def elapsed_time(self, end):
        return 1e3 * (end.at - self.at)


torch.get_device_module(NAME).Event = PretendEvent
torch.accelerator.synchronize = torch.accelerator.empty_cache = lambda *_: None


def is_there(value):
    return isinstance(value, torch.Tensor) and value.device.type == NAME


def _wrapped(raw):
    """Return a tensor of the device; its data hangs on its storage, which autograd keeps too."""
    with torch.inference_mode(False):  # inference tensors have no version counter to share
        wrapper = torch._C._acc.create_empty_tensor(raw.shape, raw.dtype)
    wrapper.untyped_storage().raw = raw
    return wrapper


def _raw(value):
    if is_there(value):
        raw = value.untyped_storage().raw  # tensors that share a storage may differ in shape
        return raw if raw.shape == value.shape else raw.reshape(value.shape)
    on_it = isinstance(value, torch.device) and value.type == NAME
    return torch.device("cpu") if on_it else value


def _refuse_other_devices(name, values):
    if FULL[0]:
        raise torch.OutOfMemoryError("pretend out of memory")
    for value in values:
        if isinstance(value, torch.Tensor) and not is_there(value) and value.dim():
            raise RuntimeError(f"{name}: a tensor of the CPU beside one of the device")
        if isinstance(value, torch.Generator) and value.device.type != NAME:
            raise RuntimeError(f"{name}: a generator of the CPU for the device")


def _copied(source, target):
    CROSSED["cpu" if not is_there(target) else "within" if is_there(source) else "to"] += 1
    _raw(target).copy_(_raw(source))
    return target


def _computed(operation, *arguments, **named):
    """Run any operation from any thread, as PyTorch dispatches it to this device."""
    name = str(operation)
    if name == "aten._copy_from.default":
        return _copied(*arguments[:2])
    # The device reports no strides, so PyTorch treats every tensor as dense.
    if name in VIEWS:
        return _wrapped(_raw(arguments[0]).reshape(arguments[1]))
    if name == "aten.as_strided.default":
        dense, size, stride, *offset = _raw(arguments[0]).contiguous(), *arguments[1:]
        start = dense.storage_offset() + (offset[0] if offset and offset[0] else 0)
        return _wrapped(dense.as_strided(size, stride, start))
    CROSSED["item"] += name == "aten._local_scalar_dense.default"
    flat = [x for v in (*arguments, *named.values()) for x in (v if isinstance(v, list) else [v])]
    _refuse_other_devices(name, flat)
    out = operation(*tree_map(_raw, arguments), **tree_map(_raw, named))
    changed = [
        value
        for value, schema in zip(arguments, operation._schema.arguments, strict=False)
        if schema.alias_info is not None and schema.alias_info.is_write
    ]
    if isinstance(out, torch.Tensor) and (changed or "out" in named):
        return named.get("out", changed[0] if changed else None)
    return tree_map(lambda x: _wrapped(x) if isinstance(x, torch.Tensor) else x, out)


PLAIN_DEEPCOPY = torch.Tensor.__deepcopy__
torch.Tensor.__deepcopy__ = lambda tensor, memo: (
    tensor.detach().clone() if is_there(tensor) else PLAIN_DEEPCOPY(tensor, memo)
)
LIBRARY = torch.library.Library("_", "IMPL")
LIBRARY.fallback(_computed, "PrivateUse1")
ATEN = torch.library.Library("aten", "IMPL")
for one in ("abs", "arange", "arange.start", "arange.start_step"):
    base, _, overload = one.partition(".")
    known = getattr(getattr(torch.ops.aten, base), overload or "default")
    ATEN.impl(one, partial(_computed, known), "PrivateUse1")  # else it resizes an empty tensor
