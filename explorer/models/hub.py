"""Checkpoint files: bundled, cached or downloaded from the hub with timeouts, and their damage."""

import hashlib
import json
import logging
import os
import threading
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from huggingface_hub import snapshot_download
from huggingface_hub.errors import LocalEntryNotFoundError
from huggingface_hub.utils import get_session
from tqdm.auto import tqdm

from explorer.assets import read_in
from explorer.models.specs import MINI, ModelSpec
from explorer.refusal import Refusal, Sentence, code_of

logger = logging.getLogger(__name__)
WEIGHT_PATTERNS = ["model.safetensors", "model-*.safetensors", "model.safetensors.index.json"]
FILES = [
    "config.json",
    *WEIGHT_PATTERNS,
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.txt",
    "spiece.model",
    "sentencepiece.bpe.model",
    "special_tokens_map.json",
    "vocab.json",
    "merges.txt",
]
OnProgress = Callable[[str, float], None]
"""Callback that takes a plain sentence and the share done, 0 to 1."""
NO_SAFETENSORS = Sentence(
    "no-safetensors", "the model hub has no model.safetensors for it; pickled weights are not read"
)
PROBE_SECONDS = 2.0
MISSING = Sentence("missing-file", "its {name} is missing")
DAMAGED = Sentence("damaged-file", "its {name} is damaged")
LIST_DAMAGED = Sentence("damaged-list", "the list of its files of weights is damaged")
STALL_SECONDS = 10.0
TOKENIZERS = (
    "tokenizer.json",
    "vocab.txt",
    "spiece.model",
    "sentencepiece.bpe.model",
    "vocab.json",
)
WEIGHTS, TOKENIZER, SETTINGS = "model.safetensors", "tokenizer.json", "tokenizer_config.json"
ADAPTER_FILES = ("card.json", "adapter_model.safetensors")
ADAPTERS = f"tasks/*/{ADAPTER_FILES[1]}"
UNREADABLE = (OSError, ValueError, LookupError, TypeError, AttributeError)
"""Exceptions raised when a damaged file is parsed as JSON and its content looked up."""
Stamp = tuple[tuple[str, int, int], ...]
"""Name, modification time (ns) and size of every entry of a folder."""
_failures: dict[tuple[str, Path], tuple[Stamp, Path, Sentence]] = {}


class ModelUnavailable(Refusal):
    """Refusal of a checkpoint that cannot be loaded; the message is the sentence on its card."""

    def __init__(self, spec: ModelSpec, reason: Sentence) -> None:
        where = spec.repo or spec.name
        sentence = f"{spec.label} ({where}) is not available: {reason}."
        super().__init__(Sentence(code_of(reason), sentence))
        self.spec, self.reason = spec, reason

    def __reduce__(self) -> "tuple[type[ModelUnavailable], tuple[ModelSpec, Sentence]]":
        """Return the constructor call, so that it pickles to a process on another machine."""
        return type(self), (self.spec, self.reason)


def adapter_folder(spec: ModelSpec, task: str) -> Path:
    """Return the folder of a model's adapter for a task, which may not exist."""
    return (spec.folder or spec.bundled_path) / "tasks" / task


def has_adapter(spec: ModelSpec, task: str) -> bool:
    """Return whether a model has an adapter for a task next to its weights."""
    return all((adapter_folder(spec, task) / name).exists() for name in ADAPTER_FILES)


def save_tokenizer(tokenizer: Any, folder: Path) -> None:  # noqa: ANN401 - of transformers
    """Save a tokenizer under a class that both transformers 4 and 5 have.

    Version 5 names its base class, ``TokenizersBackend``, which 4.57 does not know. Both read the
    same files as ``PreTrainedTokenizerFast``.
    """
    tokenizer.save_pretrained(folder)
    settings = json.loads((folder / SETTINGS).read_text("utf-8"))
    if settings.get("tokenizer_class") == "TokenizersBackend":
        settings["tokenizer_class"] = "PreTrainedTokenizerFast"
        (folder / SETTINGS).write_text(json.dumps(settings, indent=2) + "\n", "utf-8")


