"""Passes saved to a file and run by their runtime; neither torch nor a network is imported.

``python -m explorer.timing.runtimes.saved RUNTIME FILE THREADS BATCH LENGTH`` runs one once and
prints the memory in bytes of a process that serves nothing else.
"""

import gc
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from explorer.timing.memory import resident_bytes, trim_heap

if TYPE_CHECKING:
    from onnxruntime import SessionOptions

ONNX = "ONNX Runtime"
OPENVINO, OPENVINO_BF16 = "OpenVINO", "OpenVINO bfloat16"
PRECISIONS = {OPENVINO: "f32", OPENVINO_BF16: "bf16"}
Run = Callable[[np.ndarray], np.ndarray]


def main() -> None:
    """Run one pass and print the memory held after it."""
    runtime, path, *numbers = sys.argv[1:]
    threads, *shape = map(int, numbers)
    run = opened(runtime, Path(path), threads)
    run(np.ones(shape, np.int64))
    sys.stdout.write(str(held_bytes() or ""))


def held_bytes() -> int | None:
    """Return the memory of this process without garbage and free heap."""
    gc.collect()
    trim_heap()
    return resident_bytes()


def served_bytes(runtime: str, path: Path, threads: int, shape: tuple[int, ...]) -> int | None:
    """Return the bytes of a process that only serves a saved pass; None where unknown.

    Raises:
        CalledProcessError: the file could not be run there.
    """
    arguments = [runtime, path, threads, *shape]
    command = [sys.executable, "-m", __name__, *map(str, arguments)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return int(output) if output else None


def opened(runtime: str, path: Path, threads: int) -> Run:
    """Return the saved pass, a function of ids [text, position] of the length it was saved for."""
    if runtime == ONNX:
        return _in_onnx_runtime(path, threads)
    return _in_openvino(path, threads, PRECISIONS[runtime])


def _in_onnx_runtime(path: Path, threads: int) -> Run:
    from onnxruntime import InferenceSession

    session = InferenceSession(path, session_options(threads), providers=["CPUExecutionProvider"])
    (name,) = (model_input.name for model_input in session.get_inputs())
    return lambda ids: session.run(None, {name: ids})[0]


def session_options(threads: int) -> "SessionOptions":
    """Return options for sequential execution; one thread means only the calling thread works.

    Waiting threads do not spin: they would take time from the next measurement.
    """
    from onnxruntime import ExecutionMode, SessionOptions

    options = SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.execution_mode = ExecutionMode.ORT_SEQUENTIAL
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    return options


def _in_openvino(path: Path, threads: int, precision: str) -> Run:
    options = {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": "1"}
    options["INFERENCE_PRECISION_HINT"] = precision
    request = openvino_alone().Core().compile_model(path, "CPU", options).create_infer_request()
    return lambda ids: request.infer([ids])[0]


def openvino_alone() -> ModuleType:
    """Import OpenVINO without the package with which its converter sends telemetry."""
    sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]
    import openvino

    return openvino


if __name__ == "__main__":
    main()
