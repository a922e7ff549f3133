"""Other runtimes for the same pass: torch.compile, ONNX Runtime and OpenVINO.

They set global flags of the process while they build, and none can be cancelled, so the explorer
runs them in separate processes (``RuntimeProcess``).
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from traceback import format_exception

import numpy as np
import torch
from torch import nn
from transformers import PreTrainedModel

from explorer.models.specs import ModelSpec
from explorer.refusal import Refusal, Sentence
from explorer.timing.runtimes.saved import (
    ONNX,
    OPENVINO,
    OPENVINO_BF16,
    PRECISIONS,
    opened,
    openvino_alone,
)

COMPILE = "torch.compile"
MEMORY = "The memory of PyTorch"
"""Not a runtime: a process that reports the memory of a process with nothing but torch."""
PACKAGES = {
    ONNX: ("onnxruntime", "onnx", "onnxscript"),
    OPENVINO: ("openvino",),
    OPENVINO_BF16: ("openvino",),
}
RUNTIMES = (COMPILE, *PACKAGES, MEMORY)
Forward = Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True, slots=True, eq=False)
class ScoreRequest:
    """Batch of texts, and the positions whose scores are wanted."""

    ids: np.ndarray
    """int64 [text, position], of the batch size and length that are timed."""
    rows: np.ndarray
    positions: np.ndarray


@torch.inference_mode()
def scores_at(run: Forward, request: ScoreRequest, device: torch.device | str) -> np.ndarray:
    """Return the output of a pass at the requested positions, float32 [place, width]."""
    out = run(torch.from_numpy(request.ids).to(device))
    return out[request.rows, request.positions].float().cpu().numpy()


@torch.inference_mode()
def head_logits(spec: ModelSpec, network: PreTrainedModel, hidden: np.ndarray) -> np.ndarray:
    """Compute logits [place, vocabulary] of last hidden states [place, width] with the head."""
    first = next(network.parameters())
    logits = spec.kind.head(network, torch.from_numpy(hidden).to(first.device, first.dtype))
    return logits.float().cpu().numpy()


STOPPED = Sentence(
    "runtime-stopped",
    "Another runtime stopped before it answered; the machine may be out of memory.",
)


class NoRuntime(Refusal):
    """Refusal of a runtime that is not available, or no longer; ``reason`` is in ``REASONS``."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(STOPPED)
        self.args = reason, detail
        self.reason, self.detail = reason, detail

    def __str__(self) -> str:
        return STOPPED


@dataclass(frozen=True, slots=True)
class Crash:
    """Message to the parent about an error in the process of a runtime."""

    report: str
    """The traceback."""


REASONS = ("device", "packages", "memory", "compiler", "bfloat16", "late", "failed", "slow")


def absent_packages(runtime: str) -> tuple[str, ...]:
    """Return the packages missing for a runtime; imports nothing."""
    return tuple(name for name in PACKAGES.get(runtime, ()) if find_spec(name) is None)


def built(
    runtime: str,
    work: nn.Module,
    ids: torch.Tensor,
    threads: int,
    on_saved: Callable[[Path], object] = lambda _file: None,
) -> Forward:
    """Return a pass in another runtime, for ids of this length; torch.compile: this batch too.

    Args:
        runtime: one of ``RUNTIMES``.
        work: the pass.
        ids: token ids [text, position].
        threads: number of threads.
        on_saved: called with the file that the runtime reads, before it is removed.

    Raises:
        NoRuntime: the C++ compiler or the instructions are missing, or building failed.
    """
    try:
        if runtime == COMPILE:
            return compiled(work, ids)
        save = exported if runtime == ONNX else partial(converted, PRECISIONS[runtime])
        # Where a mapped file cannot be removed, the parent process removes its folder later.
        directory = tempfile.TemporaryDirectory(prefix="explorer-pass-", ignore_cleanup_errors=True)
        with directory as folder:
            file = save(work, ids, Path(folder))
            run = opened(runtime, file, threads)
            on_saved(file)
        return lambda ids: torch.from_numpy(run(ids.numpy()))
    except NoRuntime:
        raise
    except Exception as error:
        # Every stage of a compiler or exporter raises its own error; the page shows one reason.
        if "InvalidCxxCompiler" in repr(error):
            raise NoRuntime("compiler", repr(error)) from error
        raise NoRuntime("failed", "".join(format_exception(error))) from error


def compiled(work: nn.Module, ids: torch.Tensor) -> Forward:
    """Return the pass compiled for one shape and called once: no graph break, no recompilation."""
    run = torch.compile(work, fullgraph=True, dynamic=False)
    run(ids)
    return run


def exported(work: nn.Module, ids: torch.Tensor, folder: Path) -> Path:
    """Return the file of the pass for ONNX Runtime, for any batch size."""
    # With a batch of one the exporter would take the batch size as constant.
    several, shape = ids.repeat(2, 1), ({0: torch.export.Dim.DYNAMIC},)
    torch.onnx.export(
        *(work, (several,), folder / "pass.onnx"),
        dynamo=True,
        verbose=False,
        external_data=True,
        dynamic_shapes=shape,
    )
    return folder / "pass.onnx"


def converted(precision: str, work: nn.Module, ids: torch.Tensor, folder: Path) -> Path:
    """Return the file of the pass for OpenVINO, in float32, for any batch size.

    Raises:
        NoRuntime: the processor has no bfloat16 instructions; it would time an emulation.
    """
    openvino = openvino_alone()
    capabilities = openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    if precision == "bf16" and "BF16" not in capabilities:
        raise NoRuntime("bfloat16")
    model = openvino.convert_model(work, example_input=ids)
    model.reshape([-1, ids.shape[1]])
    openvino.save_model(model, folder / "pass.xml", compress_to_fp16=False)
    return folder / "pass.xml"
