"""``python -m benchmarks texts``: a list through all models, against a hand-written loop."""

import argparse
import copy
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock
from typing import Any

import numpy as np
import torch

from benchmarks import fast
from benchmarks.click import span
from benchmarks.served import made_up_text, stand_in_family
from explorer import assets
from explorer.analysis.latency.ratio import paired_ratio
from explorer.inference.runs import in_this_thread
from explorer.links.page_state import PageState
from explorer.lists.batches import feature_parts, prepare_features
from explorer.lists.read import read_table
from explorer.lists.rows import TextList, text_list
from explorer.lists.run import TextsQuestion
from explorer.models.choice.family import family_specs
from explorer.models.devices import resolve_device
from explorer.models.loading import DTYPES, LoadedModel, load_model
from explorer.scheduling.cancel import CancelToken

LENGTHS = (8, 40)
"""Tokens of a made-up text: lower bound, and exclusive upper bound."""
BATCH = 16
GOAL = 0.85
Loop = Callable[[LoadedModel, dict[str, torch.Tensor]], Any]


def add_command(commands: Any) -> None:  # noqa: ANN401 - argparse's own type is private
    """Declare the command and its flags."""
    parser = commands.add_parser("texts", help=__doc__)
    parser.set_defaults(run=run)
    parser.add_argument("--families", nargs="+", choices=["mini", "base"], default=["mini", "base"])
    parser.add_argument("--rows", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=15, help="3 are enough with --fast")
    parser.add_argument("--device", default="cpu", help="auto takes what is there")
    parser.add_argument("--dtype", choices=list(DTYPES), default="float32")
    parser.add_argument(
        "--attention", choices=["eager", "sdpa"], default="eager", help="of the hand-written loop"
    )
    fast.add_options(parser)


def run(chosen: argparse.Namespace) -> int:
    """Print the throughput of masked rows and of features, as a share of the loop's."""
    if chosen.fast:
        return fast.run(chosen)
    device = resolve_device(chosen.device)
    for family in chosen.families:
        if family == "base":
            stand_in_family(device, chosen.dtype)
        texts = rows_of(family, chosen.rows)
        state = PageState(family=family, device=device, dtype=chosen.dtype)
        models = [
            with_attention(load_model(spec, device, chosen.dtype), chosen.attention)
            for spec in family_specs(family)
        ]
        compared: dict[str, tuple[Callable[..., None], Loop]] = {
            "masked": (ask, at_masks),
            "features": (ask_features, means),
        }
        for kind, (ours, loop) in compared.items():
            lines = [row.text for row in texts.rows]
            here, there = partial(ours, texts, state), partial(by_hand, models, lines, loop)
            what = f"{family}, {kind}, {device} {chosen.dtype}, {chosen.attention} loop"
            report(what, rounds_of(here, there, chosen.rounds), len(texts.rows))
    return 0


def with_attention(model: LoadedModel, implementation: str) -> LoadedModel:
    """Return a copy of a loaded model that computes attention in another way."""
    if implementation == "eager":
        return model
    network = copy.deepcopy(model.network)
    network.set_attn_implementation(implementation)
    return replace(model, network=network, lock=Lock())


@dataclass(frozen=True, slots=True)
class Rounds:
    """Seconds of interleaved rounds, and the threads with which the loop is fastest."""

    here: np.ndarray
    loop: np.ndarray
    threads: int


def rounds_of(here: Callable[[], None], loop: Callable[[], None], count: int) -> Rounds:
    """Time both in turn, the loop with the number of threads at which it is fastest here.

    On cores that others use too, two threads that wait for each other may be slower than one: a
    loop held to torch's default would lose to anything.
    """
    usual = torch.get_num_threads()
    here()
    trials = {n: min(timed(loop, n) for _ in range(3)) for n in sorted({1, usual})}
    threads = min(trials, key=lambda n: trials[n])
    pairs = [(timed(here, usual), timed(loop, threads)) for _ in range(count)]
    torch.set_num_threads(usual)
    seconds = np.array(pairs)
    return Rounds(seconds[:, 0], seconds[:, 1], threads)


def timed(call: Callable[[], None], threads: int) -> float:
    """Return the seconds of one call with this many threads in the caller's thread."""
    torch.set_num_threads(threads)
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def report(what: str, rounds: Rounds, n_rows: int) -> None:
    """Print one measurement: the loop's time over ours is our share of its throughput."""
    here, loop = np.median(rounds.here), np.median(rounds.loop)
    sys.stdout.write(
        f"{what}, {n_rows} rows, three models: {n_rows / here:.1f} rows/s, loop "
        f"{n_rows / loop:.1f} rows/s with {rounds.threads} threads; throughput "
        f"{span(paired_ratio(rounds.loop, rounds.here))} ({len(rounds.here)} rounds; goal: at "
        f"least {GOAL})\n"
    )
    sys.stdout.flush()


def rows_of(family: str, count: int) -> TextList:
    """Return masked rows: bundled sentences, or made-up words for networks with random weights."""
    if family == "mini":
        bundled = [sentence["text"] for sentence in assets.sentences()]
        lines = bundled * -(-count // len(bundled))
    else:
        words = np.random.default_rng(1)
        lines = [made_up_text(n, words) for n in words.integers(*LENGTHS, count).tolist()]
    return text_list(read_table("\n".join(lines[:count])), "masked")


def ask(texts: TextList, state: PageState) -> None:
    """Run masked rows through all models as ``/texts`` does."""
    with in_this_thread():
        question = TextsQuestion(texts, state.ask)
        for _ in question.run(CancelToken()):
            pass
        question.result()


def ask_features(texts: TextList, state: PageState) -> None:
    """Compute the features of all layers of all models."""
    with in_this_thread():
        for _ in feature_parts(
            prepare_features(texts, state.ask, CancelToken()), "mean", CancelToken()
        ):
            pass


@torch.inference_mode()
def by_hand(models: list[LoadedModel], texts: list[str], loop: Loop) -> None:
    """Run texts, sorted by length, in batches of 16 through one model after the other."""
    for model in models:
        lines = list(texts)
        lines.sort(key=lambda line: len(model.tokenizer(line)["input_ids"]))
        for start in range(0, len(lines), BATCH):
            batch = model.tokenizer(lines[start : start + BATCH], padding=True, return_tensors="pt")
            loop(model, {name: value.to(model.device) for name, value in batch.items()})


def at_masks(model: LoadedModel, batch: dict[str, torch.Tensor]) -> Any:  # noqa: ANN401
    """Return the first word's probability at each mask, with the head at the masks alone."""
    hidden = model.network.base_model(**batch).last_hidden_state
    masks = batch["input_ids"] == model.tokenizer.mask_token_id
    logits = model.spec.kind.head(model.network, hidden[masks])
    return logits.softmax(-1).max(-1).values.cpu()


def means(model: LoadedModel, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    """Return the mean of every layer's states."""
    states = torch.stack(model.network.base_model(**batch, output_hidden_states=True).hidden_states)
    weights = batch["attention_mask"][None, ..., None]
    return ((states * weights).sum(2) / weights.sum(2)).cpu()
