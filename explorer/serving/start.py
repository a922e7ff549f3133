"""Flags and startup checks; a start that fails prints one sentence and exits with code 2."""

import argparse
import errno
import math
import os
import socket
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType

from explorer.assets import Broken
from explorer.context import configure
from explorer.refusal import Refusal, Sentence
from explorer.timing.memory import NEEDED, free_memory, limit_memory

CANNOT, LAST_PORT = 2, 65_535
ABOUT = "Start the BERT family explorer: it serves on http://127.0.0.1:7860."
IN_USE = "Port {port} is already in use; choose another with --port."
NOT_SERVED = "Cannot listen on {host}, port {port}: {why}."
NO_FOLDER = (
    "No temporary file can be written to {folder} ({why}); set TMPDIR, or GRADIO_TEMP_DIR, to a "
    "folder where one can."
)
NO_MEMORY = (
    "There is too little memory to start: {there:.1f} GB can still be taken, the bundled models "
    "and their libraries need about 1 GB."
)
TOO_SMALL = Sentence(
    "bad-memory-flag",
    "--memory takes a number of GB, at least {least:.2f}: the bundled models need that.",
)
NO_PAGE = "The page needs {name}, the library does not: pip install 'bert-family-explorer[app]'."
PAGE_ONLY = ("gradio", "bertviz", "segno", "PIL")
"""Modules of the extra ``app``."""
NO_RAY = "--models-at needs Ray: pip install -r deploy/requirements-serve.txt"
NOT_HERE = (
    "--model, --any-model, --memory and --finetune apply to local models and cannot be combined "
    "with --models-at."
)
TUNED_FOLDER = str(Path(tempfile.gettempdir()) / "explorer-tuned")
"""Folder of fine-tuned models where ``--finetune`` names none."""
NO_CLIENT = (
    "Ray Client (ray://) cannot stream, which live training runs need: let this machine join the "
    "cluster (ray start --address=HOST:6379 --num-cpus=0) and pass --models-at auto."
)


STUBS = "gradio.component_meta"
"""Module of Gradio that parses the source of each component at every start and writes a type stub
beside it: over a third of the time of ``import gradio``, and a file beside our own components."""


class _WithoutStubs(SourceFileLoader):
    def exec_module(self, module: ModuleType) -> None:
        """Run the module, then replace its function that writes the stubs by an empty one."""
        super().exec_module(module)
        vars(module)["create_or_modify_pyi"] = lambda *_: None


LATER: dict[str, tuple[str, tuple[str, ...]]] = {
    "gradio": ("pandas", ()),
    "transformers.loss.loss_utils": ("scipy.optimize", ("linear_sum_assignment",)),
}
"""Imports of a module that a request may never need, and the functions that the module takes from
there: a fifth of the server's memory. Tables need pandas, losses of object detection need scipy."""


class _Later(ModuleType):
    """Module that is imported when something of it is first used, its functions when called."""

    def __init__(self, name: str, functions: tuple[str, ...]) -> None:
        super().__init__(name)
        for function in functions:
            setattr(self, function, partial(self._call, function))

    def __getattr__(self, name: str) -> object:
        """Return an attribute of the real module."""
        if name.startswith("__"):  # what the import system asks of every module
            raise AttributeError(name)
        return getattr(self._real(), name)

    def _call(self, function: str, *given: object, **named: object) -> object:
        return getattr(self._real(), function)(*given, **named)

    def _real(self) -> ModuleType:
        self.leave()
        return import_module(self.__name__)

    def leave(self) -> None:
        """Make room for the real module: the next import of the name finds it."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]


class _WithoutOthers(SourceFileLoader):
    def exec_module(self, module: ModuleType) -> None:
        """Run the module; what it imports of ``LATER`` meanwhile is imported at its first use."""
        name, functions = LATER[module.__name__]
        if name in sys.modules:
            super().exec_module(module)
            return
        placeholder = sys.modules[name] = _Later(name, functions)
        try:
            super().exec_module(module)
        finally:
            placeholder.leave()


class _StubsFinder(MetaPathFinder):
    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        """Return a spec with the patched loader for the modules of ``LOADERS``, else None."""
        loader = LOADERS.get(fullname)
        spec = PathFinder.find_spec(fullname, path) if loader else None
        if loader and spec and spec.origin:
            spec.loader = loader(fullname, spec.origin)
        return spec


LOADERS: dict[str, type[SourceFileLoader]] = {
    STUBS: _WithoutStubs,
    **dict.fromkeys(LATER, _WithoutOthers),
}


def leave_out_stubs() -> None:
    """Leave out Gradio's type stubs and the imports of ``LATER``; call before any import."""
    sys.meta_path.insert(0, _StubsFinder())


