"""Live checks that count: parameters, bytes, depth, factorising, sharing. No weights needed."""

from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import nn

from explorer.analysis.claims.measured import (
    CLAIMED,
    FULL,
    RANDOM,
    SHAPES,
    CheckOutcome,
    Quantity,
    listed,
    parameters,
    percent,
    times,
)
from explorer.analysis.parameters.count import ParameterCounts, network_parameters
from explorer.analysis.parameters.embedding import embedding_spectrum
from explorer.models.architectures import SHARING_MODES
from explorer.models.check_models import CheckModels
from explorer.models.choice.counts import layer_counts, shape_total
from explorer.models.loading import Network
from explorer.models.specs import BASE, ModelSpec

DEPTHS = (1, 3, 6, 12, 24, 48)
MB, MIB = 10**6, 2**20


def encoder_size(network: Network) -> int:
    """Numbers stored by encoder and pooler, shared tensors counted once."""
    return sum(parameter.numel() for parameter in network.base_model.parameters())


def parameter_totals(specimens: CheckModels) -> CheckOutcome:
    """LC01: parameters of the seven architectures, against the arithmetic of their shapes."""
    totals = {name: encoder_size(specimens.shape(spec)) for name, spec in FULL.items()}
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


def saving_breakdown(specimens: CheckModels) -> CheckOutcome:
    """LC02: what part of DistilBERT's saving is the six layers, and what the rest is."""
    counts = {key: _counts(specimens, key) for key in CLAIMED}
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


def _counts(specimens: CheckModels, key: str) -> ParameterCounts:
    return network_parameters(key, specimens.shape(BASE[key]))


def _in_layers(counts: ParameterCounts) -> int:
    return sum(tensor.size for tensor in counts.encoder if tensor.layer is not None)


def weight_bytes(specimens: CheckModels) -> CheckOutcome:
    """LC05: bytes of the float32 weights of encoder and pooler, in MB and in MiB."""
    sizes = {
        key: sum(
            p.numel() * p.element_size() for p in specimens.shape(BASE[key]).base_model.parameters()
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


def depth_growth(specimens: CheckModels) -> CheckOutcome:
    """LC08: what one more layer costs, at six depths."""
    totals = {
        key: [encoder_size(specimens.shape(_of_depth(key, depth))) for depth in DEPTHS]
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


def factorised_embedding(specimens: CheckModels) -> CheckOutcome:
    """LC09: V E + E H of the network's own two matrices, against one matrix V H."""
    word, projection = _embedding(specimens.shape(BASE["albert"]))
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
    """Word embeddings [vocabulary, E] and projection [H, E] of an ALBERT."""
    encoder = network.base_model
    return (
        encoder.embeddings.word_embeddings.weight,
        encoder.encoder.embedding_hidden_mapping_in.weight,
    )


def sharing_modes(specimens: CheckModels) -> CheckOutcome:
    """LC10: parameters of ALBERT-base with nothing, attention, FFN or all of a layer shared."""
    spec = BASE["albert"]
    totals = {mode: encoder_size(specimens.sharing(spec, mode)) for mode in SHARING_MODES}
    ratio = totals["all"] / totals["none"]
    return CheckOutcome(
        ", ".join(f"{mode} {n / 1e6:.2f}M" for mode, n in totals.items()),
        all(n == shape_total(spec.architecture, mode) for mode, n in totals.items()),
        SHAPES,
        {mode: parameters(n) for mode, n in totals.items()}
        | {"all_over_none": times(ratio, "the unshared size")},
    )


def embedding_rank(specimens: CheckModels) -> CheckOutcome:
    """LC11: rank of the matrix [vocabulary, H] that ALBERT's two embedding matrices make."""
    spectrum = embedding_spectrum(specimens.random(BASE["albert"]))
    bottleneck = BASE["albert"].architecture.d_embedding
    return CheckOutcome(
        f"{spectrum.rank} of {spectrum.d_model} singular values are not zero; E is {bottleneck}",
        spectrum.rank == bottleneck,
        RANDOM,
        {"rank": Quantity(spectrum.rank, f"rank {spectrum.rank} of {spectrum.d_model}")},
    )


def printed_shapes(specimens: CheckModels) -> CheckOutcome:
    """LC31: layers, width, heads, embedding size and vocabulary, read off one forward pass."""
    shapes = {name: _shape_seen(specimens.shape(spec)) for name, spec in FULL.items()}
    expected = {
        name: (a.n_layers, a.d_model, a.n_heads, a.d_embedding, a.d_vocab)
        for name, a in ((name, spec.architecture) for name, spec in FULL.items())
    }
    said = {key: " / ".join(str(x) for x in list(shapes[key].values())[:4]) for key in CLAIMED}
    return CheckOutcome(
        f"layers / width / heads / E: {listed(said)}",
        all(tuple(shape.values()) == expected[name] for name, shape in shapes.items()),
        SHAPES,
        {
            f"{name}.{what}": Quantity(n, f"{n:,} {_UNITS[what]}")
            for name, shape in shapes.items()
            for what, n in shape.items()
        },
    )


_UNITS = {
    "layers": "layers",
    "width": "wide",
    "heads": "heads",
    "embedding": "per embedding",
    "vocabulary": "pieces",
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


def classifier_head(specimens: CheckModels) -> CheckOutcome:
    """LC33: what a two-class head adds to BERT-base: 2 H + 2."""
    network = specimens.shape(BASE["bert"])
    width = network.base_model.pooler.dense.out_features
    head = sum(p.numel() for p in nn.Linear(width, 2, device="meta").parameters())
    share = 100 * head / encoder_size(network)
    return CheckOutcome(
        f"{head:,} parameters on {encoder_size(network):,} ({share:.4f}%)",
        head == 2 * BASE["bert"].architecture.d_model + 2,
        SHAPES,
        {"head": parameters(head)},
    )
