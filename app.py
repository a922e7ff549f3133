"""Start the BERT family explorer: ``python app.py`` serves it on http://127.0.0.1:7860."""

import argparse

from explorer.page_state import DEVICES, DTYPES, PageState
from explorer.runs import default_family, warm_up


def parse_flags() -> argparse.Namespace:
    """The command line; Gradio's own environment variables fill in what is not given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--family", choices=("mini", "base"), help="default: base if it is cached")
    parser.add_argument("--device", choices=("auto", *DEVICES), default="auto")
    parser.add_argument("--dtype", choices=DTYPES, default="float32")
    parser.add_argument("--host", help="address to serve on (default 127.0.0.1)")
    parser.add_argument("--port", type=int, help="port to serve on (default 7860)")
    parser.add_argument("--share", action="store_true", help="make a public gradio.live link")
    return parser.parse_args()


def main() -> None:
    """Build the page first, load the models behind it."""
    flags = parse_flags()
    family = flags.family or default_family()
    start = PageState(family=family, device=flags.device, dtype=flags.dtype)
    from explorer.ui.shell.page import build_page, launch_options

    page = build_page(start)
    warm_up(start)
    page.launch(
        server_name=flags.host, server_port=flags.port, share=flags.share, **launch_options()
    )


if __name__ == "__main__":
    main()
