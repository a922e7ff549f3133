"""Build of the wheel: the files that hold no code go into the package beside it."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
FILES = ("assets", "GLOSSARY.md", "CITATION.cff", "docs/errors.md")
"""Files that the page reads, which stand at the root of the repository."""
UNREAD = shutil.ignore_patterns("__pycache__", "screenshot.png", "learning_curve.*")


class BuildWithFiles(build_py):
    """Build of the package that copies ``FILES`` to where ``explorer/assets.py`` finds them."""

    def run(self) -> None:
        """Build the package; an editable installation reads the files of the checkout."""
        super().run()
        if self.editable_mode:
            return
        files = Path(self.build_lib) / "explorer" / "files"
        shutil.rmtree(files, ignore_errors=True)
        files.mkdir(parents=True)
        for name in FILES:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, files / name, ignore=UNREAD)
            else:
                (files / name).parent.mkdir(exist_ok=True)
                shutil.copy(ROOT / name, files / name)


setup(cmdclass={"build_py": BuildWithFiles})
