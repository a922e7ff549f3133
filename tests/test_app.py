"""``app.py``: a page at module level, honest words about where it is, and about why it is not."""

import importlib
import json
import math
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import gradio as gr
import httpx
import pytest

import app
from benchmarks.served import free_port
from explorer import assets, limits
from explorer.analysis.claims import ledger
from explorer.assets import Broken, examples
from explorer.context import configure, context
from explorer.inference.runs import get_runs
from explorer.links.page_state import PageState
from explorer.models import specs
from explorer.models.choice.memory import running_bytes
from explorer.serving import launch, start
from explorer.timing import memory as process_memory
from explorer.ui.first import preview
from explorer.ui.kit import strings
from explorer.ui.predictions import opening
from explorer.ui.shell import page, routes
from explorer.ui.shell.page import header_html, launch_options
from tests.waiting import until

ROOT = Path(__file__).parents[1]
LOCAL, PUBLIC = "http://127.0.0.1:7860/", "https://abc.gradio.live"


def ended_already():
    """An end that has been asked for: nothing is waited for."""
    return lambda: None


@pytest.fixture
def launched(monkeypatch):
    """What ``main`` asks of Gradio, which is not started."""
    asked = {"public": None}

    def started(**options):
        asked.update(options)
        return None, LOCAL, asked["public"]

    monkeypatch.setattr(launch, "warm_up", lambda _start: None)
    monkeypatch.setattr(launch, "check_port", lambda *_: None)
    monkeypatch.setattr(launch, "close", lambda _page: asked.update(closed=True))
    monkeypatch.setattr(launch, "signal_waiter", ended_already)
    monkeypatch.setattr(app.demo, "launch", started)
    monkeypatch.delenv("GRADIO_SHARE", raising=False)
    return asked


def test_the_page_is_there_for_gradios_own_tools():
    assert isinstance(app.demo, gr.Blocks)


def test_without_share_one_line_says_where_the_page_is(launched, capsys):
    app.main()
    assert capsys.readouterr().out == f"The explorer is at {LOCAL}\n"
    assert launched["share"] is None
    assert launched["closed"]


def test_an_ipv6_address_is_in_brackets_as_in_a_url(launched, monkeypatch):
    for host in ("::1", "[::1]"):
        monkeypatch.setattr(app.flags, "host", host)
        app.main()
        assert launched["server_name"] == "[::1]"


def test_share_is_left_to_the_environment_and_a_missing_link_is_said(launched, capsys, monkeypatch):
    monkeypatch.setenv("GRADIO_SHARE", "True")
    app.main()
    assert launched["share"] is None, "False would overrule GRADIO_SHARE"
    assert "No public link" in capsys.readouterr().out


def test_a_public_link_warns_of_what_it_lets_others_do(launched, capsys, monkeypatch):
    launched["public"] = PUBLIC
    monkeypatch.setattr(app.flags, "share", True)
    app.main()
    said = capsys.readouterr().out
    assert launched["share"] is True
    assert PUBLIC in said
    assert "can run measurements and training" in said
    assert "No public link" not in said
    assert context().public_url == PUBLIC, "previews name it"


@pytest.mark.processes
def test_a_start_that_is_too_busy_to_answer_itself_goes_on(page, monkeypatch):
    from gradio import networking

    monkeypatch.setattr(networking, "url_ok", lambda url: False)
    try:
        _, local, _ = page.launch(prevent_thread_lock=True, **launch_options())
        assert local.startswith("http://127.0.0.1")
    finally:
        page.close()


DAMAGED = ["", "{", "[]", "{}", "null", '{"views": [{}], "examples": [1], "tables": [{}]}']


