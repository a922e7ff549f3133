"""``python app.py`` whose jobs over the bundled sentences and pairs take the first of them alone.

What a browser shows of a job does not depend on how many sentences it reads; what the job computes from
all of them is tested without a browser.
"""

import runpy

from explorer import assets
from explorer.serving.start import leave_out_stubs

FEW, FEW_PAIRS = 24, 12


def shortened(bundled: dict[str, str]) -> dict[str, str]:
    """Return a bundled list, of pairs only the first rows: each takes a pass for every token."""
    if bundled["kind"] != "pairs":
        return bundled
    return bundled | {"content": "".join(bundled["content"].splitlines(True)[: FEW_PAIRS + 1])}


def main() -> None:
    """Read the sentences before anything else does, and start."""
    leave_out_stubs()
    few = assets.sentences()[:FEW]
    assets.sentences = lambda: few
    lists = tuple(map(shortened, assets.text_lists()))
    assets.text_lists = lambda: lists
    runpy.run_path(str(assets.ROOT / "app.py"), run_name="__main__")


if __name__ == "__main__":
    main()
