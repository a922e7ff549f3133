"""A loopback stand-in for the model hub: the pinned repositories with random checkpoints.

Supports the three requests of ``snapshot_download`` (the tree of a revision, a HEAD of a file, the
file itself with ranges) and the explorer's probe, and can fail in the ways of a real hub.
"""

import hashlib
import json
import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from explorer.models.specs import BASE
from tests.tiny_models import sentencepieces, wordpieces

MOODS = ("good", "mute", "mute after the probe", "down", "no such file", "corrupt", "cut short")
TREE = re.compile(r"^/api/models/([^/]+/[^/]+)/tree/([0-9a-f]{40})")
FILE = re.compile(r"^/([^/]+/[^/]+)/resolve/([0-9a-f]{40})/(.+)$")
WEIGHTS = "model.safetensors"


def full_vocabulary(pieces, size):
    return [*pieces, *(f"[unused{i}]" for i in range(size - len(pieces)))]


def save_base_family(folder: Path, width: int = 768) -> None:
    """Save random checkpoints in the published shapes; a smaller ``width`` is faster."""
    import torch
    from transformers import (
        AddedToken,
        AlbertConfig,
        AlbertForPreTraining,
        AlbertTokenizer,
        BertConfig,
        BertForPreTraining,
        BertTokenizer,
        DistilBertConfig,
        DistilBertForMaskedLM,
    )

    words = full_vocabulary(wordpieces(), BASE["bert"].architecture.d_vocab)
    pieces = [*sentencepieces()]
    pieces += [
        (f"▁unused{i}", -20.0) for i in range(BASE["albert"].architecture.d_vocab - len(pieces))
    ]
    mask = AddedToken("[MASK]", lstrip=True, rstrip=False, normalized=False, special=True)
    wordpiece = BertTokenizer(vocab={piece: i for i, piece in enumerate(words)})
    shape = {"vocab_size": len(words), "hidden_size": width, "intermediate_size": 4 * width}
    networks = {
        "bert": (BertForPreTraining, BertConfig(**shape), wordpiece),
        "distilbert": (
            DistilBertForMaskedLM,
            DistilBertConfig(vocab_size=len(words), dim=width, hidden_dim=4 * width),
            wordpiece,
        ),
        "albert": (
            AlbertForPreTraining,
            AlbertConfig(
                vocab_size=len(pieces),
                hidden_size=width,
                intermediate_size=4 * width,
                num_attention_heads=12,
            ),
            AlbertTokenizer(vocab=pieces, mask_token=mask),
        ),
    }
    for key, (network, config, tokenizer) in networks.items():
        with torch.device("meta"):
            empty = network(config)
        built = empty.to_empty(device="cpu")
        with torch.no_grad():
            for parameter in built.parameters():
                parameter.normal_(0, 0.02)
        built.save_pretrained(folder / BASE[key].repo)
        tokenizer.save_pretrained(folder / BASE[key].repo)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "StandInHub"

    def log_message(self, *args) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, body: bool) -> None:
        hub, probe = self.server, self.path == f"/api/models/{BASE['bert'].repo}"
        if self.path.startswith("/mood/"):
            hub.mood = self.path.removeprefix("/mood/").replace("-", " ")
            hub.asked_in[hub.mood] = []
            self._send(200, b"ok", body)
            return
        hub.asked_in[hub.mood].append(f"{self.command} {self.path}")
        if hub.mood == "mute" or (hub.mood == "mute after the probe" and not probe):
            hub.closing.wait()
            self.close_connection = True
        elif hub.mood == "down":
            self._send(503, b"the hub is down", body)
        elif probe:
            self._send(200, b"{}", body)
        elif match := TREE.match(self.path):
            self._send(200, json.dumps(self._tree(match[1])).encode(), body)
        elif match := FILE.match(self.path):
            self._file(match[1], match[2], match[3], body)
        else:
            self._send(404, b"not found", body)

    def _tree(self, repo: str) -> list[dict]:
        pickled = {WEIGHTS: "pytorch_model.bin"} if self.server.mood == "no such file" else {}
        return [
            {
                "type": "file",
                "path": pickled.get(path.name, path.name),
                "size": path.stat().st_size,
                "oid": etag(path),
            }
            for path in sorted((self.server.folder / repo).iterdir())
        ]

    def _file(self, repo: str, revision: str, name: str, body: bool) -> None:
        path = self.server.folder / repo / name
        if not path.exists():
            self._send(404, b"no such file", body, {"X-Error-Code": "EntryNotFound"})
            return
        content = path.read_bytes()
        if name == WEIGHTS and self.server.mood == "corrupt":
            content = b"\xff" * len(content)
        headers = {"ETag": f'"{etag(path)}"', "X-Repo-Commit": revision, "Accept-Ranges": "bytes"}
        start = re.match(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if start:
            rest = content[int(start[1]) :]
            headers["Content-Range"] = f"bytes {start[1]}-{len(content) - 1}/{len(content)}"
            self._send(206, rest, body, headers)
        else:
            self._send(200, content, body, headers, name == WEIGHTS)

    def _send(self, status, content, body, headers=None, weights=False) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/octet-stream", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if not body:
            return
        if weights and self.server.mood == "cut short":
            self.wfile.write(content[: len(content) // 2])
            self.close_connection = True
            return
        self.wfile.write(content)


def etag(path: Path) -> str:
    stat = path.stat()
    return hashlib.sha1(f"{path.name} {stat.st_size}".encode()).hexdigest()


class StandInHub(ThreadingHTTPServer):
    """HTTP server of the hub: ``hub.url``, its mood, and the requests received in each mood."""

    daemon_threads = True

    def __init__(self, folder: Path, mood: str = "good") -> None:
        assert mood in MOODS
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder, self.mood = folder, mood
        self.asked_in: dict[str, list[str]] = {mood: []}
        self.closing = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


@contextmanager
def stand_in_hub(folder: Path, mood: str = "good"):
    hub = StandInHub(folder, mood)
    thread = threading.Thread(target=hub.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.closing.set()
        hub.shutdown()
        hub.server_close()
        thread.join(10)