def hub_reachable(timeout: float = PROBE_SECONDS) -> bool:
    """Return whether the hub answers before the timeout; a silent server is unreachable."""
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "ON", "YES", "TRUE"}:
        return False
    url = os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
    answers: list[bool] = []

    def probe() -> None:
        try:
            place = f"{url}/api/models/google-bert/bert-base-uncased"
            answers.append(get_session().head(place, timeout=timeout).status_code < 500)
        except Exception as error:
            # What the hub's client raises depends on its version: it has changed its HTTP library.
            logger.info("hub probe: %s", error)

    # A thread, because name resolution has no timeout of its own.
    thread = threading.Thread(target=probe, daemon=True)
    thread.start()
    thread.join(timeout)
    return bool(answers and answers[0])


def cached_path(spec: ModelSpec) -> Path | None:
    """Return the checkpoint's folder in the hub cache if it is complete, else None."""
    try:
        folder = snapshot_download(
            spec.repo, revision=spec.revision or None, allow_patterns=FILES, local_files_only=True
        )
    except (LocalEntryNotFoundError, OSError):
        return None
    path = Path(folder)
    return path if (path / "config.json").exists() and has_weights(path) else None


def weight_files(path: Path) -> list[Path]:
    """Return a checkpoint's weights files: one, or the shards that the index names."""
    if (path / WEIGHT_PATTERNS[0]).exists():
        return [path / WEIGHT_PATTERNS[0]]
    index = json.loads((path / WEIGHT_PATTERNS[-1]).read_text("utf-8"))
    return [path / name for name in sorted(set(index["weight_map"].values()))]


def has_weights(path: Path) -> bool:
    """Return whether a folder has a checkpoint's weights, in one file or in shards."""
    return any((path / name).exists() for name in (WEIGHT_PATTERNS[0], WEIGHT_PATTERNS[-1]))


def is_on_disk(spec: ModelSpec) -> bool:
    """Return whether a checkpoint can be loaded without the hub."""
    return not spec.repo or cached_path(spec) is not None


def checkpoint_path(spec: ModelSpec, report: OnProgress | None = None) -> Path:
    """Return the folder of a checkpoint, downloaded if it is not on disk.

    Raises:
        ModelUnavailable: neither bundled nor cached, and the hub cannot provide it.
    """
    if spec.folder:
        return spec.folder
    if not spec.repo:
        path = spec.bundled_path
        if not ((path / "config.json").exists() and has_weights(path)):
            raise ModelUnavailable(
                spec, Sentence("no-bundled-files", "its bundled files are missing")
            )
        return path
    cached = cached_path(spec)
    if cached is not None:
        return cached
    if not hub_reachable():
        raise ModelUnavailable(
            spec,
            Sentence("not-in-cache", "it is not in the cache and the model hub does not answer"),
        )
    return _download(spec, report)


def _download(spec: ModelSpec, report: OnProgress | None) -> Path:
    # Without a timeout the hub client waits for ever.
    get_session().timeout = STALL_SECONDS
    try:
        path = snapshot_download(
            spec.repo,
            revision=spec.revision or None,
            allow_patterns=FILES,
            tqdm_class=reporting_bar(spec.label, report),
        )
    except Exception as error:
        # The hub client raises its own, its HTTP library's and the operating system's errors here.
        logger.warning("download of %s failed", spec.repo, exc_info=error)
        raise ModelUnavailable(
            spec, Sentence("download-failed", "the download from the model hub failed")
        ) from error
    if not has_weights(Path(path)):
        raise ModelUnavailable(spec, NO_SAFETENSORS)
    return Path(path)


def reporting_bar(label: str, report: OnProgress | None) -> type:
    """Return a tqdm class that reports its progress to the page instead of the terminal."""

    class Bar(tqdm):
        def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
            kwargs["disable"] = False
            kwargs["file"] = open(os.devnull, "w")  # noqa: SIM115 - closed with the bar
            kwargs.pop("name", None)
            super().__init__(*args, **kwargs)

        def update(self, n: float | None = 1) -> bool | None:
            displayed = super().update(n)
            if report and self.total and self.unit == "B":
                megabytes = f"{self.n / 1e6:.0f} of {self.total / 1e6:.0f} MB"
                report(f"Downloading {label}: {megabytes}", self.n / self.total)
            return displayed

        def close(self) -> None:
            super().close()
            if self.fp and not getattr(self.fp, "closed", True):
                self.fp.close()

    return Bar


