"""The same pass in other runtimes: compiled by torch, or exported and run by ONNX Runtime.

Both set switches that hold for the whole process while they build, and neither can be stopped in
the middle: that is why the explorer runs them in a process of their own (``runtime_process``).
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import nn
from transformers import PreTrainedModel

from explorer.models.specs import ModelSpec

if TYPE_CHECKING:
    from onnxruntime import SessionOptions

COMPILE, ONNX = "torch.compile", "ONNX Runtime"
ONNX_PACKAGES = ("onnxruntime", "onnx", "onnxscript")
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


class NoRuntime(ValueError):
    """A runtime that cannot be had here, or no longer; ``reason`` is one of ``REASONS``."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason, detail)
        self.reason, self.detail = reason, detail

    def __str__(self) -> str:
        return "Another runtime stopped before it answered; the machine may be out of memory."


REASONS = ("device", "packages", "memory", "compiler", "late", "failed", "slow")


def absent_packages() -> tuple[str, ...]:
    """What is still to be installed before ONNX Runtime can run a model here; imports nothing."""
    return tuple(name for name in ONNX_PACKAGES if find_spec(name) is None)


def built(runtime: str, work: nn.Module, ids: torch.Tensor, threads: int) -> Forward:
    """A pass in another runtime, ready to run on ids of just this shape.

    Raises:
        NoRuntime: the C++ compiler is missing, or building failed.
    """
    try:
        return compiled(work, ids) if runtime == COMPILE else exported(work, ids, threads)
    except Exception as error:
        # Every stage of a compiler or exporter raises its own; the reader needs one reason.
        reason = "compiler" if "InvalidCxxCompiler" in repr(error) else "failed"
        raise NoRuntime(reason, repr(error)) from error


def compiled(work: nn.Module, ids: torch.Tensor) -> Forward:
    """The pass compiled for one shape, its first call made: no graph break, no second compile."""
    run = torch.compile(work, fullgraph=True, dynamic=False)
    run(ids)
    return run


def exported(work: nn.Module, ids: torch.Tensor, threads: int) -> Forward:
    """The pass exported to a file that is gone again when this returns, in ONNX Runtime."""
    from onnxruntime import InferenceSession

    with tempfile.TemporaryDirectory(prefix="explorer-onnx-") as folder:
        path = Path(folder) / "pass.onnx"
        torch.onnx.export(work, (ids,), path, dynamo=True, verbose=False, external_data=True)
        options = session_options(threads)
        session = InferenceSession(path, options, providers=["CPUExecutionProvider"])
    (name,) = (given.name for given in session.get_inputs())

    def run(ids: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(session.run(None, {name: ids.numpy()})[0])

    return run


def session_options(threads: int) -> "SessionOptions":
    """One operator after another; with one thread all work is done by the thread that calls.

    Threads that wait do not spin: they would take time from whatever is timed next.
    """
    from onnxruntime import ExecutionMode, SessionOptions

    options = SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.execution_mode = ExecutionMode.ORT_SEQUENTIAL
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    return options
