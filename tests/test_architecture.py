"""Imports go only downwards: ui -> views -> analysis -> models."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FORBIDDEN = {
    "models": {
        "gradio",
        "plotly",
        "explorer.analysis",
        "explorer.views",
        "explorer.ui",
        "explorer.runs",
    },
    "analysis": {
        "gradio",
        "plotly",
        "transformers",
        "explorer.views",
        "explorer.ui",
        "explorer.runs",
    },
    "views": {"gradio", "torch", "transformers", "explorer.ui", "explorer.runs"},
    "ui": {"torch", "transformers", "explorer.bench"},
    "training": {"gradio", "explorer.views", "explorer.ui", "explorer.runs"},
}


def imported(path: Path) -> set[str]:
    """Every module that a file imports anywhere, function bodies included."""
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    from_nodes = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    return names | {f"{node.module}.{alias.name}" for node in from_nodes for alias in node.names}


def layer_files():
    return [
        (layer, path)
        for layer in FORBIDDEN
        for path in sorted((ROOT / "explorer" / layer).rglob("*.py"))
    ]


@pytest.mark.parametrize(
    ("layer", "path"), layer_files(), ids=lambda v: str(v).rpartition("explorer/")[2]
)
def test_imports_go_downwards(layer, path):
    banned = [
        name
        for name in imported(path)
        for bad in FORBIDDEN[layer]
        if f"{name}.".startswith(f"{bad}.")
    ]
    assert not banned, f"{path.relative_to(ROOT)} imports {', '.join(banned)}"


@pytest.mark.parametrize("path", sorted((ROOT / "explorer").rglob("*.py")), ids=lambda p: p.name)
def test_files_and_functions_stay_small(path):
    source = path.read_text("utf-8")
    assert source.count("\n") <= 300, f"{path.name} has over 300 lines"
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = node.end_lineno - node.lineno + 1
            assert length <= 50, f"{path.name}:{node.name} has {length} lines"


@pytest.mark.parametrize("folder", ["", "*"])
def test_browser_code_stays_small(folder):
    for place in (ROOT / "assets" / "js").glob(folder) if folder else [ROOT / "assets" / "js"]:
        files = sorted(place.glob("*.js"))
        assert len(files) <= 16, f"{place.name} has {len(files)} files"
        for path in files:
            assert path.read_text("utf-8").count("\n") <= 300, f"{path.name} has over 300 lines"
