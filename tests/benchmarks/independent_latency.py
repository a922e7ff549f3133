"""BERT over DistilBERT measured twice: by the explorer's protocol and by plain torch alone.

Run by hand: ``python tests/benchmarks/independent_latency.py``. The second measurement shares no
code with the explorer: its own networks from transformers' configs, its own loop and clock.
"""

import argparse
import random
import statistics
import sys
import time
from pathlib import Path

import torch
from transformers import BertConfig, BertModel, DistilBertConfig, DistilBertModel


def independent(length: int, n_rounds: int) -> float:
    torch.set_num_threads(1)
    torch.manual_seed(1)
    networks = [
        BertModel(BertConfig(), add_pooling_layer=True),
        DistilBertModel(DistilBertConfig()),
    ]
    for network in networks:
        network.set_attn_implementation("eager")
        network.eval()
    ids = torch.randint(1000, 30000, (1, length))
    ratios = []
    with torch.inference_mode():
        for number in range(n_rounds + 3):
            times = [0.0, 0.0]
            for which in random.sample([0, 1], 2):
                before = time.thread_time()
                networks[which](input_ids=ids)
                times[which] = time.thread_time() - before
            if number >= 3:
                ratios.append(times[0] / times[1])
    return statistics.median(ratios)


def ours(length: int, n_rounds: int) -> tuple[float, float, float]:
    from explorer.analysis.latency.family import last, measure_family
    from explorer.analysis.latency.measure import RoundsPlan
    from explorer.models.specs import BASE
    from explorer.scheduling.cancel import CancelToken
    from explorer.timing.workload import Workload

    plan = RoundsPlan(budget_s=1e6, min_rounds=n_rounds, max_rounds=n_rounds)
    pair = [BASE["bert"], BASE["distilbert"]]
    summary = last(measure_family(pair, Workload(length), plan, CancelToken())).summary
    ratio = summary.ratios[0].ratio
    return ratio.ratio, ratio.low, ratio.high


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--length", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=25)
    chosen = parser.parse_args()
    sys.path.insert(0, str(Path(__file__).parents[2]))
    ratio, low, high = ours(chosen.length, chosen.rounds)
    other = independent(chosen.length, chosen.rounds)
    difference = abs(ratio / other - 1)
    sys.stdout.write(
        f"BERT over DistilBERT at {chosen.length} tokens: {ratio:.3f} [{low:.3f}, {high:.3f}]; "
        f"plain torch {other:.3f}; they differ by {difference:.1%} (goal 5%)\n"
    )
    sys.exit(difference > 0.05)
