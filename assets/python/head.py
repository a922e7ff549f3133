"""Where the bundled models are: put in front of a recipe that reads them."""

import importlib.util
import os
from pathlib import Path

SPACE = ""  # the Space that the link leads to, which has the models too


def bundled_models():
    """Below EXPLORER, else beside the installed package, which need not be imported for that."""
    package = importlib.util.find_spec("explorer")
    installed = Path(package.origin).parents[1] if package and package.origin else None
    home = os.environ.get("EXPLORER") or installed
    if not home and SPACE:
        from huggingface_hub import snapshot_download

        home = snapshot_download(SPACE, repo_type="space", allow_patterns="assets/models/*")
    if not home or not Path(home, "assets", "models").is_dir():
        said = "Set EXPLORER to a folder with a copy of the explorer: its models are read."
        raise SystemExit(said)
    return str(Path(home, "assets", "models").resolve())


BUNDLED = bundled_models()
