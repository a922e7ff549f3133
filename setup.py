"""Build of the wheel: the files that hold no code, the readme and the addresses of the project."""

import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
FILES = ("assets", "GLOSSARY.md", "CITATION.cff", "docs/errors.md")
"""Files at the root of the repository that the page reads."""
UNREAD = shutil.ignore_patterns("__pycache__", "screenshot.png", "changed.png", "learning_curve.*")
PLACES = {
    "Documentation": "{}/tree/main/docs",
    "Changelog": "{}/blob/main/CHANGELOG.md",
    "Issues": "{}/issues",
}
RELATIVE = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:)([^)]*)\)")
"""A Markdown link or picture whose target is a file of the repository."""


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


def repository() -> str:
    """Return the repository's address from CITATION.cff; empty where it has none."""
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    found = re.search(r'^repository-code: "?([^"\n]+)"?$', citation, re.MULTILINE)
    return found[1].rstrip("/") if found else ""


def readme(address: str) -> str:
    """Return README.md for a package index: without the Space's settings, with whole addresses.

    Without an address, links into the repository become plain text and pictures are left out.
    """
    text = (ROOT / "README.md").read_text("utf-8").split("---\n", 2)[2].lstrip()

    def whole(link: re.Match[str]) -> str:
        picture, words, target = link.groups()
        if not address:
            return "" if picture else words
        return f"{picture}[{words}]({address}/{'raw' if picture else 'blob'}/main/{target})"

    return RELATIVE.sub(whole, text)


if __name__ == "__main__":
    at = repository()
    urls = {name: place.format(at) for name, place in {"Homepage": "{}", **PLACES}.items()}
    setup(
        cmdclass={"build_py": BuildWithFiles},
        long_description=readme(at),
        long_description_content_type="text/markdown",
        project_urls=urls if at else {},
    )
