"""Put the explorer on Hugging Face: ``python deploy/space.py --dry-run | --push OWNER/NAME``.

A Space is filled by upload and never by ``git push``, because the hub inspects a pushed history,
and ours contains large files. The committed tree is uploaded without its tests.
"""

import argparse
import io
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Collection, Mapping, Sequence
from os.path import normpath
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = (
    ".ci/",
    ".dockerignore",
    ".gitattributes",
    ".gitignore",
    "BENCHMARKS.md",
    "CONTRIBUTING.md",
    "Dockerfile",
    "SECURITY.md",
    "benchmarks/",
    "codemeta.json",
    "deploy/",
    "docs/",
    "findings/",
    "package-lock.json",
    "package.json",
    "setup.py",
    "tests/",
    "training/",
    "tsconfig.json",
)
"""Paths for development only, but for ``KEPT``; the hub needs no .gitattributes."""
KEPT = ("docs/errors.md",)
LINK = re.compile(r"(?<!!)\[(?P<name>[^\]]+)\]\((?![a-z]+:|#)(?P<target>[^)#\s]+)[^)]*\)")
"""A link to another file."""
LARGE = 2**20
HERE = "http://127.0.0.1:7860"
CPU_WHEELS = "--extra-index-url https://download.pytorch.org/whl/cpu"
ZERO = {"python_version": '"3.12.12"', "suggested_hardware": "zero-a10g"}
"""Front matter of a ZeroGPU Space; its images have no Python 3.11."""
SPACES_FIRST = "import spaces  # noqa: F401 - on ZeroGPU it has to see torch before anybody does\n"


def committed() -> dict[str, bytes]:
    """Return every file of the last commit by its path."""
    archive = subprocess.run(
        ["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as tree:
        files = [member for member in tree if member.isfile()]
        return {member.name: _content(tree, member) for member in files}


def staged(files: Mapping[str, bytes], repo: str, zero: bool) -> dict[str, bytes]:
    """Return the files to upload to a Space, adapted to the Space's hardware."""
    uploads = {
        name: content
        for name, content in files.items()
        if name in KEPT or not name.startswith(LEFT_OUT)
    }
    changes = {"README.md": readme, "requirements.txt": requirements, "app.py": entry}
    for name, change in changes.items():
        uploads[name] = change(uploads[name].decode(), repo, zero).encode()
    for name in uploads:
        if name.endswith(".md"):
            uploads[name] = without_dead_links(
                name, uploads[name].decode(), uploads.keys()
            ).encode()
    return uploads


def without_dead_links(name: str, text: str, uploaded: Collection[str]) -> str:
    """Return a document with links to excluded files replaced by their text."""

    def shown(link: re.Match[str]) -> str:
        target = normpath(Path(name).parent / link["target"])
        exists = target in uploaded or any(path.startswith(f"{target}/") for path in uploaded)
        return link[0] if exists else link["name"]

    return LINK.sub(shown, text)


def readme(text: str, repo: str, zero: bool) -> str:
    """Return the README with the variant's front matter and links to the Space's own page."""
    _, matter, body = text.split("---\n", 2)
    for name, value in ZERO.items() if zero else ():
        matter = re.sub(rf"^{name}: .*$", f"{name}: {value}", matter, flags=re.MULTILINE)
    body = body.replace(f'Client("{HERE}")', f'Client("{repo}")')
    body = body.replace(f"{HERE}/?", f"https://huggingface.co/spaces/{repo}?")
    return f"---\n{matter}---\n{body}"


def requirements(text: str, _repo: str, zero: bool) -> str:
    """Return the pins without Gradio's, which the Space takes from ``sdk_version``.

    ZeroGPU needs torch from PyPI; elsewhere that would install gigabytes of CUDA, so it is
    pinned to the CPU wheels.
    """
    lines = [line for line in text.splitlines() if not line.startswith("gradio==")]
    if not zero:
        lines = [re.sub(r"^(torch==\S+)$", r"\1+cpu", line) for line in lines]
        lines.insert(0, CPU_WHEELS)
    return "\n".join([*lines, ""])


def entry(text: str, _repo: str, zero: bool) -> str:
    """Return ``app.py``; for ZeroGPU with the import that has to precede all others."""
    head, imports, rest = text.partition("import os\n")
    return head + (SPACES_FIRST if zero else "") + imports + rest


def kinds(files: Mapping[str, bytes]) -> list[str]:
    """Return the uploads by folder and suffix; large or top-level files by their own name."""
    groups = set()
    for name, content in files.items():
        path = Path(name)
        if len(content) >= LARGE:
            groups.add(f"{name}  {len(content) / LARGE:.0f} MiB")
        elif len(path.parts) == 1:
            groups.add(name)
        else:
            groups.add("/".join([*path.parts[:-1][:2], f"*{path.suffix or path.name}"]))
    return sorted(groups)


def missing_preloads(matter: str) -> list[str]:
    """Return the preloaded files that the hub lacks at the named revision; queries the hub."""
    from huggingface_hub import HfApi

    missing = []
    for repo, names, revision in re.findall(r"^  - (\S+) (\S+) ([0-9a-f]{40})$", matter, re.M):
        existing = set(HfApi().list_repo_files(repo, revision=revision))
        missing += [f"{repo}: {name}" for name in names.split(",") if name not in existing]
    return missing


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files to a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def push(files: Mapping[str, bytes], repo: str) -> None:
    """Create the Space if needed and replace its content by these files."""
    from huggingface_hub import HfApi

    api = HfApi()
    api.create_repo(repo, repo_type="space", space_sdk="gradio", exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), files)
        api.upload_folder(repo_id=repo, repo_type="space", folder_path=folder, delete_patterns="*")


def main(arguments: Sequence[str] | None = None) -> int:
    """List the files to upload, or upload them; return 0 on success."""
    parser = argparse.ArgumentParser(description=__doc__)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--dry-run", action="store_true", help="list the files and send nothing")
    action.add_argument("--push", metavar="OWNER/NAME", help="fill this Space")
    parser.add_argument("--kinds", action="store_true", help="list them by folder and ending")
    parser.add_argument("--zerogpu", action="store_true", help="for a ZeroGPU Space")
    chosen = parser.parse_args(arguments)
    repo = chosen.push or "OWNER/NAME"
    files = staged(committed(), repo, chosen.zerogpu)
    if chosen.dry_run:
        listed = [f"{len(files[name]):>11,}  {name}" for name in sorted(files)]
        sys.stdout.write("\n".join([*(kinds(files) if chosen.kinds else listed), ""]))
        return 0
    if missing := missing_preloads(files["README.md"].decode()):
        sys.stderr.write("The hub lacks what the README preloads: " + "; ".join(missing) + "\n")
        return 1
    push(files, repo)
    return 0


def _content(tree: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    content = tree.extractfile(member)
    assert content is not None, "only files are read"
    return content.read()


if __name__ == "__main__":
    raise SystemExit(main())
