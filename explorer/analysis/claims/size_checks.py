"""Live checks of sizes and cost: parameters, operations, memory, times."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import inf, isfinite

import torch
from torch import nn

from explorer.analysis.claims.outcomes import (
    CLAIMED,
    FULL,
    RANDOM,
    SHAPES,
    CheckOutcome,
    Quantity,
    all_hold,
    lies_in,
    listed,
    parameters,
    percent,
    times,
)
from explorer.analysis.digits import counted
from explorer.analysis.latency.family import instruments_for
from explorer.analysis.latency.measure import Latency, RoundsPlan, TimedCall, latency_rounds
from explorer.analysis.latency.ratio import Ratio, paired_ratio
from explorer.analysis.layer import layer_flops, lstm_flops
from explorer.analysis.parameters.count import (
    ParameterCounts,
    embedding_spectrum,
    network_parameters,
)
from explorer.analysis.parameters.shape import shape_flops
from explorer.analysis.parameters.shapes import forward_memory
from explorer.models.architectures import SHARING_MODES, CheckModels
from explorer.models.choice.family import layer_counts, shape_total
from explorer.models.loading import Network
from explorer.models.specs import BASE, ModelSpec
from explorer.refusal import Refusal, Sentence
from explorer.timing.protocol import forward_call, one_layer_calls
from explorer.timing.workload import Workload

LENGTH = 128
TIMED_LENGTH = 32
PLAN = RoundsPlan(budget_s=12.0, min_rounds=8, max_rounds=24, target=0.05, max_warm_rounds=2)
TIMES = {"distilbert": (0.4, 0.65), "albert": (0.65, 1.6)}
"""Range of each model's time relative to BERT's that the sources imply for any ordinary CPU."""
EQUAL_STEPS = 0.95
"""Least ratio to BERT's steps per second that counts as not slower."""
STEP_TOKENS = (2, 64)
"""Sequences and tokens of one training step."""


def forward_operations(models: CheckModels) -> CheckOutcome:
    """Check LC04: operations of one forward pass, matrix product by matrix product."""
    gflops = {key: operations(models.shape(BASE[key]), BASE[key]) / 1e9 for key in CLAIMED}
    ratios = {key: gflops[key] / gflops["bert"] for key in ("distilbert", "albert")}
    return CheckOutcome(
        f"{listed({key: f'{x:.2f}' for key, x in gflops.items()})} GFLOPs at {LENGTH} tokens",
        abs(ratios["albert"] - 1) < 0.02 and abs(ratios["distilbert"] - 0.5) < 0.02,
        SHAPES,
        {key: Quantity(x, f"{x:.2f} GFLOPs") for key, x in gflops.items()}
        | {f"{k}_over_bert": times(x, "BERT's operations") for k, x in ratios.items()},
    )


def operations(network: Network, spec: ModelSpec) -> int:
    """Count the floating-point operations of one encoder pass over the check's length.

    Computed from the shape, because torch's counter hooks every module of the process, also those
    that other threads are running.
    """
    config = network.config
    shape = replace(
        spec.architecture, n_layers=config.num_hidden_layers, d_model=config.hidden_size
    )
    return shape_flops(shape, LENGTH)


def memory_split(models: CheckModels) -> CheckOutcome:
    """Check LC06: bytes of the weights, and peak bytes of the activations."""
    memory = {key: forward_memory(models.shape(BASE[key]).base_model, LENGTH) for key in CLAIMED}
    weights = {key: m.weight_bytes / memory["bert"].weight_bytes for key, m in memory.items()}
    activations = {key: m.peak_bytes / memory["bert"].peak_bytes for key, m in memory.items()}
    texts = {
        key: f"{m.weight_bytes / 1e6:.0f} + {m.peak_bytes / 1e6:.1f} MB"
        for key, m in memory.items()
    }
    return CheckOutcome(
        f"weights + activations at {LENGTH} tokens: {listed(texts)}",
        weights["albert"] < 0.2 and activations["albert"] > 0.9,
        SHAPES,
        {f"weights_{k}": times(x, "BERT's weights") for k, x in weights.items()}
        | {f"activations_{k}": times(x, "BERT's activations") for k, x in activations.items()},
    )


