"""A pass saved to a file, run by the runtime it was saved for: neither torch nor a network here.

``python -m explorer.timing.runtimes.saved RUNTIME FILE THREADS BATCH LENGTH`` runs it once and
prints the bytes that a process holds which serves nothing else.
"""

import gc
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from explorer.timing.memory import give_back, resident_bytes

if TYPE_CHECKING:
    from onnxruntime import SessionOptions

ONNX = "ONNX Runtime"
OPENVINO, OPENVINO_BF16 = "OpenVINO", "OpenVINO bfloat16"
PRECISIONS = {OPENVINO: "f32", OPENVINO_BF16: "bf16"}
Run = Callable[[np.ndarray], np.ndarray]


def main() -> None:
    """One pass, and what is held after it."""
    runtime, path, *numbers = sys.argv[1:]
    threads, *shape = map(int, numbers)
    run = opened(runtime, Path(path), threads)
    run(np.ones(shape, np.int64))
    sys.stdout.write(str(held_bytes() or ""))


def held_bytes() -> int | None:
    """Memory of this process without what nobody uses any more."""
    gc.collect()
    give_back()
    return resident_bytes()


def served_bytes(runtime: str, path: Path, threads: int, shape: tuple[int, ...]) -> int | None:
    """Memory of a process that only serves a saved pass, bytes; None where nothing says it.

    Raises:
        CalledProcessError: the file could not be run there.
    """
    asked = [runtime, path, threads, *shape]
    command = [sys.executable, "-m", __name__, *map(str, asked)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return int(said) if said else None


def opened(runtime: str, path: Path, threads: int) -> Run:
    """The saved pass, ready to run on ids [text, position] of the length it was saved for."""
    if runtime == ONNX:
        return _in_onnx_runtime(path, threads)
    return _in_openvino(path, threads, PRECISIONS[runtime])


def _in_onnx_runtime(path: Path, threads: int) -> Run:
    from onnxruntime import InferenceSession

    session = InferenceSession(path, session_options(threads), providers=["CPUExecutionProvider"])
    (name,) = (given.name for given in session.get_inputs())
    return lambda ids: session.run(None, {name: ids})[0]


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


def _in_openvino(path: Path, threads: int, precision: str) -> Run:
    options = {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": "1"}
    options["INFERENCE_PRECISION_HINT"] = precision
    request = openvino_alone().Core().compile_model(path, "CPU", options).create_infer_request()
    return lambda ids: request.infer([ids])[0]


def openvino_alone() -> ModuleType:
    """OpenVINO without the package by which its converter reports its use to a server."""
    sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]
    import openvino

    return openvino


if __name__ == "__main__":
    main()
