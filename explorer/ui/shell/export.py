"""What a file that leaves the page says of itself: the checkpoints, the versions, how to cite."""

import io
import re
from functools import cache
from typing import Any

import segno
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from explorer.assets import ROOT
from explorer.models.choice.family import family_specs, read_family
from explorer.models.specs import ModelSpec
from explorer.ui.kit import words as texts
from explorer.ui.kit.export import has_recipe, recipe_parts
from explorer.ui.shell.status import library_versions

LONGEST_LINK = 2_000
"""Characters that a QR code holds with room for some damage."""


def provenance_route() -> Route:
    """What is known of a family, for the files that the browser writes."""
    return Route("/provenance/{family}", _send_provenance)


def recipe_route() -> Route:
    """The lines of Python that compute one picture's numbers again, in their parts."""
    return Route("/recipe/{kind:path}.json", _send_recipe)


def qr_route() -> Route:
    """A link as a QR code."""
    return Route("/qr", _send_code)


def provenance(family: str) -> dict[str, Any]:
    """The checkpoints of a family, the versions of the libraries, and how to cite all of it."""
    return {
        "models": [_checkpoint(spec) for spec in family_specs(family)],
        "versions": library_versions(),
        "cite": citation(),
    }


def _checkpoint(spec: ModelSpec) -> dict[str, str]:
    """Where a model's weights are, for a reader and for ``from_pretrained``."""
    if spec.repo:
        revision = spec.revision or "main"
        return {"label": spec.label, "source": spec.repo, "revision": revision, "sha256": ""}
    from explorer.models.hub import has_weights
    from explorer.models.task_heads.adapters import checksum

    if spec.folder:  # where it lies is its owner's business
        digest = checksum(spec.folder)
        return {"label": spec.label, "source": spec.name, "revision": "", "sha256": digest}
    source = spec.bundled_path.relative_to(ROOT).as_posix()
    digest = checksum(spec.bundled_path) if has_weights(spec.bundled_path) else ""
    return {"label": spec.label, "source": source, "revision": "main", "sha256": digest}


@cache
def citation() -> str:
    """How to cite the explorer, in one line, from CITATION.cff."""
    said = dict(re.findall(r"^(title|version): (.+)$", (ROOT / "CITATION.cff").read_text(), re.M))
    return texts.CITE.format(**said)


def _send_provenance(request: Request) -> Response:
    family = read_family(request.path_params["family"])
    return JSONResponse(provenance(family)) if family else Response(status_code=404)


def _send_recipe(request: Request) -> Response:
    kind = request.path_params["kind"]
    if not re.fullmatch(r"[a-z]+/[a-z_]+", kind) or not has_recipe(kind):
        return Response(status_code=404)
    return JSONResponse(recipe_parts(kind))


def _send_code(request: Request) -> Response:
    link = request.query_params.get("link", "")
    if not link.startswith(("http://", "https://")) or len(link) > LONGEST_LINK:
        return Response(status_code=404)
    picture = io.BytesIO()
    segno.make_qr(link, error="m").save(picture, kind="svg", scale=6, light="#fff")
    return Response(picture.getvalue(), media_type="image/svg+xml")
