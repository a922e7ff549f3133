"""``/parameters``: exact counts of the seven architectures and the bundled three, as JSON."""

from typing import Any


def parameters(models: list[str]) -> dict[str, Any]:
    """Return parameter counts of architectures by name; tied and shared tensors count once.

    Args:
        models: Names such as ``bert-base-uncased``, ``albert-xxlarge-v2`` or ``mini-albert``.

    Returns:
        ``{"models": [{"name", "total", "stored_bytes_fp32", "applied", "components": {...}}]}``;
        ``total`` is encoder and pooler as released, ``head`` is listed apart.
    """
    from explorer.analysis.parameters.count import named_counts

    names = [models] if isinstance(models, str) else list(models or [])
    return {
        "models": [
            {
                "name": counts.name,
                "total": counts.total,
                "stored_bytes_fp32": 4 * counts.total,
                "applied": counts.applied,
                "components": counts.components | {"head": counts.head_total},
            }
            for counts in named_counts(names)
        ]
    }
