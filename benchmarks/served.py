"""The explorer served with full-size random networks, and a client of its Compare event."""

import json
import random
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import httpx
import numpy as np

from explorer.links.page_state import PageState
from explorer.models.specs import BASE, ModelSpec

PORTS = (20_000, 32_000)
"""Below those of clients: a server binds its port seconds after it is chosen."""


def stand_in_family(device: str = "cpu", dtype: str = "float32") -> None:
    """Load full-size networks with random weights in place of the base checkpoints."""
    from explorer.models import loading
    from explorer.models.architectures import random_network

    for spec in BASE.values():
        tokenizer = word_tokenizer(spec)
        pieces = tokenizer.convert_ids_to_tokens(range(spec.architecture.d_vocab))
        loading._loaded[spec.name, device, dtype] = loading.LoadedModel(
            spec,
            random_network(spec).to(device, loading.DTYPES[dtype]),
            tokenizer,
            device,
            dtype,
            (),
            tuple(p or "" for p in pieces),
        )


def word_tokenizer(spec: ModelSpec) -> Any:  # noqa: ANN401 - a fast tokenizer
    """Return a tokenizer with one token a made-up word, for texts of an exact length."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = [*special, *(f"w{n}" for n in range(spec.architecture.d_vocab - len(special)))]
    core = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, "[UNK]"))
    core.pre_tokenizer = pre_tokenizers.Whitespace()
    core.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B [SEP]",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=core,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )


def made_up_text(n_tokens: int, rng: np.random.Generator) -> str:
    """Return a random text of this many tokens with one mask in its middle."""
    words = [f"w{n}" for n in rng.integers(0, 29_000, n_tokens - 2)]
    words[len(words) // 2] = "[MASK]"
    return " ".join(words)


def free_port() -> int:
    """Return an unused port that no client is given before it is bound."""
    while True:
        port = random.SystemRandom().randrange(*PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


@contextmanager
def served(page: Any, **options: Any) -> Iterator[str]:  # noqa: ANN401 - Gradio Blocks
    """Serve a page on a free port, without its browser; yield its URL."""
    # Without _frontend Gradio does not fail when a busy machine takes 3 s to answer its own check.
    _, url, _ = page.launch(
        server_name="127.0.0.1",
        server_port=free_port(),
        prevent_thread_lock=True,
        **(options | {"quiet": True, "_frontend": False}),
    )
    try:
        yield url.rstrip("/")
    finally:
        page.close(verbose=False)


@contextmanager
def served_explorer() -> Iterator["Client"]:
    """Serve the explorer with the stand-in family; yield a client."""
    from explorer.ui.shell.page import build_page, launch_options

    page = build_page(PageState(family="base"))
    with served(page, **launch_options()) as url, httpx.Client(timeout=300) as http:
        yield Client(http, url, event_number(page, "on_view"))


@contextmanager
def served_nothing() -> Iterator["Client"]:
    """Serve a page with one empty event, the baseline of Gradio's own cost; yield a client."""
    import gradio as gr

    with gr.Blocks(analytics_enabled=False) as page:
        gr.Button("Nothing").click(lambda: None, None, None)
    with served(page) as url, httpx.Client(timeout=300) as http:
        yield Client(http, url, 0)


def event_number(page: Any, handler: str) -> int:  # noqa: ANN401 - Gradio Blocks
    """Return the number under which a page's event can be called."""
    numbers = (n for n, f in page.fns.items() if getattr(f.fn, "__name__", "") == handler)
    return int(next(numbers))


@dataclass(frozen=True, slots=True)
class Client:
    """Client of one event, as in a browser tab: send, then read until the last byte."""

    http: httpx.Client
    url: str
    event: int
    session: str = field(default_factory=lambda: uuid.uuid4().hex[:10])

    def send(self, *values: object) -> int:
        """Fire the event, read its whole answer and return its size in bytes.

        Raises:
            RuntimeError: The event failed.
        """
        body = {"data": list(values), "fn_index": self.event, "session_hash": self.session}
        self.http.post(f"{self.url}/gradio_api/queue/join", json=body).raise_for_status()
        query = {"session_hash": self.session}
        n_bytes = 0
        with self.http.stream("GET", f"{self.url}/gradio_api/queue/data", params=query) as reply:
            for line in reply.iter_lines():
                n_bytes += len(line)
                message = json.loads(line.removeprefix("data:")) if line else {}
                if message.get("msg") == "process_completed" and not message["success"]:
                    raise RuntimeError(f"the event failed: {message['output']}")
        return n_bytes

    def compare(self, text: str) -> int:
        """Press Compare with a text; return the answer's size in bytes."""
        params = {"text": text, "family": "base", "device": "cpu", "dtype": "float32"}
        return self.send(json.dumps({"params": params, "number": 1, "keep": []}))
