"""Where the files that are no code lie: style sheets, browser pictures, data, bundled weights."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
ASSETS = ROOT / "assets"
DATA = ASSETS / "data"
GLOSSARY = ROOT / "GLOSSARY.md"
