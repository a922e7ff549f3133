"""Runs saved scripts one after another as their readers do, in a process that has nothing of the explorer.

Started as ``python -I alone.py SCRIPT ...`` in an empty folder: what each script prints is left beside it.
"""

import runpy
import sys
from contextlib import redirect_stdout
from pathlib import Path

for script in map(Path, sys.argv[1:]):
    with script.with_suffix(".out").open("w", encoding="utf-8") as out, redirect_stdout(out):
        runpy.run_path(str(script), run_name="__main__")
