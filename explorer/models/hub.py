"""Location of a checkpoint: bundled, in the hub cache, or downloaded, with timeouts."""

import json
import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
from huggingface_hub import snapshot_download
from huggingface_hub.errors import LocalEntryNotFoundError
from huggingface_hub.utils import get_session
from tqdm.auto import tqdm

from explorer.models.specs import ModelSpec
from explorer.refusal import Refusal

logger = logging.getLogger(__name__)
WEIGHTS = ["model.safetensors", "model-*.safetensors", "model.safetensors.index.json"]
FILES = [
    "config.json",
    *WEIGHTS,
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.txt",
    "spiece.model",
    "special_tokens_map.json",
    "vocab.json",
    "merges.txt",
]
OnProgress = Callable[[str, float], None]
"""Callback that takes a plain sentence and the share done, 0 to 1."""
NO_SAFETENSORS = "the model hub has no model.safetensors for it; pickled weights are not read"
PROBE_SECONDS = 2.0
STALL_SECONDS = 10.0


class ModelUnavailable(Refusal):
    """Refusal of a checkpoint that cannot be loaded; the message is the sentence on its card."""

    def __init__(self, spec: ModelSpec, reason: str) -> None:
        super().__init__(f"{spec.label} ({spec.repo or spec.name}) is not available: {reason}.")
        self.spec, self.reason = spec, reason

    def __reduce__(self) -> "tuple[type[ModelUnavailable], tuple[ModelSpec, str]]":
        """Return the constructor call, so that it pickles to a process on another machine."""
        return type(self), (self.spec, self.reason)


def hub_reachable(timeout: float = PROBE_SECONDS) -> bool:
    """Return whether the hub answers before the timeout; a silent server is unreachable."""
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "ON", "YES", "TRUE"}:
        return False
    url = os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
    answers: list[bool] = []

    def probe() -> None:
        try:
            status = httpx.head(f"{url}/api/models/google-bert/bert-base-uncased", timeout=timeout)
            answers.append(status.status_code < 500)
        except httpx.HTTPError as error:
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
    if (path / WEIGHTS[0]).exists():
        return [path / WEIGHTS[0]]
    index = json.loads((path / WEIGHTS[-1]).read_text("utf-8"))
    return [path / name for name in sorted(set(index["weight_map"].values()))]


def has_weights(path: Path) -> bool:
    """Return whether a folder has a checkpoint's weights, in one file or in shards."""
    return any((path / name).exists() for name in (WEIGHTS[0], WEIGHTS[-1]))


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
            raise ModelUnavailable(spec, "its bundled files are missing")
        return path
    cached = cached_path(spec)
    if cached is not None:
        return cached
    if not hub_reachable():
        raise ModelUnavailable(spec, "it is not in the cache and the model hub does not answer")
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
        # The hub client raises its own, httpx's and the operating system's errors here.
        logger.warning("download of %s failed", spec.repo, exc_info=error)
        raise ModelUnavailable(spec, "the download from the model hub failed") from error
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
