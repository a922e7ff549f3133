"""The sentences of the fold that times every way to run a model."""

from collections.abc import Mapping
from math import floor

from explorer.analysis.latency.faster import Faster
from explorer.analysis.latency.variants import VariantLatency

TITLE = "Faster inference: what would help here?"
NOTE = (
    "Lower precisions, torch.compile, ONNX Runtime and OpenVINO: the speed-up, and what it does "
    "to the predictions.\n"
    "All are timed in the same rounds as float32; predictions are compared where the weights are "
    "real. The runtimes take up to a minute per model to build and run in processes of their own,"
    " with the same timing and as many threads; that may cost a small model a few percent. Stop "
    "ends them at once. int8 is torch's dynamic quantisation: one scale per row of a weight "
    "matrix, with the inputs of each product quantised to 8 bits too. int8 weights keeps only the"
    " weights in 8 bits and computes in float32: a quarter of the memory for them, nearly the "
    "same predictions. Memory is the resident memory of a process that does nothing but run the "
    "model this way; PyTorch is part of it, and what torch.compile needs to compile, but not in "
    "the rows of ONNX Runtime and OpenVINO, which serve an exported file."
)
HEAD = [
    "Model",
    "runtime",
    "ms",
    "× float32 time",
    "same top prediction",
    "mean KL",
    "memory",
]
BATCHES = (1, 8, 32)
MEASURE_BATCHES = "Measure with batches of 1, 8 and 32"
THROUGHPUT = "texts / s, batch {n}"
THROUGHPUT_NOTE = (
    "In brackets: the 90th percentile of a pass, where there were enough samples. "
    "torch.compile is specialised to one batch size and is left out here."
)
BUILDING = "Compiling {label} and exporting it to ONNX and OpenVINO …"
INSTALL = {"ONNX Runtime": "onnxruntime onnx onnxscript", "OpenVINO": "openvino"}
NO_RUNTIME = {
    "device": "{name} is measured on the CPU only.",
    "packages": "{name} is not installed here: pip install {packages}.",
    "memory": "{name} is left out for {models}: it would need more memory than is free.",
    "compiler": "{name} needs a C++ compiler, and none was found here.",
    "bfloat16": "{name} is left out: this CPU has no bfloat16 instructions, and emulated "
    "timings would not be representative.",
    "late": "{name} is left out for {models}: building took longer than four minutes.",
    "slow": "{name} is left out for {models}: no round finished in time.",
    "failed": "{name} is left out for {models}: it could not be built here.",
}
COSTS_NOTE = (
    "Predictions are compared at {n} masks, in texts of exactly the timed length made of whole "
    "bundled sentences, because what is compiled for one length runs at that length only."
)
FASTEST = "{label}: fastest with {name}, {times:.2f} × the time of float32{same}"
SAME = ", {share} of the top predictions unchanged"
ALL_SAME = "fastest with all of them unchanged: {name}, {times:.2f} ×"
NONE_SAME = "nothing clearly faster leaves all of them unchanged"
LEAST = "lowest memory with {name}, {size}"
NOT_FASTER = "{label}: nothing here is clearly faster than float32"


def faster_notes(found: Faster) -> list[str]:
    """What is being built, on how many masks answers were compared, and which rows are missing."""
    building = BUILDING.format(label=found.building.label) if found.building else ""
    masks = sorted({str(cost.n_masks) for cost in found.costs})
    costs = COSTS_NOTE.format(n=" or ".join(masks)) if masks else ""
    absent: dict[tuple[str, str], list[str]] = {}
    for row in found.missing:
        # Two rows, one package.
        is_package = row.reason == "packages"
        name = row.name.removesuffix(" bfloat16") if is_package else row.name
        absent.setdefault((name, row.reason), []).append(row.spec.label)
    reasons = [
        NO_RUNTIME[reason].format(
            name=name, models=" and ".join(labels), packages=INSTALL.get(name, "")
        )
        for (name, reason), labels in absent.items()
    ]
    return [building, costs, THROUGHPUT_NOTE if found.models else "", *reasons]


def megabytes(n_bytes: int | None) -> str:
    """Memory in MB; a dash where it is not known."""
    return "–" if n_bytes is None else f"{n_bytes / 1e6:,.0f} MB"


def throughput(found: tuple[float, float | None] | None) -> str:
    """Texts per second, and the 90th percentile of a pass where it is known."""
    if found is None:
        return "–"
    per_second, p90_ms = found
    return f"{per_second:,.1f}" + (f" ({p90_ms:,.2f} ms)" if p90_ms else "")


def ranked(variants: VariantLatency, found: Faster) -> str:
    """Of one model what is fastest, what is if no prediction may change, and what holds least.

    Faster is what differs from float32 by more than float32 from itself; nothing where other
    programs disturbed most rounds.
    """
    summary, label = variants.summary, variants.spec.label
    if not summary.ratios:
        return ""
    times = {
        one.over: one.ratio.inverse.ratio
        for one in summary.ratios
        if one.is_different and one.ratio.ratio > 1
    }
    same = {one.name: one.same_top1 for one in found.costs if one.key == variants.spec.key}
    parts = _fastest(label, times, same)
    held = {name: size for name, size in variants.resident.items() if size}
    if len(held) > 1:
        least = megabytes(min(held.values()))
        names = [name for name, size in held.items() if megabytes(size) == least]
        parts.append(LEAST.format(name=" and ".join(names), size=least))
    return f"{'; '.join(parts)}."


def _share(share: float) -> str:
    """Print a share in whole percent, never rounded up: only all of them are all."""
    return "all" if share == 1 else f"{floor(100 * share)}%"


def _fastest(label: str, times: Mapping[str, float], same: Mapping[str, float]) -> list[str]:
    if not times:
        return [NOT_FASTER.format(label=label)]
    ordered = sorted(times, key=lambda name: times[name])
    first = ordered[0]
    share = SAME.format(share=_share(same[first])) if first in same else ""
    parts = [FASTEST.format(label=label, name=first, times=times[first], same=share)]
    if same and same.get(first) != 1:
        kept = [name for name in ordered if same.get(name) == 1]
        parts.append(ALL_SAME.format(name=kept[0], times=times[kept[0]]) if kept else NONE_SAME)
    return parts
