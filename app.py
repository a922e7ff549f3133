"""Start the BERT family explorer: ``python app.py`` serves it on http://127.0.0.1:7860."""

import os

from explorer.serving.start import leave_out_stubs, parse_flags, plainly

leave_out_stubs()
with plainly():
    from explorer.serving.launch import build, serve

    flags = parse_flags(None if __name__ == "__main__" else [])
    demo = build(flags)
    """The page, built before a model is loaded; at module level, where Gradio's own tools look."""


def main() -> None:
    """Serve it until its end is asked for."""
    with plainly():
        serve(demo, flags)


if __name__ == "__main__":
    main()
    os._exit(0)  # a pass that nobody waits for any more must not keep the program
