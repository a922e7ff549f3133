"""Write codemeta.json, the description for software archives, from CITATION.cff.

``python deploy/codemeta.py``, after each change of the citation. Terms: codemeta.github.io, 3.0.
"""

import json
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
FILE = ROOT / "codemeta.json"


def codemeta() -> dict[str, Any]:
    """Return the description: CITATION.cff under the names of CodeMeta."""
    about = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    papers = [
        {
            "@type": "ScholarlyArticle",
            "name": paper["title"],
            "datePublished": str(paper["year"]),
            "url": paper["url"],
        }
        for paper in about["references"]
    ]
    address = about.get("repository-code")
    return {
        "@context": "https://w3id.org/codemeta/3.0",
        "@type": "SoftwareSourceCode",
        "name": about["title"],
        "description": about["abstract"],
        "version": about["version"],
        "dateModified": about["date-released"],
        "license": f"https://spdx.org/licenses/{about['license']}",
        "author": [{"@type": "Organization", "name": one["name"]} for one in about["authors"]],
        "programmingLanguage": "Python",
        **({"codeRepository": address} if address else {}),
        "citation": papers,
    }


def written() -> str:
    """Return the text of the file."""
    return json.dumps(codemeta(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(written(), "utf-8")
