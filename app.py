"""Start the BERT family explorer: ``python app.py`` serves it on http://127.0.0.1:7860."""

import os

from explorer.serving.start import exit_with_sentence, leave_out_stubs, parse_flags

leave_out_stubs()
with exit_with_sentence():
    from explorer.serving.launch import build, serve

    flags = parse_flags(None if __name__ == "__main__" else [])
    demo = build(flags)
    """The page, built before any model is loaded; at module level, where Gradio's tools find it."""


def main() -> None:
    """Serve the page until a signal asks the process to stop."""
    with exit_with_sentence():
        serve(demo, flags)


if __name__ == "__main__":
    main()
    os._exit(0)  # a forward pass still running in a thread must not keep the process alive
