"""Runner of saved scripts, one after another, in a process without access to the explorer.

Started as ``python -I alone.py SCRIPT ...`` in an empty folder; each script's output is written
beside it.
"""

import runpy
import sys
from contextlib import redirect_stdout
from pathlib import Path

for script in map(Path, sys.argv[1:]):
    with script.with_suffix(".out").open("w", encoding="utf-8") as out, redirect_stdout(out):
        runpy.run_path(str(script), run_name="__main__")
