"""Start the BERT family explorer: ``python app.py`` serves it on http://127.0.0.1:7860."""

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from io import StringIO

from explorer.doors import log
from explorer.page_state import DEVICES, DTYPES, PageState
from explorer.runs import default_family, warm_up
from explorer.timing.heap import keep_heaps_small
from explorer.ui.kit.words import where_it_runs
from explorer.ui.shell.page import build_page, launch_options


def parse_flags(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line; Gradio's own environment variables fill in what is not given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--family", choices=("mini", "base"), help="default: base if it is cached")
    parser.add_argument("--device", choices=("auto", *DEVICES), default="auto")
    parser.add_argument("--dtype", choices=DTYPES, default="float32")
    parser.add_argument("--host", help="address to serve on (default 127.0.0.1)")
    parser.add_argument("--port", type=int, help="port to serve on (default 7860)")
    parser.add_argument("--share", action="store_true", help="make a public gradio.live link")
    parser.add_argument("--mcp", action="store_true", help="serve four tools for MCP clients too")
    parser.add_argument("--log", action="store_true", help="write a line for every request")
    return parser.parse_args(arguments)


flags = parse_flags(None if __name__ == "__main__" else [])
start = PageState(family=flags.family or default_family(), device=flags.device, dtype=flags.dtype)
mcp = flags.mcp or os.getenv("GRADIO_MCP_SERVER", "").lower() == "true"
demo = build_page(start, mcp)
"""The page, built before a model is loaded; at module level, where Gradio's own tools look."""


def main() -> None:
    """Load the models behind the page, serve it, and say where it is."""
    keep_heaps_small()
    warm_up(start)
    if flags.log:
        log.show()
    shared = flags.share or os.getenv("GRADIO_SHARE", "").lower() == "true"
    # Gradio's own lines blame a missing file where only the network is missing.
    with redirect_stdout(StringIO()):
        _, local, public = demo.launch(
            server_name=flags.host,
            server_port=flags.port,
            share=flags.share or None,
            mcp_server=mcp,
            prevent_thread_lock=True,
            **launch_options(),
        )
    sys.stdout.write(where_it_runs(local, public, shared))
    sys.stdout.flush()
    demo.block_thread()


if __name__ == "__main__":
    main()