@pytest.mark.parametrize("damaged", DAMAGED)
def test_a_damaged_file_is_named_in_a_sentence(tmp_path, monkeypatch, damaged):
    path = tmp_path / "mini-bert" / "config.json"
    path.parent.mkdir()
    for file in (path, tmp_path / "gallery.json", tmp_path / "some.json"):
        file.write_text(damaged)
    monkeypatch.setattr(opening, "OPENING", tmp_path / "some.json")
    monkeypatch.setattr(routes, "DATA", tmp_path)
    monkeypatch.setattr(specs, "BUNDLED", tmp_path)
    for name, read in {
        "some.json": lambda: opening.show_opening(PageState(), [gr.HTML(), gr.HTML()]),
        "gallery.json": routes.tour_html,
        " some.json": lambda: examples.__wrapped__(tmp_path / "some.json"),
        "  some.json": lambda: ledger.benchmark_tables(tmp_path / "some.json"),
        "   some.json": lambda: ledger.claims_ledger(tmp_path / "some.json"),
        "mini-bert/config.json": lambda: specs._mini("bert", 1, 1),
    }.items():
        if "config" in name and damaged not in ("", "{", "null"):
            continue  # what a config leaves out has its usual value
        with pytest.raises(Broken, match=f"{name.strip()} is missing or damaged"):
            read()


