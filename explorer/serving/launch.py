"""Startup of the server from the flags, and its shutdown."""

import os
import signal
import socket
import sys
from argparse import Namespace
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import partial
from io import StringIO
from typing import Any
from urllib.parse import urlsplit

import gradio as gr

from explorer.context import configure, context
from explorer.inference.runs import default_family, warm_up
from explorer.links.page_state import PageState
from explorer.middleware import access_log
from explorer.middleware.shutdown import close
from explorer.models.choice.family import sizes_of
from explorer.refusal import Refusal
from explorer.serving.network import for_others
from explorer.serving.start import (
    NO_RAY,
    TUNED_FOLDER,
    CannotStart,
    check_machine,
    check_models,
    check_port,
)
from explorer.timing.memory import limit_arenas
from explorer.ui.kit.strings import where_it_runs
from explorer.ui.shell.page import build_page, launch_options


def build(flags: Namespace) -> gr.Blocks:
    """Build the page, before any model is loaded.

    Raises:
        CannotStart: the machine lacks memory or a temporary folder, or ``--models-at`` has no
            models.
        Broken: a file is missing or damaged.
    """
    check_machine()
    if flags.models_at:
        use_models_at(flags.models_at)
    else:
        check_models()
        configure(is_local=is_local(flags), tunes_for_all=bool(flags.finetune))
        configure(tuned_folder=flags.finetune or (TUNED_FOLDER if is_local(flags) else ""))
    return build_page(opened_on(flags), with_tools(flags))


def use_models_at(address: str) -> None:
    """Use the models of a Ray cluster; this process holds no network.

    Raises:
        CannotStart: Ray is not installed, or the cluster has no models.
    """
    try:
        from explorer.serving.ray_client import connect
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] != "ray":
            raise
        raise CannotStart(NO_RAY) from missing
    connect(address)


def opened_on(flags: Namespace) -> PageState:
    """Return the state that the page opens on."""
    family = flags.family or default_family()
    first = next(iter(sizes_of(family)))
    return PageState(family=family, model=first, device=flags.device, dtype=flags.dtype)


def with_tools(flags: Namespace) -> bool:
    """Return whether tools for MCP clients are served too."""
    return flags.mcp or os.getenv("GRADIO_MCP_SERVER", "").lower() == "true"


def serve(page: gr.Blocks, flags: Namespace) -> None:
    """Serve the page until a signal arrives; load the models meanwhile and print the address.

    Raises:
        CannotStart: the page cannot be served on the host and port.
    """
    wait_for_end = signal_waiter()
    try:
        options = launch_options(flags.public_url)
    except Refusal as error:
        raise CannotStart(str(error)) from error
    check_port(flags.host, flags.port)
    if flags.log:
        access_log.show()
    limit_arenas()
    warm_up(opened_on(flags).ask)
    shared = flags.share or os.getenv("GRADIO_SHARE", "").lower() == "true"
    local, public = launched(page, flags, options)
    if public and not context().public_url:
        configure(public_url=public.rstrip("/"))
    port = int(urlsplit(local).port or 80)
    others = for_others(host_of(flags), port, with_code=sys.stdout.isatty())
    sys.stdout.write(where_it_runs(local, public, shared) + others)
    sys.stdout.flush()
    wait_for_end()
    close(page)


def signal_waiter() -> Callable[[], object]:
    """Return a function that waits until SIGTERM or SIGINT arrives.

    The kernel may deliver a signal to any thread. A main thread that waits in a lock then runs no
    handler until it wakes; the wakeup descriptor is written whichever thread it was.
    """
    receiver, sender = socket.socketpair()
    sender.setblocking(False)
    signal.set_wakeup_fd(sender.detach())
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: None)
    return partial(receiver.recv, 1)


def host_of(flags: Namespace) -> str | None:
    """Return the host to serve on; None is Gradio's default, this machine only."""
    return flags.host or os.getenv("GRADIO_SERVER_NAME")


def is_local(flags: Namespace) -> bool:
    """Return whether only this machine has the page."""
    is_shared = flags.share or os.getenv("GRADIO_SHARE", "").lower() == "true"
    is_elsewhere = is_shared or flags.public_url or os.getenv("SPACE_ID")
    return not is_elsewhere and host_of(flags) in (None, "127.0.0.1", "localhost", "::1")


def in_url(host: str | None) -> str | None:
    """Return a host as it stands in a URL: an IPv6 address is in brackets there."""
    return f"[{host}]" if host and ":" in host and not host.startswith("[") else host


def launched(page: gr.Blocks, flags: Namespace, options: dict[str, Any]) -> tuple[str, str | None]:
    """Launch the page and return its local and its public URL.

    Raises:
        CannotStart: no port is free.
    """
    try:
        # Hidden, because Gradio's own lines blame a missing file when only the network fails.
        with redirect_stdout(StringIO()):
            _, local, public = page.launch(
                server_name=in_url(host_of(flags)),
                server_port=flags.port,
                share=flags.share or None,
                mcp_server=with_tools(flags),
                prevent_thread_lock=True,
                **options,
            )
    except OSError as error:
        raise CannotStart(f"The page cannot be served: {error}") from error
    return local, public
