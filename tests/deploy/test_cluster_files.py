"""The two files that start a cluster name only what there is; neither is started here."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml

from explorer.serving import start

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
CLUSTER = yaml.safe_load((DEPLOY / "cluster.yaml").read_text("utf-8"))
SERVICES = COMPOSE["services"]
COMMANDS = {
    **{
        f"compose {name}": said if isinstance(said := one["command"], str) else said[-1]
        for name, one in SERVICES.items()
    },
    **{f"cluster {n}": said for n, said in enumerate(
        line for key, lines in CLUSTER.items() if key.endswith("commands") for line in lines
    )},
}  # fmt: skip
SERVE = (ROOT / "explorer" / "serving" / "ray_app.py").read_text("utf-8")


@pytest.mark.processes
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_one_that_a_shell_can_read(name):
    subprocess.run(["sh", "-n", "-c", COMMANDS[name]], check=True, capture_output=True)
    for inner in re.findall(r'sh -c "(.*)"', COMMANDS[name]):
        subprocess.run(["sh", "-n", "-c", inner], check=True, capture_output=True)


@pytest.mark.parametrize("kind", ["compose", "cluster"])
def test_pages_are_started_with_flags_that_there_are(kind):
    said = [command for name, command in COMMANDS.items() if name.startswith(kind)]
    flags = [found for one in said for found in re.findall(r"app\.py ([^\";]*)", one)]
    assert flags
    for one in flags:
        read = start.parse_flags(shlex.split(one.replace("$port", "7861")))
        assert (read.models_at, read.log) == ("auto", True)


@pytest.mark.parametrize("kind", ["compose", "cluster"])
def test_what_serve_runs_is_there(kind):
    said = " ".join(command for name, command in COMMANDS.items() if name.startswith(kind))
    (named,) = re.findall(r"serve run [^;\"]*?explorer\.serving\.ray_app:(\w+)", said)
    assert re.search(rf"^{named} = ", SERVE, re.MULTILINE)


def test_every_file_that_they_name_exists():
    said = (DEPLOY / "cluster.yaml").read_text("utf-8")
    named = {ROOT / name for name in re.findall(r"deploy/[\w.-]+\.\w+", said)}
    named |= {DEPLOY / one["file"] for one in COMPOSE["configs"].values()}
    arguments = SERVICES["head"]["build"]["args"]
    named |= {ROOT / name for name in arguments.values()}
    assert len(named) == 3
    assert [str(path) for path in named if not path.exists()] == []
    docker = (ROOT / "Dockerfile").read_text("utf-8")
    assert [name for name in arguments if f"ARG {name}=" not in docker] == []
    (requirements,) = arguments.values()
    assert f"COPY {requirements} deploy/" in docker
    assert f"!{requirements}" in (ROOT / ".dockerignore").read_text("utf-8").splitlines()


def test_the_environment_is_one_that_is_read():
    said = SERVICES["models"]["environment"]
    own = {name for name in said if name.startswith("EXPLORER_")}
    assert own == set(re.findall(r'getenv\("(EXPLORER_(?:CPUS|GPUS|REPLICAS))"', SERVE))
    assert said["RAY_AUTH_MODE"] == "token"
    assert all(
        "RAY_AUTH_TOKEN" in one["environment"]
        for name, one in SERVICES.items()
        if "ray" in str(one["command"])
    )


@pytest.mark.processes
def test_the_proxy_of_the_containers_leads_to_their_pages():
    # Compose writes a dollar for two.
    sed, _, _ = SERVICES["nginx"]["command"][-1].replace("$$", "$").partition(" > ")
    written = subprocess.run(
        ["sh", "-c", sed.replace(" /nginx", f" {DEPLOY / 'nginx.conf'}")],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    (forwarded,) = re.findall(r"X-Forwarded-For (.*);", written)
    assert forwarded == "$remote_addr", "whatever a client says of its address is dropped"
    pages = sorted(name for name in SERVICES if name.startswith("page-"))
    assert sorted(re.findall(r"^ +server (.*);$", written, re.MULTILINE)) == sorted(
        [f"{name}:{name[5:]}" for name in pages] * 2
    )
    assert all(f"--port {name[5:]} " in SERVICES[name]["command"] for name in pages)


def test_only_the_proxy_can_be_reached():
    assert [name for name, one in SERVICES.items() if "ports" in one] == ["nginx"]


def test_rays_own_launcher_reads_the_file():
    launcher = pytest.importorskip(
        "ray.autoscaler._private.util",
        reason="no Ray here: pip install -r deploy/requirements-serve.txt",
    )
    launcher.validate_config(launcher.prepare_config(CLUSTER))
