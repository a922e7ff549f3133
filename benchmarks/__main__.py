"""``python -m benchmarks COMMAND``: measurements from the command line."""

import argparse
import sys

from benchmarks import (
    changes,
    click,
    code,
    device,
    finetune,
    fuzz,
    hostile,
    latency,
    library,
    load,
    opened,
    place,
    rest,
    scale,
    texts,
    together,
    versus,
)
from explorer.refusal import Refusal
from explorer.scheduling.cancel import Cancelled

COMMANDS = (
    latency,
    click,
    opened,
    place,
    rest,
    together,
    texts,
    load,
    scale,
    versus,
    hostile,
    fuzz,
    finetune,
    device,
    library,
    code,
    changes,
)
"""The measurements, in the order of ``--help``."""


def main(arguments: list[str] | None = None) -> int:
    """Run one of the measurements; return 0 on success, 2 on refusal or interruption."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for command in COMMANDS:
        command.add_command(commands)
    chosen = parser.parse_args(arguments)
    try:
        return chosen.run(chosen)
    except Cancelled:
        sys.stderr.write("It was stopped before the measurement was complete.\n")
        return 2
    except Refusal as error:
        sys.stderr.write(f"{error}\n")
        return 2


if __name__ == "__main__":
    raise SystemExit(main())
