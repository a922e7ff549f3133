"""Cheap detection of missing or damaged checkpoint files: no weight is read."""

import json
import os
from pathlib import Path

from explorer.assets import read_in
from explorer.models.specs import MINI, ModelSpec

TOKENIZERS = ("tokenizer.json", "vocab.txt", "spiece.model", "vocab.json")
WEIGHTS, TOKENIZER, SETTINGS = "model.safetensors", "tokenizer.json", "tokenizer_config.json"
ADAPTERS = "tasks/*/adapter_model.safetensors"
UNREADABLE = (OSError, ValueError, LookupError, TypeError, AttributeError)
"""Exceptions raised when a damaged file is parsed as JSON and its content looked up."""
Stamp = tuple[tuple[str, int, int], ...]
"""Name, modification time (ns) and size of every entry of a folder."""
_failures: dict[tuple[str, Path], tuple[Stamp, Path, str]] = {}


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


def damage(folder: Path) -> str:
    """Return which of a checkpoint's files is missing or damaged; empty where none is known."""
    from explorer.models.hub import has_weights, weight_files

    if not has_weights(folder):
        return f"its {WEIGHTS} is missing"
    if not any((folder / name).exists() for name in TOKENIZERS):
        return f"its {TOKENIZER} is missing"
    try:
        files = weight_files(folder)
    except UNREADABLE:
        return "the list of its files of weights is damaged"
    checked = [(path, check_weights) for path in files]
    if (folder / TOKENIZER).exists():
        checked.append((folder / TOKENIZER, check_tokenizer))
    for path, check in checked:
        try:
            check(path)
        except UNREADABLE:
            return f"its {path.name} is damaged"
    return ""


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


def remember(spec: ModelSpec, folder: Path, before: Stamp, reason: str) -> None:
    """Record why a checkpoint cannot be read; valid until one of its files changes."""
    _failures[_place(spec)] = before, folder, reason


def remembered(spec: ModelSpec) -> str:
    """Return why a checkpoint could not be read if its files are unchanged; else empty."""
    if _place(spec) not in _failures:
        return ""
    before, folder, reason = _failures[_place(spec)]
    return reason if stamp(folder) == before else ""


def _place(spec: ModelSpec) -> tuple[str, Path]:
    return spec.name, spec.folder or spec.bundled_path
