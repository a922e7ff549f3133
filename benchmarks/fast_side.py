"""One side of ``python -m benchmarks texts --fast``: a build of the explorer, or minicons.

It runs in a process of its own, with the packages of its side. A question is a line of JSON on its
standard input, and the answer is a line on its standard output. Only what the side needs is
imported: an old build has its own ``explorer`` and ``benchmarks``, and minicons has neither.
"""

import json
import resource
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch

Question = dict[str, Any]
Answer = Callable[[Question], Any]
FAVOURITES, BIAS = 12, 8.0
"""Words that the random heads prefer, and what is added to their logits: without it, all words are
nearly tied in every row, and all rows would be read twice."""
BATCH = 10
BERT = "bert-base-uncased"


def main(side: str, folder: str) -> None:
    """Answer all questions with the seconds that each took."""
    replies, sys.stdout = sys.stdout, sys.stderr  # libraries print too
    answer = SIDES[side](Path(folder))
    for line in sys.stdin:
        question = json.loads(line)
        begun, work = time.perf_counter(), time.process_time()
        found = answer(question)
        seconds, work = time.perf_counter() - begun, time.process_time() - work
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        reply = {"seconds": seconds, "work": work, "peak": peak, **told(found)}
        print(json.dumps(reply), file=replies, flush=True)


def told(found: Any) -> dict[str, Any]:  # noqa: ANN401 - what any side returns
    """Return the rows of the explorer's result and its report on bfloat16, or other answers."""
    if not hasattr(found, "to_dict"):
        return {"found": found}
    answer = found.to_dict()
    return {"found": answer["rows"], "report": answer.get("precision")}


def explorer_side(folder: Path) -> Answer:
    """Return what asks the explorer on the path about base shapes; save BERT in a folder."""
    import explorer
    from benchmarks.served import stand_in_family
    from explorer.models import loading

    stand_in_family()
    base = {name: loaded for (name, *_), loaded in loading._loaded.items() if "mini" not in name}
    for loaded in base.values():
        decide(loaded.network)
    if not (folder / "config.json").exists():
        base[BERT].network.save_pretrained(folder)
        base[BERT].tokenizer.backend_tokenizer.save(str(folder / "tokenizer.json"))
    families = {"base": explorer.load("base"), "mini": explorer.load("mini")}
    if hasattr(explorer, "changed"):  # the old build has no family of one model
        families["bert"] = explorer.load({"measured": BERT})

    def answer(question: Question) -> Any:  # noqa: ANN401
        rows, family = question["rows"], families[question["family"]]
        if question["how"] == "loop":
            return loop(rows, list(base.values()))
        options: dict[str, Any] = {"precision": "fast"} if question["how"] == "fast" else {}
        with any_width() if question["family"] == "mini" and options else nullcontext():
            return explorer.texts(rows, family, **options)

    return answer


def decide(network: Any) -> None:  # noqa: ANN401 - a network of transformers
    """Make a random network's head prefer a few words; the text decides among them."""
    bias = network.get_output_embeddings().bias
    with torch.no_grad():
        bias[favourites(len(bias))] += BIAS


def favourites(n_words: int) -> list[int]:
    """Return the ids of the preferred words."""
    return np.random.default_rng(0).choice(range(1_000, n_words), FAVOURITES, False).tolist()


def any_width() -> Any:  # noqa: ANN401 - a context
    """Let the miniatures run in bfloat16, though it gains them no time."""
    from unittest.mock import patch

    from explorer.models import half

    return patch.object(half, "LEAST_WIDTH", 0)


def loop(rows: list[dict[str, str]], models: list[Any]) -> None:
    """Run masked rows through the hand-written loop."""
    from benchmarks.texts import at_masks, by_hand

    by_hand(models, [row["text"] for row in rows], at_masks)


def minicons_side(folder: Path) -> Answer:
    """Return what asks minicons for pseudo-log-likelihoods, in batches of texts of like lengths."""
    from minicons import scorer
    from transformers import AutoModelForMaskedLM, PreTrainedTokenizerFast

    special = {
        f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")
    }
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), **special)
    network = AutoModelForMaskedLM.from_pretrained(folder).eval()
    model = scorer.MaskedLMScorer(network, "cpu", tokenizer=tokenizer)

    def answer(question: Question) -> list[float]:
        texts = [row["text"] for row in question["rows"]]
        order = sorted(range(len(texts)), key=lambda n: len(texts[n].split()))
        scores = [0.0] * len(texts)
        for start in range(0, len(order), BATCH):
            places = order[start : start + BATCH]
            batch = [texts[place] for place in places]
            found = model.sequence_score(batch, reduction=lambda each: each.sum(0).item())
            for place, score in zip(places, found, strict=True):
                scores[place] = score
        return scores

    return answer


SIDES: dict[str, Callable[[Path], Answer]] = {
    "explorer": explorer_side,
    "minicons": minicons_side,
}

if __name__ == "__main__":
    main(*sys.argv[1:])
