"""The layers and features of the package, and which module may import which.

Every test names all offenders at once.
"""

import ast
import re
from collections.abc import Iterable
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from tests.sources import trees_in

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "explorer"
FEATURES = {
    "predictions",
    "attention",
    "layer",
    "depth",
    "distillation",
    "tasks",
    "parameters",
    "latency",
    "claims",
    "texts",
}
FOLDERS = {
    "models": {"inside", "convert", "task_heads", "choice", "tuning"},
    "timing": {"runtimes"},
    "analysis": FEATURES,
    "links": set(),
    "scheduling": set(),
    "inference": set(),
    "views": FEATURES | {"first"},
    "library": set(),
    "middleware": set(),
    "ui": FEATURES | {"shell", "kit", "first"},
    "serving": set(),
    "lists": {"views", "ui"},
}
"""Every folder of the package: a layer and its features."""
LISTS = {
    "read": "analysis",
    "delimited": "analysis",
    "json_rows": "analysis",
    "forms": "analysis",
    "cut": "analysis",
    "roles": "analysis",
    "rows": "analysis",
    "masked": "analysis",
    "sentences": "analysis",
    "labelled": "analysis",
    "multilabel": "analysis",
    "tagged": "analysis",
    "tag_batches": "inference",
    "stereoset": "analysis",
    "several": "analysis",
    "spread": "analysis",
    "comparison": "analysis",
    "bias": "analysis",
    "scored": "analysis",
    "judge": "analysis",
    "calibration": "analysis",
    "heads": "analysis",
    "head_scores": "analysis",
    "seen": "analysis",
    "results": "analysis",
    "disagreement": "analysis",
    "tuned": "analysis",
    "head_questions": "inference",
    "rule": "analysis",
    "fast": "inference",
    "batches": "inference",
    "run": "inference",
    "tuning": "inference",
    "views": "views",
    "library": "library",
    "finetune": "library",
    "apart": "library",
    "child": "library",
    "ui": "ui",
}
"""The layer of each module and folder of ``explorer/lists``, which is the feature ``texts``."""
SINGLE = {"assets", "context", "limits", "refusal"}
"""The modules that belong to no layer."""
KNOWS = {
    "assets": set(),
    "limits": set(),
    "refusal": {"assets"},
    "context": set(),
    "models": {"assets", "context"},
    "scheduling": {"limits"},
    "timing": {"assets", "context", "models", "scheduling"},
    "analysis": {"assets", "models", "scheduling", "timing"},
    "links": {"analysis.measures", "assets", "inference.ask", "models"},
    "inference": {
        "context",
        "analysis.distillation.live",
        "analysis.distillation.student",
        "analysis.precision",
        "analysis.texts",
        "models",
        "scheduling",
        "timing",
    },
    "views": {"analysis", "assets", "models"},
    "library": {
        "analysis",
        "assets",
        "inference",
        "limits",
        "models",
        "scheduling",
        "timing",
        "views",
    },
    "middleware": {"context", "limits"},
    "ui": {
        "analysis",
        "assets",
        "context",
        "inference",
        "library",
        "limits",
        "links",
        "middleware",
        "models",
        "scheduling",
        "timing",
        "views",
    },
    "serving": {
        "assets",
        "context",
        "inference",
        "links",
        "middleware",
        "models",
        "scheduling",
        "timing",
        "ui",
    },
}
"""What each layer and single module may import, besides itself and ``refusal``."""
SHARED = {
    "analysis.alignment",
    "analysis.digits",
    "analysis.measures",
    "analysis.spans",
    "views.chart",
    "views.glossary",
    "views.markup",
    "views.notebook",
    "analysis.records",
    "views.theme",
    "ui.kit",
    "ui.shell.tabs",
}
"""What every feature may import; all of ``models`` and ``timing`` is shared too."""
NEIGHBOURS = {
    ("analysis.claims", "analysis.depth"): "claims are about what the other features compute",
    ("analysis.claims", "analysis.distillation"): "the same",
    ("analysis.claims", "analysis.latency"): "the same",
    ("analysis.claims", "analysis.layer"): "the same",
    ("analysis.claims", "analysis.parameters"): "the same",
    ("analysis.tasks", "analysis.claims"): "the papers' scores have one home",
    ("analysis.depth", "analysis.parameters"): "the work of a shorter or longer pass is counted",
    ("analysis.latency", "analysis.parameters"): "the work of a pass is counted, then timed",
    ("analysis.layer", "analysis.latency"): "a layer and an LSTM are timed by the one protocol",
    ("analysis.layer", "analysis.parameters"): "the work of a layer is counted",
    (
        "analysis.texts",
        "analysis.distillation",
    ): "words of two vocabularies are matched in one place",
    ("analysis.texts", "analysis.predictions"): "a word of several pieces is scored in one place",
}
"""The only imports between features, and why they are there."""
ENTRIES = {"tab", "served", "opening"}
"""What ``ui.shell`` may import of a feature."""
LIBRARIES = {
    "models": {"gradio", "plotly"},
    "timing": {"gradio", "plotly"},
    "inference": {"gradio", "plotly", "transformers"},
    "scheduling": {"gradio", "plotly", "torch", "transformers"},
    "analysis": {"gradio", "plotly", "transformers"},
    "links": {"gradio", "plotly", "torch", "transformers"},
    "views": {"gradio", "torch", "transformers"},
    "library": {"gradio", "torch", "transformers"},
    "middleware": {"plotly", "torch", "transformers"},
    "ui": {"torch", "transformers"},
}
"""What each layer must not import from outside."""
TRAINED = {"analysis.distillation.student"}
"""What makes a network of its own, and so imports transformers."""
TERMINALS = {
    "assets",
    "models.convert.pickles",
    "serving.launch",
    "serving.ray_app",
    "serving.ray_client",
    "serving.start",
}
"""What speaks to whoever starts a program, and may say the reason in a library's words."""
MAX_LINES, LONGEST = 500, 50


