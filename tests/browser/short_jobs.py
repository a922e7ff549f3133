"""``python app.py`` with short jobs: a few of the bundled sentences and pairs, short measurements.

What a browser shows of a job does not depend on how many sentences it reads or how long it
measures; what the job computes is tested without a browser.
"""

import runpy

from explorer import assets
from explorer.serving.start import leave_out_stubs
from tests.waiting import until

FEW, FEW_PAIRS = 24, 12
ROUNDS = 8
"""Rounds of the measurement that times all models of a size: the fewest whose times are shown."""
HELD = "Held."
"""Row after which a list of sentences waits until it is stopped."""


def shortened(bundled: dict[str, str]) -> dict[str, str]:
    """Return a bundled list, of pairs only the first rows: each takes a pass for every token."""
    if bundled["kind"] != "pairs":
        return bundled
    return bundled | {"content": "".join(bundled["content"].splitlines(True)[: FEW_PAIRS + 1])}


def in_few_rounds(specs, _variants_of, workload, budget_s, cancel_token):
    """Time models in a fixed number of rounds; yields after each."""
    from explorer.analysis.latency.family import measure_family, plan_for
    from explorer.timing import protocol

    protocol.stolen_seconds = lambda: 0.0  # as on a machine where nothing else runs
    plan = plan_for(workload, 10 * budget_s, ROUNDS)
    for family in measure_family(specs, workload, plan, cancel_token):
        yield family, None


def held(parts):
    """Return parts of a list that wait for Stop after the part with the row ``HELD``."""

    def waiting(ready, cancel):
        for part in parts(ready, cancel):
            yield part
            if any(ready.texts.rows[row].text == HELD for row in part.rows):
                until(lambda: cancel.cancelled)
                cancel.check()

    return waiting


def main() -> None:
    """Read the sentences before anything else does, and start."""
    leave_out_stubs()
    few = assets.sentences()[:FEW]
    assets.sentences = lambda: few
    from explorer.library import model_choice
    from explorer.lists import run
    from explorer.lists.ui import tab  # it imports Gradio, whose stubs are left out

    lists = tuple(map(shortened, assets.text_lists()))
    assets.text_lists = lambda: lists
    model_choice.measure_with_variants = in_few_rounds
    run.sentence_parts = held(run.sentence_parts)
    tab.SHOW_EVERY_S = 0  # the rows so far are shown after each part, however fast the machine is
    runpy.run_path(str(assets.ROOT / "app.py"), run_name="__main__")


if __name__ == "__main__":
    main()