def ended(*flags, cwd=ROOT, **environment):
    """How a start that cannot be ends: its exit code, and what it says."""
    done = subprocess.run(
        [sys.executable, "app.py", "--family", "mini", *flags],
        cwd=cwd,
        env=os.environ | {"HF_HUB_OFFLINE": "1", "GRADIO_ANALYTICS_ENABLED": "False"} | environment,
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.processes
def test_a_damaged_config_ends_the_start_in_one_line(tmp_path):
    (tmp_path / "explorer").symlink_to(ROOT / "explorer")
    shutil.copy(ROOT / "app.py", tmp_path)
    models = tmp_path / "assets" / "models"
    models.mkdir(parents=True)
    (models / "mini-bert").mkdir()
    (models / "mini-bert" / "config.json").write_text("{")
    code, said = ended(cwd=tmp_path)
    assert code == start.CANNOT
    assert said.startswith("assets/models/mini-bert/config.json is missing or damaged")
    assert said.count("\n") == 1


def build_on(models, monkeypatch, capsys):
    """How a start ends that finds these models: its exit code, and what it says."""
    monkeypatch.setattr(specs, "BUNDLED", models)
    with pytest.raises(SystemExit) as end, start.exit_with_sentence():
        launch.build(app.flags)
    return end.value.code, capsys.readouterr().err


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
@pytest.mark.parametrize("is_there", [True, False])
def test_half_a_bundled_file_or_none_ends_the_start_in_one_line(
    tmp_path, monkeypatch, capsys, name, is_there
):
    shutil.copytree(specs.BUNDLED, tmp_path / "models", copy_function=os.symlink)
    path = tmp_path / "models" / "mini-albert" / name
    content = path.read_bytes()
    path.unlink()
    if is_there:
        path.write_bytes(content[: len(content) // 2])
    code, said = build_on(tmp_path / "models", monkeypatch, capsys)
    assert code == start.CANNOT
    assert said.startswith(f"{path} is missing or damaged")
    assert said.count("\n") == 1


def test_models_elsewhere_need_no_files_here(tmp_path, monkeypatch):
    monkeypatch.setattr(specs, "BUNDLED", tmp_path)
    monkeypatch.setattr(launch, "use_models_at", lambda address: None)
    monkeypatch.setattr(app.flags, "models_at", "auto")
    monkeypatch.setattr(launch, "build_page", lambda *_: "the page")
    assert launch.build(app.flags) == "the page"


SENT = ("preview.png", "models/README.md")


@pytest.mark.parametrize(("name", "length"), [(SENT[0], None), (SENT[0], 1000), (SENT[1], None)])
def test_a_file_that_is_sent_as_it_lies_is_looked_at_before_the_page_is_served(
    tmp_path, monkeypatch, capsys, name, length
):
    (tmp_path / "models").mkdir()
    for one in SENT:
        shutil.copy(assets.ASSETS / one, tmp_path / one)
    path = tmp_path / name
    content = path.read_bytes()
    path.unlink()
    if length:
        path.write_bytes(content[:length])
    for module in (preview, routes):
        monkeypatch.setattr(module, "ASSETS", tmp_path)
    with pytest.raises(SystemExit) as end, start.exit_with_sentence():
        page.own_routes()
    assert end.value.code == start.CANNOT
    assert f"{path} is missing or damaged" in capsys.readouterr().err


@pytest.mark.parametrize("memory", ["-1", "0", "nan", "inf", "-inf", "0.01", "0.2"])
def test_memory_that_no_family_fits_into_is_refused(memory, capsys):
    with pytest.raises(SystemExit) as end:
        start.parse_flags([f"--memory={memory}"])
    assert end.value.code == start.CANNOT
    assert start.TOO_SMALL.format(least=least_memory()) in " ".join(capsys.readouterr().err.split())


def least_memory():
    """What the bundled models hold, whose files are of halves, and a pass of the largest."""
    weights = 2 * sum(
        (spec.bundled_path / "model.safetensors").stat().st_size for spec in specs.MINI.values()
    )
    bert = specs.MINI["bert"]
    return math.ceil((weights + running_bytes(bert)) / 1e7) / 100


def test_the_least_memory_that_is_taken_is_enough_for_the_family(monkeypatch, tiny_family):
    configure(memory_limit=0.0)
    start.parse_flags(["--memory", f"{least_memory():.2f}"])
    assert context().memory_limit == least_memory() * 1e9
    runs, missing = get_runs(PageState(text="The cat sat on the [MASK].").ask)
    assert (list(runs), missing) == (list(specs.MODEL_KEYS), {})


def test_a_port_that_is_taken_ends_the_start_in_one_line(monkeypatch, capsys):
    monkeypatch.setattr(launch, "signal_waiter", ended_already)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        monkeypatch.setattr(app.flags, "port", port)
        with pytest.raises(SystemExit) as end:
            app.main()
    assert end.value.code == start.CANNOT
    assert capsys.readouterr().err == f"{start.IN_USE.format(port=port)}\n"


@pytest.mark.processes
@pytest.mark.parametrize(
    ("host", "port"), [("192.0.2.1", 8080), ("127.0.0.1", 70_000), ("127.0.0.1", 0), ("a b", 1)]
)
def test_an_address_that_is_none_of_this_machines_is_said(host, port):
    with pytest.raises(start.CannotStart, match="Cannot listen on"):
        start.check_port(host, port)


@pytest.mark.processes
def test_a_free_port_is_taken_as_it_is():
    start.check_port(None, free_port())
    start.check_port("[::1]", None)


def test_a_public_address_that_is_none_is_said(monkeypatch):
    monkeypatch.setattr(app.flags, "public_url", "example.org")
    monkeypatch.setattr(launch, "signal_waiter", ended_already)
    with pytest.raises(SystemExit) as end:
        app.main()
    assert end.value.code == start.CANNOT


@pytest.mark.parametrize("name", ["GRADIO_TEMP_DIR", "TMPDIR"])
def test_a_folder_that_cannot_be_written_is_said(monkeypatch, name):
    monkeypatch.setattr(start.tempfile, "tempdir", None)
    monkeypatch.setattr(start.tempfile, "_candidate_tempdir_list", lambda: ["/proc/none"])
    monkeypatch.setenv(name, "/proc/none")
    with pytest.raises(start.CannotStart, match="No temporary file can be written to /proc/none"):
        start.check_machine()


def test_the_folder_of_temporary_files_is_made_with_those_above_it(monkeypatch, tmp_path):
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "above" / "below"))
    start.check_machine()
    assert (tmp_path / "above" / "below").is_dir()


def test_too_little_memory_is_said_before_anything_is_loaded(monkeypatch, capsys):
    monkeypatch.setattr(start, "free_memory", lambda: 0.2e9)
    with pytest.raises(SystemExit) as end, start.exit_with_sentence():
        launch.build(app.flags)
    assert end.value.code == start.CANNOT
    assert "0.2 GB can still be taken" in capsys.readouterr().err


def test_the_page_says_that_memory_is_short(monkeypatch):
    for free, says in ((0.9e9, True), (1.1e9, False)):
        monkeypatch.setattr(process_memory, "free_memory", lambda free=free: free)
        assert (strings.LITTLE_MEMORY in header_html(PageState())) == says


@pytest.mark.processes
def test_a_limit_of_the_process_is_seen():
    code = "from explorer.timing.memory import free_memory; print(free_memory())"
    limited = f"ulimit -v 2000000; {sys.executable} -c '{code}'"
    said = subprocess.check_output(["bash", "-c", limited], cwd=ROOT, text=True)
    assert 1e9 < float(said) < 2000000 * 1024


REQUESTS = [
    ("parameters", [["distilbert-base-uncased", "mini-albert"]]),
    ("predict", ["The cat sat on the [MASK].", "mini", 3]),
    ("attention", ["The cat sat on the mat.", "mini", "albert", 0, 0]),
    ("distillation", ["The cat sat on the [MASK].", "mini", 2.0]),
    ("parameters", [["mini-bert", "mini-distilbert"]]),
    ("predict", ["A [MASK] is not a [MASK].", "mini", 50]),
    ("latency", ["mini", 8, 1, 1, "cpu", "float32"]),
    ("attention", ["The nurse was tired.", "mini", "bert", 1, 2]),
]
N_THREADS = 8
STOPPING = {"detail": limits.STOPPING.sentence(), "code": "stopping"}
AT_FIRST = [REQUESTS[0]] * N_THREADS + REQUESTS + [one for one in REQUESTS if one[0] != "latency"]
"""/parameters alone at first: it reaches for transformers sooner than the others."""


class Running:
    """``python app.py`` itself, and how it is asked."""

    def __init__(self, log):
        self.log, port = log, free_port()
        self.url = f"http://127.0.0.1:{port}"
        environment = os.environ | {"HF_HUB_OFFLINE": "1", "GRADIO_ANALYTICS_ENABLED": "False"}
        command = [sys.executable, "app.py", "--port", str(port), "--family", "mini"]
        with log.open("w") as out:
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=out, stderr=out
            )
        self.http = httpx.Client(base_url=self.url, timeout=600)
        until(self.answers)

    def answers(self):
        assert self.process.poll() is None, self.log.read_text()
        try:
            return self.http.get("/gradio_api/startup-events").status_code == 200
        except httpx.HTTPError:
            return False

    def post(self, name, *values):
        return self.http.post(f"/gradio_api/call/{name}", json={"data": values})

    def end_of(self, name, values):
        """The last event of one request to a named endpoint: ``complete`` or ``error``."""
        with httpx.Client(base_url=self.url, timeout=600) as http:
            call = f"/gradio_api/call/{name}"
            event = http.post(call, json={"data": values}).json()["event_id"]
            said = http.get(f"{call}/{event}").text
        return re.findall(r"^event: (\w+)", said, re.MULTILINE)[-1]

    @contextmanager
    def measuring(self, *values):
        """What /latency says, from the moment on at which its work has begun."""
        events = self.http.get("/config").json()["dependencies"]
        (number,) = (event["id"] for event in events if event["api_name"] == "latency")
        body = {"data": values, "fn_index": number, "session_hash": "end"}
        self.http.post("/gradio_api/queue/join", json=body).raise_for_status()
        data = {"session_hash": "end"}
        with self.http.stream("GET", "/gradio_api/queue/data", params=data) as stream:
            lines = stream.iter_lines()
            next(line for line in lines if "process_starts" in line)
            yield lines

    def kill(self):
        self.http.close()
        self.process.kill()
        self.process.wait()


