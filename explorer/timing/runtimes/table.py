"""The same pass in other runtimes: compiled by torch, or run by ONNX Runtime or OpenVINO.

They set switches that hold for the whole process while they build, and none can be stopped in
the middle: that is why the explorer runs them in a process of their own (``runtime_process``).
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
from explorer.refusal import Refusal
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
"""No runtime: a process that says what a process with nothing but torch would hold."""
PACKAGES = {
    ONNX: ("onnxruntime", "onnx", "onnxscript"),
    OPENVINO: ("openvino",),
    OPENVINO_BF16: ("openvino",),
}
RUNTIMES = (COMPILE, *PACKAGES, MEMORY)
Forward = Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A batch of texts, and the places whose scores are wanted."""

    ids: np.ndarray
    """int64 [text, position], in the batch and the length that are timed."""
    rows: np.ndarray
    positions: np.ndarray


@torch.inference_mode()
def scores_at(run: Forward, question: Question, device: torch.device | str) -> np.ndarray:
    """What a pass gives at the places asked for, float32 [place, width]."""
    out = run(torch.from_numpy(question.ids).to(device))
    return out[question.rows, question.positions].float().cpu().numpy()


@torch.inference_mode()
def head_logits(spec: ModelSpec, network: PreTrainedModel, hidden: np.ndarray) -> np.ndarray:
    """Logits [place, vocabulary] of last hidden states [place, width], by the network's head."""
    first = next(network.parameters())
    logits = spec.kind.head(network, torch.from_numpy(hidden).to(first.device, first.dtype))
    return logits.float().cpu().numpy()


class NoRuntime(Refusal):
    """A runtime that cannot be had here, or no longer; ``reason`` is one of ``REASONS``."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason, detail)
        self.reason, self.detail = reason, detail

    def __str__(self) -> str:
        return "Another runtime stopped before it answered; the machine may be out of memory."


@dataclass(frozen=True, slots=True)
class Crash:
    """Report to the process that asked what was raised in a runtime's own."""

    report: str
    """The traceback."""


REASONS = ("device", "packages", "memory", "compiler", "bfloat16", "late", "failed", "slow")


def absent_packages(runtime: str) -> tuple[str, ...]:
    """What is still to be installed before a runtime can run a model here; imports nothing."""
    return tuple(name for name in PACKAGES.get(runtime, ()) if find_spec(name) is None)


def built(
    runtime: str,
    work: nn.Module,
    ids: torch.Tensor,
    threads: int,
    look: Callable[[Path], object] = lambda _file: None,
) -> Forward:
    """A pass in another runtime, for ids of this length; compiled by torch, of this batch too.

    Args:
        runtime: one of ``RUNTIMES``.
        work: the pass.
        ids: token ids [text, position].
        threads: how many may work on it.
        look: is shown the file that the runtime reads, before it is gone again.

    Raises:
        NoRuntime: the C++ compiler or the instructions are missing, or building failed.
    """
    try:
        if runtime == COMPILE:
            return compiled(work, ids)
        save = exported if runtime == ONNX else partial(converted, PRECISIONS[runtime])
        # Where a file that is mapped cannot be removed, whoever made the folder around it does.
        kept = tempfile.TemporaryDirectory(prefix="explorer-pass-", ignore_cleanup_errors=True)
        with kept as folder:
            file = save(work, ids, Path(folder))
            run = opened(runtime, file, threads)
            look(file)
        return lambda ids: torch.from_numpy(run(ids.numpy()))
    except NoRuntime:
        raise
    except Exception as error:
        # Every stage of a compiler or exporter raises its own; the reader needs one reason.
        if "InvalidCxxCompiler" in repr(error):
            raise NoRuntime("compiler", repr(error)) from error
        raise NoRuntime("failed", "".join(format_exception(error))) from error


def compiled(work: nn.Module, ids: torch.Tensor) -> Forward:
    """The pass compiled for one shape, its first call made: no graph break, no second compile."""
    run = torch.compile(work, fullgraph=True, dynamic=False)
    run(ids)
    return run


def exported(work: nn.Module, ids: torch.Tensor, folder: Path) -> Path:
    """The pass as a file for ONNX Runtime, for any batch."""
    # Of one text alone the exporter would take it that there is never another.
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
    """The pass as a file for OpenVINO, in float32, for any batch.

    Raises:
        NoRuntime: the processor has no bfloat16 instructions, so its time would be an emulation's.
    """
    openvino = openvino_alone()
    able = openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    if precision == "bf16" and "BF16" not in able:
        raise NoRuntime("bfloat16")
    model = openvino.convert_model(work, example_input=ids)
    model.reshape([-1, ids.shape[1]])
    openvino.save_model(model, folder / "pass.xml", compress_to_fp16=False)
    return folder / "pass.xml"