def main() -> None:
    """Start the page from an installed package, as ``python app.py`` does from a checkout."""
    leave_out_stubs()
    with exit_with_sentence():
        flags = parse_flags()
        from explorer.serving.launch import build, serve

        serve(build(flags), flags)
    os._exit(0)  # a forward pass still running in a thread must not keep the process alive


class CannotStart(Exception):
    """Error of a start that fails; the terminal shows its message, one sentence."""


@contextmanager
def exit_with_sentence() -> Iterator[None]:
    """Exit with one sentence on stderr if the page cannot start."""
    try:
        yield
    except (Broken, CannotStart) as cannot:
        sys.stderr.write(f"{cannot}\n")
        raise SystemExit(CANNOT) from None
    except ModuleNotFoundError as missing:
        if missing.name not in PAGE_ONLY:
            raise
        sys.stderr.write(f"{NO_PAGE.format(name=missing.name)}\n")
        raise SystemExit(CANNOT) from None
    except MemoryError:
        sys.stderr.write(f"{NO_MEMORY.format(there=free_memory() / 1e9)}\n")
        raise SystemExit(CANNOT) from None


def _device(name: str) -> str:
    """Return the name of a device as torch writes it; ``cuda:0`` becomes ``cuda``."""
    from explorer.models.specs import DEVICE

    if not DEVICE.fullmatch(name):
        raise argparse.ArgumentTypeError(f"{name} is no device: auto, cpu, cuda, cuda:1, mps ...")
    return name.removesuffix(":0")


def parse_flags(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse and check the command line; where a flag is absent Gradio's own variable applies."""
    from explorer.inference.ask import DTYPES

    parser = argparse.ArgumentParser(description=ABOUT)
    parser.add_argument(
        "--family",
        help="mini, base, large or bert=large,albert=xlarge (default: base if it is cached)",
    )
    parser.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="NAME=PATH_OR_REPO[@REVISION]",
        help="your own checkpoint as a choice of the column NAME (repeatable); with names of your "
        "own (before=./a, after=./b) the page has exactly these columns",
    )
    parser.add_argument(
        "--labels",
        action="append",
        default=[],
        metavar="NAME=LABEL,LABEL",
        help="names for the labels of a fine-tuned model's head, in the order of its outputs",
    )
    parser.add_argument(
        "--any-model", action="store_true", help="visitors may type any repository of the model hub"
    )
    parser.add_argument(
        "--memory", type=float, metavar="GB", help="for all models together (default: 60%% of all)"
    )
    parser.add_argument(
        "--models-at",
        metavar="ADDRESS",
        help="hold no model: ask those of the Ray cluster at auto or HOST:6379",
    )
    parser.add_argument("--device", type=_device, default="auto", help="cpu, cuda, cuda:1, mps ...")
    parser.add_argument("--dtype", choices=DTYPES, default="float32")
    _add_serving_flags(parser)
    flags = parser.parse_args(arguments)
    given = (flags.model, flags.any_model, flags.memory is not None, flags.finetune)
    if flags.models_at and any(given):
        parser.error(NOT_HERE)
    if (flags.models_at or "").startswith("ray://"):
        parser.error(NO_CLIENT)
    try:
        choose_models(flags)
    except Refusal as error:
        parser.error(str(error))
    return flags


