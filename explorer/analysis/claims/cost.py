"""Live checks of cost: arithmetic, time, memory, and training steps."""

from collections.abc import Callable
from dataclasses import replace
from math import inf, isfinite

import torch

from explorer.analysis.claims.measured import (
    CLAIMED,
    RANDOM,
    SHAPES,
    CheckOutcome,
    Quantity,
    all_hold,
    lies_in,
    listed,
    times,
)
from explorer.analysis.latency.family import instruments_for
from explorer.analysis.latency.measure import Latency, RoundsPlan, TimedCall, latency_rounds
from explorer.analysis.latency.ratio import Ratio, paired_ratio
from explorer.analysis.parameters.memory import ForwardMemory, forward_memory
from explorer.analysis.parameters.shape import shape_flops
from explorer.models.check_models import CheckModels
from explorer.models.loading import Network
from explorer.models.specs import BASE, ModelSpec
from explorer.refusal import Refusal
from explorer.timing.protocol import forward_call
from explorer.timing.workload import Workload

LENGTH = 128
TIMED_LENGTH = 32
PLAN = RoundsPlan(budget_s=12.0, min_rounds=8, max_rounds=24, target=0.05, max_warm_rounds=2)
TIMES = {"distilbert": (0.4, 0.65), "albert": (0.65, 1.6)}
"""Share of BERT's time that the sources lead one to expect, on any ordinary processor."""
EQUAL_STEPS = 0.95
"""At least so many of BERT's steps count as no fewer."""
STEP_TOKENS = (2, 64)
"""Sequences and tokens of one training step."""


def forward_operations(specimens: CheckModels) -> CheckOutcome:
    """LC04: operations of one forward pass, matrix product by matrix product."""
    gflops = {key: operations(specimens.shape(BASE[key]), BASE[key]) / 1e9 for key in CLAIMED}
    ratios = {key: gflops[key] / gflops["bert"] for key in ("distilbert", "albert")}
    return CheckOutcome(
        f"{listed({key: f'{x:.2f}' for key, x in gflops.items()})} GFLOPs at {LENGTH} tokens",
        abs(ratios["albert"] - 1) < 0.02 and abs(ratios["distilbert"] - 0.5) < 0.02,
        SHAPES,
        {key: Quantity(x, f"{x:.2f} GFLOPs") for key, x in gflops.items()}
        | {f"{k}_over_bert": times(x, "BERT's operations") for k, x in ratios.items()},
    )


def operations(network: Network, spec: ModelSpec) -> int:
    """Floating-point operations of one encoder pass over the check's length, from its shape.

    Torch's own counter hooks every module of the process, others' under way among them.
    """
    has = network.config
    shape = replace(spec.architecture, n_layers=has.num_hidden_layers, d_model=has.hidden_size)
    return shape_flops(shape, LENGTH)


def memory_split(specimens: CheckModels) -> CheckOutcome:
    """LC06: bytes of the weights beside the most bytes of activations alive at once."""
    held = {key: forward_memory(specimens.shape(BASE[key]).base_model, LENGTH) for key in CLAIMED}
    weights = {key: m.weight_bytes / held["bert"].weight_bytes for key, m in held.items()}
    active = {key: m.peak_bytes / held["bert"].peak_bytes for key, m in held.items()}
    said = {key: _mb(m) for key, m in held.items()}
    return CheckOutcome(
        f"weights + activations at {LENGTH} tokens: {listed(said)}",
        weights["albert"] < 0.2 and active["albert"] > 0.9,
        SHAPES,
        {f"weights_{k}": times(x, "BERT's weights") for k, x in weights.items()}
        | {f"activations_{k}": times(x, "BERT's activations") for k, x in active.items()},
    )


def _mb(memory: ForwardMemory) -> str:
    return f"{memory.weight_bytes / 1e6:.0f} + {memory.peak_bytes / 1e6:.1f} MB"


def forward_times(specimens: CheckModels) -> CheckOutcome:
    """LC03: time of one forward pass of each base shape, the three taking turns, one thread."""
    workload = Workload(length=TIMED_LENGTH)
    networks = {key: specimens.random(BASE[key]) for key in CLAIMED}
    calls = {key: forward_call(BASE[key], networks[key], workload) for key in CLAIMED}
    latency = _timed(calls, workload, specimens.presses)
    distilbert, albert = _ratio(latency, "distilbert", "bert"), _ratio(latency, "albert", "bert")
    between = _ratio(latency, "albert", "distilbert")
    return CheckOutcome(
        f"at {TIMED_LENGTH} tokens DistilBERT takes {_said(distilbert)} BERT's time and ALBERT "
        f"{_said(albert)}; {latency.n_rounds} rounds",
        all_hold(
            lies_in((ratio.low, ratio.high), *TIMES[key])
            for key, ratio in (("distilbert", distilbert), ("albert", albert))
        ),
        RANDOM,
        {
            "bert_over_distilbert": _of(
                distilbert.inverse,
                f"as fast as BERT, {distilbert.ratio:.2f} × its time",
            ),
            "albert_over_bert": _of(albert, "BERT's time"),
            "albert_over_distilbert": _of(between, "DistilBERT's time"),
        },
    )


