"""Size and cost of a custom architecture, compared with the seven published ones."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from explorer.analysis.digits import gflop, in_unit, memory, percent, quotient, weights
from explorer.analysis.records import NO_RUN, Records
from explorer.views.markup import Markup, el, finding, model_name, refusal_message, table

if TYPE_CHECKING:
    from explorer.analysis.parameters.shapes import BuiltModel, Size


def built_html(
    built: "BuiltModel", sizes: "Sequence[Size]", texts: Mapping[str, str], parts: Mapping[str, str]
) -> Markup:
    """Build the table of components, and a bar chart with the seven published models."""
    return el("div", _facts(built, texts, parts), _size_bars(built, sizes, texts), class_="pt-pair")


def built_records(built: "BuiltModel", sizes: "Sequence[Size]") -> Records:
    """Return a row per component, then totals and costs; the published sizes are in the header."""
    total = built.total
    parts: list[list[object]] = [[name, n, n / total] for name, n in built.components.items() if n]
    totals = {
        "total": total,
        "fp32_bytes": 4 * total,
        "fp16_bytes": 2 * total,
        "int8_bytes": total,
        "applied": built.applied,
        "flops": built.flops,
        "activation_bytes_fp32": built.peak_bytes,
    }
    shape = asdict(built.shape) | {"sharing": built.sharing}
    published = {size.spec.name: size.total for size in sizes}
    header = {**NO_RUN, "shape": shape, "length": built.length, "batch": built.batch}
    header |= {"weights_of_the_published": published, "state": _name_parts(shape)}
    work = {"LENGTH": built.length, "BATCH": built.batch}
    constants = {"SHAPE": shape, "CONFIG": built.reduced_spec.config, **work}
    rows = parts + [[name, n, None] for name, n in totals.items()]
    return Records(("part", "count", "share"), rows, header, constants)


def _name_parts(shape: Mapping[str, object]) -> dict[str, object]:
    """Return the parts of a shape that go into the file name."""
    names = {"L": "n_layers", "H": "d_model", "E": "d_embedding", "sharing": "sharing"}
    return {short: shape[name] for short, name in names.items()}


def refused_html(sentence: str) -> Markup:
    """Build the message that refuses a shape."""
    return refusal_message(sentence, "pt-refused")


def built_finding(built: "BuiltModel", sizes: "Sequence[Size]", texts: Mapping[str, str]) -> Markup:
    """Build the sentence with the size and the ratio to the published model nearest in size."""
    nearest = min(sizes, key=lambda size: abs(size.total - built.total))
    ratio = built.total / nearest.total
    return finding(
        texts["sentence"].format(
            total=f"{built.total:,}",
            applied=f"{built.applied:,}",
            ratio=quotient(ratio),
            nearest=nearest.spec.name,
        )
    )


def _facts(built: "BuiltModel", texts: Mapping[str, str], parts: Mapping[str, str]) -> Markup:
    total = built.total
    rows: list[list[str | Markup]] = [
        [parts[name], f"{count:,}", percent(count / total)]
        for name, count in built.components.items()
        if count
    ]
    rows += [
        [el("strong", texts["stored"]), el("strong", f"{total:,}"), ""],
        [texts["applied"], f"{built.applied:,}", ""],
        *(
            [
                texts["bytes"].format(name=name),
                memory(total * size),
                in_unit(total * size / 2**20, "MiB"),
            ]
            for name, size in (("fp32", 4), ("fp16", 2), ("int8", 1))
        ),
        [
            texts["work"].format(length=built.length, batch=built.batch),
            gflop(built.flops / 1e9),
            "",
        ],
        [
            texts["activations"],
            memory(built.peak_bytes),
            in_unit(built.peak_bytes / 2**20, "MiB"),
        ],
    ]
    return table([texts["part"], texts["count"], texts["share"]], rows, texts["caption"])


def _size_bars(built: "BuiltModel", sizes: "Sequence[Size]", texts: Mapping[str, str]) -> Markup:
    totals = [(size.spec.key, size.spec.name, size.total) for size in sizes]
    totals = sorted([*totals, ("", texts["yours"], built.total)], key=lambda row: row[2])
    scale = totals[-1][2]
    rows = [
        el(
            "li",
            el("span", model_name(key, name) if key else el("strong", name), class_="what"),
            el(
                "span",
                el("i", class_="kept", style=f"left:0;width:{100 * total / scale:.3f}%"),
                class_="track",
            ),
            el("span", weights(total), class_="n"),
            data_model=key or None,
            class_="" if key else "yours",
        )
        for key, name, total in totals
    ]
    return el("ol", *rows, class_="pt-fall", aria_label=texts["among"])