def forward_times(models: CheckModels) -> CheckOutcome:
    """Check LC03: time of one forward pass of each base shape, interleaved, on one thread."""
    workload = Workload(length=TIMED_LENGTH)
    networks = {key: models.random(BASE[key]) for key in CLAIMED}
    calls = {key: forward_call(BASE[key], networks[key], workload) for key in CLAIMED}
    latency = _timed(calls, workload, models.presses)
    distilbert, albert = _ratio(latency, "distilbert", "bert"), _ratio(latency, "albert", "bert")
    albert_distilbert = _ratio(latency, "albert", "distilbert")
    return CheckOutcome(
        f"at {TIMED_LENGTH} tokens DistilBERT takes {_format_ratio(distilbert)} BERT's time "
        f"and ALBERT {_format_ratio(albert)}; {counted(latency.n_rounds, 'round')}",
        all_hold(
            lies_in((ratio.low, ratio.high), *TIMES[key])
            for key, ratio in (("distilbert", distilbert), ("albert", albert))
        ),
        RANDOM,
        {
            "bert_over_distilbert": _ratio_quantity(
                distilbert.inverse,
                f"as fast as BERT, {distilbert.ratio:.2f} × its time",
            ),
            "albert_over_bert": _ratio_quantity(albert, "BERT's time"),
            "albert_over_distilbert": _ratio_quantity(albert_distilbert, "DistilBERT's time"),
        },
    )


def _timed(calls: dict[str, Callable[[], object]], workload: Workload, presses: int) -> Latency:
    """Time the calls by the latency protocol, ``presses`` times as long as usual.

    Raises:
        Refusal: no round was complete in time.
    """
    candidates = [TimedCall(name, call) for name, call in calls.items()]
    plan, final = longer(PLAN, presses), None
    with instruments_for(workload) as (instruments, _threads):
        for latency in latency_rounds(candidates, instruments, plan):
            final = latency
    if final is None or not final.n_rounds:
        raise Refusal(
            Sentence("nothing-measured-in-time", "Time ran out before anything was measured.")
        )
    return final


def longer(plan: RoundsPlan, times: int) -> RoundsPlan:
    """Return a plan with ``times`` as many rounds, and a target interval as much narrower."""
    return replace(
        plan,
        budget_s=plan.budget_s * times,
        min_rounds=plan.min_rounds * times,
        max_rounds=plan.max_rounds * times,
        target=plan.target / times,
    )


def _ratio(latency: Latency, numerator: str, denominator: str) -> Ratio:
    index = latency.names.index
    return paired_ratio(
        latency.seconds[:, index(numerator)], latency.seconds[:, index(denominator)], latency.blocks
    )


def _format_ratio(ratio: Ratio) -> str:
    if not isfinite(ratio.high):
        return f"{ratio.ratio:.2f} × (too few rounds for an interval)"
    return f"{ratio.ratio:.2f} × ({ratio.low:.2f} to {ratio.high:.2f})"


def _ratio_quantity(ratio: Ratio, unit: str) -> Quantity:
    return Quantity(ratio.ratio, f"{_format_ratio(ratio)} {unit}", ratio.low, ratio.high)