def _timed(calls: dict[str, Callable[[], object]], workload: Workload, presses: int) -> Latency:
    """The calls timed in turn by the latency protocol, so many times as long as usual.

    Raises:
        Refusal: not one round was complete.
    """
    candidates = [TimedCall(name, call) for name, call in calls.items()]
    plan, final = longer(PLAN, presses), None
    with instruments_for(workload) as (instruments, _threads):
        for latency in latency_rounds(candidates, instruments, plan):
            final = latency
    if final is None or not final.n_rounds:
        raise Refusal("Time ran out before anything was measured.")
    return final


def longer(plan: RoundsPlan, times: int) -> RoundsPlan:
    """A plan with so many times the rounds, and an interval so much narrower to end at."""
    return replace(
        plan,
        budget_s=plan.budget_s * times,
        min_rounds=plan.min_rounds * times,
        max_rounds=plan.max_rounds * times,
        target=plan.target / times,
    )


def _ratio(latency: Latency, of: str, over: str) -> Ratio:
    at = latency.names.index
    return paired_ratio(latency.seconds[:, at(of)], latency.seconds[:, at(over)], latency.blocks)


def _said(ratio: Ratio) -> str:
    if not isfinite(ratio.high):
        return f"{ratio.ratio:.2f} × (too few rounds for an interval)"
    return f"{ratio.ratio:.2f} × ({ratio.low:.2f} to {ratio.high:.2f})"


def _of(ratio: Ratio, of: str) -> Quantity:
    return Quantity(ratio.ratio, f"{_said(ratio)} {of}", ratio.low, ratio.high)


def training_steps(specimens: CheckModels) -> CheckOutcome:
    """LC27: training steps per second of ALBERT against BERT, at one shape and at twice the width.

    Small shapes with one activation function, so that only sharing and factorising differ.
    """
    specs = {
        "bert": _small("bert", 256),
        "albert": _small("albert", 256),
        "wide": _small("albert", 512),
    }
    steps = {name: training_step(specimens.random(spec)) for name, spec in specs.items()}
    workload = Workload(length=STEP_TOKENS[1], batch=STEP_TOKENS[0])
    latency = _timed(steps, workload, specimens.presses)
    same, wide = _ratio(latency, "bert", "albert"), _ratio(latency, "bert", "wide")
    return CheckOutcome(
        f"ALBERT makes {_said(same)} BERT's steps per second at equal shape, {_said(wide)} at "
        f"twice the width; {latency.n_rounds} rounds",
        all_hold(
            (
                lies_in((same.low, same.high), EQUAL_STEPS, inf),
                lies_in((wide.low, wide.high), 0, 1),
            )
        ),
        "6 layers of 256 or 512, random weights",
        {
            "albert_over_bert": _of(same, "BERT's steps per second"),
            "wide_albert_over_bert": _of(wide, "BERT's steps when twice as wide"),
        },
    )


def _small(key: str, width: int) -> ModelSpec:
    shape = replace(
        BASE[key].architecture,
        n_layers=6,
        d_model=width,
        n_heads=4,
        d_ffn=4 * width,
        d_vocab=8_000,
        d_embedding=width if key == "bert" else 128,
        activation="gelu",
    )
    return replace(BASE[key], name=f"{key}-{width}", architecture=shape)


def training_step(network: Network) -> Callable[[], object]:
    """One step as a call: forward, backward and an AdamW update of the encoder."""
    # No dropout: the two configs set different rates, and only sharing is to differ.
    encoder = network.base_model.requires_grad_(True).eval()
    optimiser = torch.optim.AdamW(encoder.parameters(), lr=1e-5)
    ids = torch.randint(1_000, 8_000, STEP_TOKENS, generator=torch.Generator().manual_seed(0))

    def step() -> None:
        with torch.enable_grad():
            out = encoder(input_ids=ids)
            out.last_hidden_state.square().mean().backward()
        optimiser.step()
        optimiser.zero_grad()

    return step