def sources() -> dict[Path, ast.Module]:
    """Return every module of the explorer, read when the first test asks and not when tests are found."""
    return trees_in(PACKAGE)


def name_of(path: Path) -> str:
    """``analysis.attention.heads`` for a file, ``analysis.attention`` for a folder's docstring."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def module_names() -> set[str]:
    """Return the names of all modules."""
    return {name_of(path) for path in sources()} - {""}


def imported(tree: ast.AST) -> set[str]:
    """Every module that a file imports anywhere, function bodies included."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            inside = (node.module or "").removeprefix("explorer").lstrip(".")
            names = {f"{inside}.{alias.name}".lstrip(".") for alias in node.names}
            modules = {f"explorer.{name}" for name in names & module_names()}
            found |= modules or {str(node.module)}
    return found


def placed(module: str) -> str:
    """A module under its layer's name: ``lists.views.charts`` as ``views.texts.charts``."""
    package, _, inside = module.partition(".")
    if package != "lists":
        return module
    name, _, rest = inside.partition(".")
    layer = LISTS[name] if name else "analysis"
    return f"{layer}.texts.{rest if name == layer else inside}".rstrip(".")


def imports() -> list[tuple[str, str]]:
    """Every (importing, imported) pair of the package's own modules, under their layers' names."""
    return [
        (placed(name_of(path)), placed(name.removeprefix("explorer.")))
        for path, tree in sources().items()
        for name in sorted(imported(tree))
        if name.startswith("explorer.")
    ]


def lies_in(module: str, places: set[str]) -> bool:
    return any(f"{module}.".startswith(f"{place}.") for place in places)


def layer_of(module: str) -> str:
    """The longest name of a layer that a module lies in; the package's own names are the library's."""
    if module in ("", "__main__"):
        return "library"
    return max((name for name in KNOWS if lies_in(module, {name})), key=len)


def feature_of(module: str) -> str:
    """``analysis.attention``; empty where the module lies in no feature."""
    layer, _, rest = module.partition(".")
    feature = rest.partition(".")[0]
    return f"{layer}.{feature}" if feature in FEATURES or f"{layer}.{feature}" == "ui.shell" else ""


def cycle(arrows: Iterable[tuple[str, str]]) -> list[str]:
    """Return packages of which each imports the next, and the last the first; empty: none do."""
    graph: dict[str, set[str]] = {}
    for importing, other in arrows:
        graph.setdefault(importing, set()).update({other} - {importing})
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_every_folder_and_single_file_has_its_place():
    placed = {f"{layer}/{name}" for layer, names in FOLDERS.items() for name in names}
    folders = {p.parent.relative_to(PACKAGE).as_posix() for p in sources()} - {"."}
    assert sorted(folders - placed - set(FOLDERS)) == []
    assert {p.stem for p in PACKAGE.glob("*.py")} == SINGLE | {"__init__", "__main__"}


def test_every_module_of_lists_has_a_layer():
    inside = {name.split(".")[1] for name in module_names() if name.startswith("lists.")}
    assert set(LISTS) == inside
    assert placed("lists.views.charts") == "views.texts.charts"
    assert placed("lists.run") == "inference.texts.run"


