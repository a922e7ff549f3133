"""The examples of the documents: files in ``docs/examples``, which the documents hold whole.

``python -m tests.examples`` copies the files into the documents, each after a line like
```` ```python docs/examples/shortest.py ````.
"""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "docs" / "examples").glob("*.py"))
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
BLOCK = re.compile(r"^```python *(\S*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def with_examples(text: str) -> str:
    """Return a document with each file's present lines."""
    return BLOCK.sub(
        lambda block: f"```python {block[1]}\n{(ROOT / block[1]).read_text('utf-8')}```", text
    )


if __name__ == "__main__":
    for path in DOCUMENTS:
        path.write_text(with_examples(path.read_text("utf-8")), "utf-8")
