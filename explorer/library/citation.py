"""Citation of an answer in BibTeX: the explorer, libraries, weights, and the models' papers."""

import re
from functools import cache
from importlib.metadata import version
from typing import Any

from explorer.assets import DATA, ROOT, read_in
from explorer.library import strings
from explorer.library.family import Family, named_family
from explorer.models.specs import ModelSpec

LIBRARIES = ("torch", "transformers")
"""Libraries whose versions can change a number."""
_FIELD = re.compile(
    r'^(?:  - )?(title|name|version|date-released|repository-code): "?(.+?)"?$', re.MULTILINE
)
"""A field of CITATION.cff; ``name`` is that of the authors."""
_PAPER = re.compile(r"^@\w+\{([\w-]+),\n.*?^\}$", re.MULTILINE | re.DOTALL)
_SPECIAL = re.compile(r"([&%$#_{}])")
"""Characters that BibTeX reads as its own."""


def cite(family: "str | Family" = "mini") -> str:
    """Return BibTeX entries for numbers of the explorer: the tool and the papers of the models.

    The note of the tool's entry names the weights, by revision or SHA-256, and the versions of
    torch and transformers: what is needed to compute the same numbers again.

    Args:
        family: What ``load`` returned, or the name of a family.

    Returns:
        The entries, separated by empty lines: ``open("refs.bib", "w").write(explorer.cite())``.

    Raises:
        Refusal: there is no such family.

    Example:
        >>> explorer.cite("base").partition(",")[0]
        '@software{explorer'
    """
    models = family if isinstance(family, Family) else named_family(family, hint=strings.OWN_FAMILY)
    used = [weights_said(checkpoint(spec)) for spec in models.specs.values()]
    libraries = [f"{name} {version(name)}" for name in LIBRARIES]
    about = citation_fields()
    address = about.get("repository-code", "")
    fields = {
        "title": about["title"].replace("BERT", "{BERT}"),
        "author": f"{{{about['name']}}}",
        "version": about["version"],
        "year": about["date-released"][:4],
        **({"url": address} if address else {}),
        "note": _SPECIAL.sub(r"\\\1", "; ".join((*used, *libraries))),
    }
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
    kinds = dict.fromkeys(spec.architecture_key for spec in models.specs.values())
    entries = [f"@software{{explorer,\n{lines}}}", *(papers()[key] for key in kinds)]
    return "\n\n".join(entries) + "\n"


def checkpoint(spec: ModelSpec) -> dict[str, str]:
    """Return a model's label, and the source, revision and SHA-256 of its weights.

    Each is empty where there is none: the hub's files have a revision, others a checksum, and a
    model object in memory neither. A user's folder is named, not located.
    """
    from explorer.models.hub import checksum, has_weights

    if spec.repo:
        revision = spec.revision or "main"
        return {"label": spec.label, "source": spec.repo, "revision": revision, "sha256": ""}
    if spec.is_own:
        digest = checksum(spec.folder) if spec.folder else ""
        return {"label": spec.label, "source": spec.name, "revision": "", "sha256": digest}
    source = spec.bundled_path.relative_to(ROOT).as_posix()
    digest = checksum(spec.bundled_path) if has_weights(spec.bundled_path) else ""
    return {"label": spec.label, "source": source, "revision": "main", "sha256": digest}


def weights_said(weights: dict[str, str]) -> str:
    """Return a model's weights in a phrase: its label, their source, and what identifies them."""
    label, source, revision, sha256 = weights.values()
    which = f"SHA-256 {sha256}" if sha256 else f"revision {revision}" if revision else "in memory"
    return f"{label}: {source}, {which}"


@cache
def citation_fields() -> dict[str, Any]:
    """Return title, authors, version, date and, where it has one, the repository's address."""
    path = ROOT / "CITATION.cff"
    with read_in(path):
        return dict(_FIELD.findall(path.read_text("utf-8")))


@cache
def papers() -> dict[str, str]:
    """Return the BibTeX entry of each architecture's paper, by the architecture's key."""
    path = DATA / "papers.bib"
    with read_in(path):
        return {entry[1]: entry[0] for entry in _PAPER.finditer(path.read_text("utf-8"))}


def arxiv(key: str) -> str:
    """Return the arXiv number of an architecture's paper."""
    found = re.search(r"eprint = \{(.+?)\}", papers()[key])
    return found[1] if found else ""