def training_steps(models: CheckModels) -> CheckOutcome:
    """Check LC27: training steps per second of ALBERT and BERT, at equal and at twice the width.

    Small shapes with the same activation function, so that only sharing and factorising differ.
    """
    specs = {
        "bert": _small("bert", 256),
        "albert": _small("albert", 256),
        "wide": _small("albert", 512),
    }
    steps = {name: training_step(models.random(spec)) for name, spec in specs.items()}
    workload = Workload(length=STEP_TOKENS[1], batch=STEP_TOKENS[0])
    latency = _timed(steps, workload, models.presses)
    same, wide = _ratio(latency, "bert", "albert"), _ratio(latency, "bert", "wide")
    return CheckOutcome(
        f"ALBERT makes {_format_ratio(same)} BERT's steps per second at equal shape, "
        f"{_format_ratio(wide)} at twice the width; {counted(latency.n_rounds, 'round')}",
        all_hold(
            (
                lies_in((same.low, same.high), EQUAL_STEPS, inf),
                lies_in((wide.low, wide.high), 0, 1),
            )
        ),
        "6 layers of 256 or 512, random weights",
        {
            "albert_over_bert": _ratio_quantity(same, "BERT's steps per second"),
            "wide_albert_over_bert": _ratio_quantity(wide, "BERT's steps when twice as wide"),
        },
    )