def failures_at_first(running):
    """What failed of the requests that came in the instant the port answered."""
    with ThreadPoolExecutor(N_THREADS) as pool:
        ends = list(pool.map(lambda one: running.end_of(*one), AT_FIRST))
    return [f"{name}: {e}" for (name, _), e in zip(AT_FIRST, ends, strict=True) if e != "complete"]


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """A start, and what failed of the requests of its first instant."""
    running = Running(tmp_path_factory.mktemp("first") / "log")
    yield running, failures_at_first(running)
    running.kill()


@pytest.mark.processes
def test_the_requests_of_the_first_instant_are_all_answered(first):
    running, failures = first
    assert failures == [], running.log.read_text()[-3000:]


@pytest.mark.slow
def test_ten_starts_under_fire_lose_no_request(tmp_path):
    lost = []
    for number in range(10):
        running = Running(tmp_path / str(number))
        lost += failures_at_first(running)
        running.kill()
    assert lost == []


@pytest.mark.processes
def test_an_end_is_said_to_those_who_wait_and_to_those_who_come(first):
    running, _ = first
    with running.measuring("mini", 512, 8, 200, "cpu", "float32") as lines:
        told = []

        def ask():
            with suppress(httpx.HTTPError):  # in the end nobody listens
                while True:
                    told.append(running.post("predict", "a [MASK]").json())

        # Until the signal is heard, questions are taken, as many as one address may have waiting.
        asker = threading.Thread(target=ask, daemon=True)
        asker.start()
        running.process.send_signal(signal.SIGTERM)
        said = "".join(lines)
    asker.join(300)
    assert STOPPING in told
    assert limits.STOPPING.sentence() in said
    assert running.process.wait(300) == 0
    assert "Traceback" not in running.log.read_text()