def _add_serving_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of the address, of clients, of what they may do, and of the log."""
    parser.add_argument(
        "--finetune",
        nargs="?",
        const=TUNED_FOLDER,
        metavar="FOLDER",
        help="visitors may fine-tune the models on their labelled texts, one at a time; the models "
        "are saved in FOLDER (on by default for a page that only this machine has)",
    )
    parser.add_argument("--host", help="address to serve on (default 127.0.0.1)")
    parser.add_argument("--port", type=int, help="port to serve on (default 7860)")
    parser.add_argument("--public-url", default="", help="where visitors have the page, for links")
    parser.add_argument("--share", action="store_true", help="make a public gradio.live link")
    parser.add_argument("--mcp", action="store_true", help="serve four tools for MCP clients too")
    parser.add_argument("--log", action="store_true", help="write a line for every request")


def choose_models(flags: argparse.Namespace) -> None:
    """Set up the models that can be chosen, and the family that the page opens on.

    Raises:
        Refusal: a model cannot be used, or there is no such family.
    """
    from explorer.models.choice.family import family_name, opened_family

    if flags.memory is not None:
        check_memory(flags.memory, flags.dtype)
    limit_memory(flags.memory)  # before the models are checked: one too large is not downloaded
    if flags.any_model or flags.model:
        from explorer.models.choice import own

        configure(any_model=flags.any_model)
        if sizes := own.add_models(flags.model, flags.dtype):
            configure(columns=tuple(sizes))
            flags.family = flags.family or family_name(sizes)
    if flags.labels:
        from explorer.models.choice.labels import label_names, name_labels

        for written in flags.labels:
            name_labels(label_names(written))
    flags.family = opened_family(flags.family)


def check_memory(gigabytes: float, dtype: str) -> None:
    """Check that the memory limit holds the bundled models and a forward pass of the largest.

    Raises:
        Refusal: it does not, or is not a finite number.
    """
    from explorer.models.choice.memory import running_bytes, weight_bytes
    from explorer.models.specs import MINI

    specs = MINI.values()
    needed = sum(weight_bytes(spec, dtype) for spec in specs)
    needed += max(running_bytes(spec, dtype) for spec in specs)
    if not (math.isfinite(gigabytes) and gigabytes * 1e9 >= needed):
        raise Refusal(TOO_SMALL.format(least=math.ceil(needed / 1e7) / 100))


def check_machine() -> None:
    """Check that the machine has free memory and a writable temporary folder.

    Raises:
        CannotStart: one of them is missing.
    """
    if free_memory() < NEEDED:
        raise CannotStart(NO_MEMORY.format(there=max(0.0, free_memory()) / 1e9))
    gradio_dir = os.getenv("GRADIO_TEMP_DIR")
    try:
        if gradio_dir:
            Path(gradio_dir).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=gradio_dir):
            pass
    except OSError as error:
        folder = gradio_dir or os.getenv("TMPDIR") or "any temporary folder"
        raise CannotStart(NO_FOLDER.format(folder=folder, why=error.strerror)) from error


def check_models() -> None:
    """Check the bundled models' files, as far as that takes no time.

    Raises:
        Broken: a file is missing or damaged.
    """
    from explorer.models.hub import check_bundled

    check_bundled()


def check_port(host: str | None, port: int | None) -> None:
    """Check that the page can be served on a host and port.

    Raises:
        CannotStart: the port is in use, or the address is not this machine's.
    """
    host = (host or os.getenv("GRADIO_SERVER_NAME") or "127.0.0.1").strip("[]")
    try:
        if port is not None and port not in range(1, LAST_PORT + 1):
            raise OverflowError(f"ports go from 1 to {LAST_PORT}")
        kind, *_, address = socket.getaddrinfo(host, port or 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            probe.listen(1)
    except (OSError, OverflowError, UnicodeError) as error:
        message = IN_USE if getattr(error, "errno", 0) == errno.EADDRINUSE else NOT_SERVED
        reason = getattr(error, "strerror", None) or str(error)
        raise CannotStart(message.format(host=host, port=port, why=reason)) from error