def check_bundled() -> None:
    """Check every bundled weights file, tokenizer and tokenizer config for damage.

    Raises:
        Broken: one is missing or damaged.
    """
    for spec in MINI.values():
        folder = spec.bundled_path
        for path in (folder / WEIGHTS, *sorted(folder.glob(ADAPTERS))):
            with read_in(path):
                check_weights(path)
        with read_in(folder / TOKENIZER):
            check_tokenizer(folder / TOKENIZER)
        with read_in(folder / SETTINGS):
            json.loads((folder / SETTINGS).read_text("utf-8"))


def check_weights(path: Path) -> None:
    """Check a safetensors file's length against the tensor offsets in its header.

    Raises:
        OSError: it is not there. ValueError, LookupError, TypeError, AttributeError: it is damaged.
    """
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        start = 8 + int.from_bytes(file.read(8), "little")
        if start > size:
            raise ValueError(f"its header does not fit into its {size:,} bytes")
        header = json.loads(file.read(start - 8))
    tensors = [tensor for name, tensor in header.items() if name != "__metadata__"]
    end = start + max(tensor["data_offsets"][1] for tensor in tensors)
    if size != end:
        raise ValueError(f"it has {size:,} bytes of {end:,}")


def check_tokenizer(path: Path) -> None:
    """Check that a ``tokenizer.json`` can be parsed and has a vocabulary.

    Raises:
        OSError: it is not there. ValueError, LookupError, TypeError, AttributeError: it is damaged.
    """
    if not json.loads(path.read_text("utf-8"))["model"]["vocab"]:
        raise ValueError("it lists no pieces")


def damage(folder: Path) -> Sentence | None:
    """Return which of a checkpoint's files is missing or damaged; None where none is known."""
    if not has_weights(folder):
        return MISSING.format(name=WEIGHTS)
    if not any((folder / name).exists() for name in TOKENIZERS):
        return MISSING.format(name=TOKENIZER)
    try:
        files = weight_files(folder)
    except UNREADABLE:
        return LIST_DAMAGED
    checked = [(path, check_weights) for path in files]
    if (folder / TOKENIZER).exists():
        checked.append((folder / TOKENIZER, check_tokenizer))
    for path, check in checked:
        try:
            check(path)
        except UNREADABLE:
            return DAMAGED.format(name=path.name)
    return None


def stamp(folder: Path) -> Stamp:
    """Return a fingerprint of a folder that changes whenever one of its files changes."""
    if not folder.is_dir():
        return ()
    entries = []
    for path in folder.iterdir():
        try:
            status = path.stat()
        except FileNotFoundError:
            continue  # deleted while the folder was listed
        entries.append((path.name, status.st_mtime_ns, status.st_size))
    return tuple(sorted(entries))


def remember(spec: ModelSpec, folder: Path, before: Stamp, reason: Sentence) -> None:
    """Record why a checkpoint cannot be read; valid until one of its files changes."""
    _failures[_place(spec)] = before, folder, reason


def remembered(spec: ModelSpec) -> Sentence | None:
    """Return why a checkpoint could not be read if its files are unchanged; else None."""
    if _place(spec) not in _failures:
        return None
    before, folder, reason = _failures[_place(spec)]
    return reason if stamp(folder) == before else None


def _place(spec: ModelSpec) -> tuple[str, Path]:
    return spec.name, spec.folder or spec.bundled_path


def checksum(folder: Path) -> str:
    """Return the SHA-256 of a folder's weights; of their index where they are in shards."""
    path = folder / WEIGHTS
    return file_checksum(path if path.exists() else folder / f"{WEIGHTS}.index.json")


def file_checksum(path: Path) -> str:
    """Return the SHA-256 of a file; kept until the file changes."""
    return _checksum(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=16)
def _checksum(path: Path, _modified: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
