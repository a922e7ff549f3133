"""``python app.py`` whose jobs over the bundled sentences take the first of them alone.

What a browser shows of a job does not depend on how many sentences it reads; what the job computes from
all of them is tested without a browser.
"""

import runpy

from explorer import assets
from explorer.serving.start import leave_out_stubs

FEW = 24


def main() -> None:
    """Read the sentences before anything else does, and start."""
    leave_out_stubs()
    few = assets.sentences()[:FEW]
    assets.sentences = lambda: few
    runpy.run_path(str(assets.ROOT / "app.py"), run_name="__main__")


if __name__ == "__main__":
    main()
