"""``/parameters``: exact counts of the seven architectures and the bundled three, as JSON."""

from typing import Any

from explorer.library import parameters as library


def parameters(models: list[str]) -> dict[str, Any]:
    """Return parameter counts of architectures by name; tied and shared tensors count once.

    Args:
        models: Names such as ``bert-base-uncased``, ``albert-xxlarge-v2`` or ``mini-albert``.

    Returns:
        ``{"models": [{"name", "total", "stored_bytes_fp32", "applied", "components": {...}}]}``;
        ``total`` is encoder and pooler as released, ``head`` is listed apart.
    """
    return library.parameters(models).to_dict()