def test_a_layer_knows_only_the_layers_below():
    wrong = [
        f"{a} -> {b}"
        for a, b in imports()
        if not lies_in(b, KNOWS[layer_of(a)] | {layer_of(a), "refusal"})
    ]
    assert wrong == []


def test_no_packages_import_each_other():
    """A module of ``explorer/lists`` counts under its layer; imports for types count too."""
    assert cycle((layer_of(a), layer_of(b)) for a, b in imports()) == []
    assert cycle((a, layer_of(b)) for a, known in KNOWS.items() for b in known) == []
    assert len(cycle([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")])) == 4


def test_a_feature_knows_only_itself_on_every_layer():
    wrong = []
    for a, b in imports():
        features = feature_of(a), feature_of(b)
        same = features[0].partition(".")[2] == features[1].partition(".")[2]
        is_entry = features[0] == "ui.shell" and b.rpartition(".")[2] in ENTRIES
        if all(features) and not same and not is_entry and features not in NEIGHBOURS:
            wrong += [] if lies_in(b, SHARED) else [f"{a} -> {b}"]
    assert wrong == []


def test_what_all_features_share_knows_no_feature():
    shared = [(a, b) for a, b in imports() if lies_in(a, SHARED - {"ui.shell.tabs"})]
    assert [f"{a} -> {b}" for a, b in shared if feature_of(b)] == []


def test_every_import_between_features_that_is_allowed_is_there():
    drawn = {(feature_of(a), feature_of(b)) for a, b in imports()}
    assert sorted(set(NEIGHBOURS) - drawn) == []


def test_the_libraries_stay_on_their_layers():
    wrong = [
        f"{name_of(path)} imports {name}"
        for path, tree in sources().items()
        for name in sorted(imported(tree))
        if lies_in(name, LIBRARIES.get(layer_of(placed(name_of(path))), set()))
        and not lies_in(name_of(path), TRAINED)
    ]
    assert wrong == []


def test_no_module_knows_the_benchmarks_or_the_recipe():
    """A Space, a container and a wheel do without them."""
    wrong = [
        name_of(path)
        for path, tree in sources().items()
        if any(name.partition(".")[0] in {"benchmarks", "training"} for name in imported(tree))
    ]
    assert wrong == []


def test_the_docstring_of_a_folder_is_all_that_its_init_holds():
    inits = {
        p: tree for p, tree in sources().items() if p.name == "__init__.py" and p.parent != PACKAGE
    }
    wrong = [
        str(p.relative_to(ROOT))
        for p, tree in inits.items()
        if not ast.get_docstring(tree) or len(tree.body) != 1
    ]
    assert wrong == []


def test_files_and_functions_stay_small():
    wrong = []
    for path, tree in sources().items():
        lines = path.read_text("utf-8").count("\n")
        wrong += [f"{name_of(path)} has {lines} lines"] if lines > MAX_LINES else []
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = node.end_lineno - node.lineno + 1
                wrong += [f"{name_of(path)}.{node.name}: {length}"] if length > LONGEST else []
    assert wrong == []


def test_no_code_asks_for_a_model_by_name():
    """What differs between models is a field of ``ModelKind`` or ``ModelSpec``."""
    keys = {"bert", "distilbert", "albert"}
    wrong = []
    for path, tree in sources().items():
        if "claims" in name_of(path):
            continue  # what is printed about these three
        for node in ast.walk(tree):
            if isinstance(node, ast.Compare):
                sides = [node.left, *node.comparators]
                constants = [n for s in sides for n in ast.walk(s) if isinstance(n, ast.Constant)]
                asked = {n.value for n in constants} & keys
                wrong += [f"{name_of(path)}:{node.lineno}"] if asked else []
    assert wrong == []


def test_no_browser_code_names_a_model():
    """The names come with the data; ``early.js`` runs before there is any, and reads a link."""
    quoted = re.compile(r"""(['"`])(?:bert|distilbert|albert)\1""")
    wrong = [
        f"{path.name}:{number}"
        for path in (ROOT / "assets" / "js").rglob("*.js")
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if quoted.search(line) and path.name != "early.js"
    ]
    assert wrong == []


def test_the_tests_stand_where_the_code_stands():
    folders = {p.parent.relative_to(ROOT / "tests") for p in (ROOT / "tests").rglob("test_*.py")}
    wrong = [
        f.as_posix()
        for f in folders
        if not (PACKAGE / f).is_dir()
        and not (PACKAGE / f).with_suffix(".py").is_file()
        and not (ROOT / f).is_dir()
        and f.parts[0] not in ("browser", "js", "needs")
    ]
    assert wrong == []


def test_browser_code_stays_small():
    paths = (ROOT / "assets" / "js").rglob("*.js")
    sizes = {p.name: p.read_text("utf-8").count("\n") for p in paths}
    assert {name: lines for name, lines in sizes.items() if lines > MAX_LINES} == {}


def test_no_line_of_the_browser_code_is_long():
    """Prettier leaves comments and long strings as they are."""
    paths = (ROOT / "assets" / "js").rglob("*.js")
    lines = {(p.name, line) for p in paths for line in p.read_text("utf-8").splitlines()}
    assert {(name, line) for name, line in lines if len(line) > 100} == set()


def refusals() -> set[str]:
    """The names of all classes that are refusals: their texts are written for readers."""
    parents = {
        node.name: {ast.unparse(base).rpartition(".")[2] for base in node.bases}
        for tree in sources().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    found = {"Refusal"}
    while more := {name for name, bases in parents.items() if bases & found} - found:
        found |= more
    return found


def quoted(handler: ast.ExceptHandler) -> list[int]:
    """The lines that make a text of the error that a handler has caught, but to log or compare."""
    silent = {
        id(inner)
        for node in ast.walk(handler)
        if isinstance(node, ast.Compare)
        or (isinstance(node, ast.Call) and ast.unparse(node.func).startswith("logger."))
        for inner in ast.walk(node)
    }
    lines = []
    for node in ast.walk(handler):
        if id(node) in silent:
            continue
        named = []
        if isinstance(node, ast.FormattedValue):
            named = [node.value]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("str", "map"):
            named = node.args
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".format"):
            named = [*node.args, *(keyword.value for keyword in node.keywords)]
        elif isinstance(node, ast.Attribute) and node.attr in ("args", "message"):
            named = [node.value]
        if any(isinstance(one, ast.Name) and one.id == handler.name for one in named):
            lines.append(node.lineno)
    return lines


def test_no_text_of_an_error_is_shown_but_a_refusals():
    written, wrong = refusals(), []
    assert {"BadText", "ModelUnavailable", "NoRuntime"} <= written
    for path, tree in sources().items():
        if name_of(path) in TERMINALS:
            continue
        for node in ast.walk(tree):
            if not isinstance(node, ast.ExceptHandler) or node.name is None:
                continue
            kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            if not {ast.unparse(kind).rpartition(".")[2] for kind in kinds} <= written:
                wrong += [f"{name_of(path)}:{line}" for line in quoted(node)]
    assert wrong == []


NO_BEGINNING = re.compile(
    r"[\W_]*(what|who|whose|whom|how|where|when|whether|why|it|they|he|she|we|you|this|these|those"
    r"|everybody|nobody|somebody|anybody|whoever|whatever|as)\b",
    re.IGNORECASE,
)
"""No docstring begins so: the first word says what is done, or what is there."""


def docstrings(tree: ast.Module) -> list[tuple[int, str]]:
    """Return the line and the text of every docstring of a module, constants' and fields' included."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found += [
                (inner.lineno, inner.value.value)
                for inner in node.body
                if isinstance(inner, ast.Expr)
                and isinstance(inner.value, ast.Constant)
                and isinstance(inner.value.value, str)
            ]
    return found


def test_docstrings_begin_with_a_verb_or_a_noun():
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {text.splitlines()[0]}"
        for path, tree in sources().items()
        for line, text in docstrings(tree)
        if NO_BEGINNING.match(text)
    ]
    assert wrong == []


def test_no_modules_import_each_other():
    """Imports at the top of modules have an order: none waits for a module that waits for it."""
    needs = {
        name_of(path): imported(ast.Module([node for node in tree.body if is_import(node)], []))
        for path, tree in sources().items()
    }
    needs = {
        name: {one.removeprefix("explorer.") for one in modules} & set(needs)
        for name, modules in needs.items()
    }
    while free := {name for name, modules in needs.items() if not modules & set(needs) - {name}}:
        needs = {name: modules for name, modules in needs.items() if name not in free}
    assert sorted(needs) == []


def is_import(node: ast.stmt) -> bool:
    """Return whether a statement of a module imports, when the module is imported."""
    return isinstance(node, ast.Import | ast.ImportFrom)


def test_results_are_frozen():
    # What a run changes as it goes on; nobody else sees them.
    working = {"_TrainingState", "_Log", "_Watched", "_CpuRounds"}
    results = [
        (node.name, ast.unparse(decorator))
        for path, tree in sources().items()
        if lies_in(placed(name_of(path)), {"analysis"})
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for decorator in node.decorator_list
        if ast.unparse(decorator).startswith("dataclass")
    ]
    assert len(results) > 100
    changeable = {name for name, decorator in results if "frozen=True" not in decorator}
    assert changeable == working