TO_ANOTHER_THREAD = """
import signal, threading
from explorer.serving.start import leave_out_stubs

leave_out_stubs()
from explorer.serving.launch import signal_waiter

wait_for_end = signal_waiter()


def end():
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
    threading.Event().wait()


threading.Thread(target=end, daemon=True).start()
wait_for_end()
print("heard")
"""


@pytest.mark.processes
def test_a_signal_that_the_kernel_hands_to_another_thread_is_heard():
    command = [sys.executable, "-c", TO_ANOTHER_THREAD]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert (run.returncode, run.stdout) == (0, "heard\n"), run.stderr


@pytest.mark.processes
def test_what_runs_has_a_moment_to_end(tmp_path):
    running = Running(tmp_path / "log")
    try:
        with running.measuring("mini", 8, 1, 2, "cpu", "float32") as lines:
            running.process.send_signal(signal.SIGTERM)
            (said,) = (line for line in lines if "process_completed" in line)
        output = json.loads(said.removeprefix("data:"))["output"]
        # On a machine that is slow enough it is not over in time, and that is said.
        assert output.get("error") == limits.STOPPING.sentence() or output["data"][0]["models"]
        assert running.process.wait(300) == 0
    finally:
        running.kill()


ITS_TABLES = """
import sys
from explorer.serving.start import leave_out_stubs

leave_out_stubs()
import explorer.ui.shell.page
print("pandas" in sys.modules, "pyarrow" in sys.modules)
from gradio import caching
import pandas
print(caching.pd.DataFrame is pandas.DataFrame, sys.modules["pandas"] is pandas)
print(caching.pd is not pandas, isinstance(pandas.DataFrame(), caching.pd.DataFrame))
"""


@pytest.mark.processes
def test_the_page_imports_pandas_only_where_a_table_uses_it():
    command = [sys.executable, "-c", ITS_TABLES]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert run.stdout.splitlines() == ["False False", "True True", "True True"], run.stderr


ITS_LOSSES = """
import sys
from explorer.serving.start import leave_out_stubs

leave_out_stubs()
from transformers import BertForPreTraining
from transformers.loss import loss_for_object_detection as losses
print("scipy.optimize" in sys.modules)
costs = [[4, 1, 3], [2, 0, 5], [3, 2, 2]]
rows, columns = losses.linear_sum_assignment(costs)
print(rows.tolist(), columns.tolist(), "scipy.optimize" in sys.modules)
from scipy.optimize import linear_sum_assignment, minimize_scalar
print(linear_sum_assignment(costs, maximize=True)[1].tolist())
print(losses.linear_sum_assignment(costs, maximize=True)[1].tolist())
"""


@pytest.mark.processes
def test_the_page_imports_scipy_optimize_only_where_it_is_called():
    command = [sys.executable, "-c", ITS_LOSSES]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    lines = ["False", "[0, 1, 2] [1, 0, 2] True", *["[0, 2, 1]"] * 2]
    assert run.stdout.splitlines() == lines, run.stderr


@pytest.mark.parametrize("used", ["heavy.number", "heavy.twice(21)"])
def test_what_is_needed_during_an_import_is_imported_at_once(used, monkeypatch, tmp_path):
    (tmp_path / "heavy.py").write_text("number = 42\ndef twice(n): return 2 * n\n")
    (tmp_path / "eager.py").write_text(f"import heavy\nvalue = {used}\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(start.LATER, "eager", ("heavy", ("twice",)))
    monkeypatch.setitem(start.LOADERS, "eager", start._WithoutOthers)
    try:
        assert importlib.import_module("eager").value == 42
        assert sys.modules["heavy"].__file__ == str(tmp_path / "heavy.py")
    finally:
        for name in ("eager", "heavy"):
            sys.modules.pop(name, None)