def reading_in_order(models: CheckModels) -> CheckOutcome:
    """Check LC35: time of an LSTM of BERT-base's width over that of one encoder layer.

    The LSTM reads ``LENGTH`` tokens one after another, the layer all at once. Per operation its
    time is the ratio of the times over the ratio of the operations.
    """
    spec, workload = BASE["bert"], Workload(length=LENGTH)
    of_length = dict(zip(("layer", "lstm"), one_layer_calls(spec, LENGTH), strict=True))
    calls = {name: call(LENGTH) for name, call in of_length.items()}
    latency = _timed(calls, workload, models.presses)
    work = lstm_flops(spec.architecture.d_model, LENGTH) / layer_flops(spec, LENGTH)
    lstm = _ratio(latency, "lstm", "layer")
    each = replace(lstm, ratio=lstm.ratio / work, low=lstm.low / work, high=lstm.high / work)
    return CheckOutcome(
        f"at {LENGTH} tokens an LSTM takes {_format_ratio(lstm)} the time of an encoder layer of "
        f"its width, with {work:.2f} × its operations; {counted(latency.n_rounds, 'round')}",
        lies_in((lstm.low, lstm.high), 1, inf),
        "width 768, random weights",
        {
            "lstm_over_layer": _ratio_quantity(lstm, "the time of an encoder layer"),
            "per_operation": _ratio_quantity(each, "an encoder layer's time per operation"),
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
    """Return a callable that does one step: forward, backward and AdamW update of the encoder."""
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


DEPTHS = (1, 3, 6, 12, 24, 48)
MB, MIB = 10**6, 2**20


def encoder_size(network: Network) -> int:
    """Count the parameters stored by encoder and pooler, shared tensors once."""
    return sum(parameter.numel() for parameter in network.base_model.parameters())


def parameter_totals(models: CheckModels) -> CheckOutcome:
    """Check LC01: parameters of the seven architectures, against formulas of their shapes."""
    totals = {name: encoder_size(models.shape(spec)) for name, spec in FULL.items()}
    cuts = {
        "distilbert_cut": 100 * (1 - totals["distilbert"] / totals["bert"]),
        "albert_cut": 100 * (1 - totals["albert"] / totals["bert"]),
        "albert_large_cut": 100 * (1 - totals["albert_large"] / totals["bert_large"]),
    }
    counted = {key: f"{totals[key]:,}" for key in CLAIMED}
    return CheckOutcome(
        f"{listed(counted)} parameters; BERT-large {totals['bert_large']:,}, "
        f"ALBERT-xxlarge {totals['albert_xxlarge']:,}",
        all(totals[name] == shape_total(spec.architecture) for name, spec in FULL.items()),
        SHAPES,
        {name: parameters(n) for name, n in totals.items()}
        | {name: percent(x, " fewer parameters") for name, x in cuts.items()},
    )


def saving_breakdown(models: CheckModels) -> CheckOutcome:
    """Check LC02: shares of the six layers and of the rest in DistilBERT's saving."""
    counts = {key: network_parameters(key, models.shape(BASE[key])) for key in CLAIMED}
    saved = counts["bert"].total - counts["distilbert"].total
    layers = _in_layers(counts["bert"]) - _in_layers(counts["distilbert"])
    blocks = {key: len({t.layer for t in c.encoder} - {None}) for key, c in counts.items()}
    share = 100 * layers / saved
    return CheckOutcome(
        f"{layers:,} of the {saved:,} parameters saved ({share:.1f}%) are layers, "
        f"{saved - layers:,} pooler and segment embeddings; different blocks: {listed(blocks)}",
        share > 95 and blocks["albert"] == 1,
        SHAPES,
        {
            "layers_share": percent(share, " of the saving is layers"),
            "outside_layers": parameters(saved - layers),
        },
    )


def _in_layers(counts: ParameterCounts) -> int:
    return sum(tensor.size for tensor in counts.encoder if tensor.layer is not None)


def weight_bytes(models: CheckModels) -> CheckOutcome:
    """Check LC05: bytes of the float32 weights of encoder and pooler, in MB and in MiB."""
    sizes = {
        key: sum(
            p.numel() * p.element_size() for p in models.shape(BASE[key]).base_model.parameters()
        )
        for key in CLAIMED
    }
    printed = {key: f"{n / MB:.1f} MB ({n / MIB:.1f} MiB)" for key, n in sizes.items()}
    return CheckOutcome(
        listed(printed),
        all(n == 4 * shape_total(BASE[key].architecture) for key, n in sizes.items()),
        SHAPES,
        {f"{key}_mb": Quantity(n / MB, printed[key]) for key, n in sizes.items()}
        | {"albert_over_bert": times(sizes["albert"] / sizes["bert"], "BERT's bytes")},
    )


def depth_growth(models: CheckModels) -> CheckOutcome:
    """Check LC08: parameters of one more layer, at six depths."""
    totals = {
        key: [encoder_size(models.shape(_of_depth(key, depth))) for depth in DEPTHS]
        for key in ("bert", "albert")
    }
    per_layer = {
        key: (sums[-1] - sums[0]) / (DEPTHS[-1] - DEPTHS[0]) for key, sums in totals.items()
    }
    expected = sum(layer_counts(BASE["bert"].architecture).values())
    steady = totals["bert"] == [totals["bert"][0] + expected * (d - DEPTHS[0]) for d in DEPTHS]
    return CheckOutcome(
        f"one more layer costs ALBERT {per_layer['albert']:,.0f} parameters and BERT "
        f"{per_layer['bert']:,.0f}, from {DEPTHS[0]} to {DEPTHS[-1]} layers",
        steady and len(set(totals["albert"])) == 1,
        SHAPES,
        {f"{key}_growth": Quantity(n, f"{n:,.0f} more per layer") for key, n in per_layer.items()},
    )


def _of_depth(key: str, depth: int) -> ModelSpec:
    spec = BASE[key]
    return replace(spec, architecture=replace(spec.architecture, n_layers=depth))


def factorised_embedding(models: CheckModels) -> CheckOutcome:
    """Check LC09: V E + E H of the network's own two matrices, against one matrix V H."""
    word, projection = _embedding(models.shape(BASE["albert"]))
    factorised = word.numel() + projection.numel()
    one_matrix = word.shape[0] * projection.shape[0]
    share = 100 * factorised / one_matrix
    return CheckOutcome(
        f"{word.shape[0]:,} × {word.shape[1]} + {word.shape[1]} × {projection.shape[0]} = "
        f"{factorised:,}, {share:.1f}% of {one_matrix:,}",
        factorised == 30_000 * 128 + 128 * 768 and one_matrix == 30_000 * 768,
        SHAPES,
        {
            "factorised": parameters(factorised),
            "one_matrix": parameters(one_matrix),
            "share": percent(share, " of one matrix"),
        },
    )


def _embedding(network: Network) -> tuple[torch.Tensor, torch.Tensor]:
    """Return word embedding [vocabulary, E] and projection [H, E] of an ALBERT."""
    encoder = network.base_model
    return (
        encoder.embeddings.word_embeddings.weight,
        encoder.encoder.embedding_hidden_mapping_in.weight,
    )


_SHARED = {"none": "nothing", "ffn": "the FFN", "all": "everything"}


def sharing_modes(models: CheckModels) -> CheckOutcome:
    """Check LC10: parameters of ALBERT-base with nothing, attention, FFN or all shared."""
    spec = BASE["albert"]
    totals = {mode: encoder_size(models.sharing(spec, mode)) for mode in SHARING_MODES}
    ratio = totals["all"] / totals["none"]
    return CheckOutcome(
        "parameters if the layers share "
        + ", ".join(f"{_SHARED.get(mode, mode)}: {n / 1e6:.2f}M" for mode, n in totals.items()),
        all(n == shape_total(spec.architecture, mode) for mode, n in totals.items()),
        SHAPES,
        {mode: parameters(n) for mode, n in totals.items()}
        | {"all_over_none": times(ratio, "the unshared size")},
    )


def embedding_rank(models: CheckModels) -> CheckOutcome:
    """Check LC11: rank of the product [vocabulary, H] of ALBERT's two embedding matrices."""
    spectrum = embedding_spectrum(models.random(BASE["albert"]))
    bottleneck = BASE["albert"].architecture.d_embedding
    return CheckOutcome(
        f"{spectrum.rank} of {spectrum.d_model} singular values are not zero; E is {bottleneck}",
        spectrum.rank == bottleneck,
        RANDOM,
        {"rank": Quantity(spectrum.rank, f"rank {spectrum.rank} of {spectrum.d_model}")},
    )


def printed_shapes(models: CheckModels) -> CheckOutcome:
    """Check LC31: layers, width, heads, embedding size and vocabulary in one forward pass."""
    shapes = {name: _shape_seen(models.shape(spec)) for name, spec in FULL.items()}
    expected = {
        name: (a.n_layers, a.d_model, a.n_heads, a.d_embedding, a.d_vocab)
        for name, a in ((name, spec.architecture) for name, spec in FULL.items())
    }
    texts = {key: " / ".join(str(x) for x in list(shapes[key].values())[:4]) for key in CLAIMED}
    return CheckOutcome(
        f"layers / width / heads / E: {listed(texts)}",
        all(tuple(shape.values()) == expected[name] for name, shape in shapes.items()),
        SHAPES,
        {
            f"{name}.{part}": Quantity(n, f"{n:,} {_UNITS[part]}")
            for name, shape in shapes.items()
            for part, n in shape.items()
        },
    )


_UNITS = {
    "layers": "layers",
    "width": "units wide",
    "heads": "heads",
    "embedding": "units per embedding",
    "vocabulary": "word pieces",
}


@torch.inference_mode()
def _shape_seen(network: Network) -> Mapping[str, int]:
    ids = torch.zeros(1, 2, dtype=torch.long, device="meta")
    out = network.base_model(input_ids=ids, output_attentions=True, output_hidden_states=True)
    words = network.base_model.embeddings.word_embeddings.weight
    return {
        "layers": len(out.attentions),
        "width": out.last_hidden_state.shape[-1],
        "heads": out.attentions[0].shape[1],
        "embedding": words.shape[1],
        "vocabulary": words.shape[0],
    }


def classifier_head(models: CheckModels) -> CheckOutcome:
    """Check LC33: parameters that a two-class head adds to BERT-base, 2 H + 2."""
    network = models.shape(BASE["bert"])
    width = network.base_model.pooler.dense.out_features
    head = sum(p.numel() for p in nn.Linear(width, 2, device="meta").parameters())
    share = 100 * head / encoder_size(network)
    return CheckOutcome(
        f"{head:,} parameters on {encoder_size(network):,} ({share:.4f}%)",
        head == 2 * BASE["bert"].architecture.d_model + 2,
        SHAPES,
        {"head": parameters(head)},
    )
