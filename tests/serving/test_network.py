"""What a start prints for other machines: their address, whether it answers, and its QR code."""

import socket

import pytest
import zxingcpp
from PIL import Image

from explorer.serving import network
from explorer.serving.network import code_of, for_others


@pytest.fixture
def port():
    """A port of this machine that accepts connections."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize("host", [None, "127.0.0.1", "localhost", "::1"])
def test_a_page_of_this_machine_only_names_no_other_address(host):
    assert for_others(host, 7860, with_code=True) == ""


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_the_address_in_the_network_is_named_and_whether_it_answers(host, port, monkeypatch):
    monkeypatch.setattr(network, "own_address", lambda: "127.0.0.1")
    assert for_others(host, port, with_code=False) == (
        f"Other machines of this network open http://127.0.0.1:{port}\n"
    )
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        free = closed.getsockname()[1]
        assert "does not answer" in for_others(host, free, with_code=False)


def test_a_machine_without_a_network_is_told_so(monkeypatch):
    def unreachable(*_):
        raise OSError("Network is unreachable")

    monkeypatch.setattr(network.socket.socket, "connect", unreachable)
    assert "no network" in for_others("0.0.0.0", 7860, with_code=True)


def test_the_code_in_a_terminal_is_read_as_the_address():
    url = "http://192.168.178.23:7860"
    lines = code_of(url).splitlines()
    rows = [row for line in lines for row in (_halves(line, "\u2580"), _halves(line, "\u2584"))]
    image = Image.new("L", (len(rows[0]), len(rows)))
    image.putdata([255 * lit for row in rows for lit in row])
    large = image.resize((image.width * 8, image.height * 8), Image.Resampling.NEAREST)
    assert [found.text for found in zxingcpp.read_barcodes(large)] == [url]


def _halves(line, half):
    """Return for each character whether the half of it that a block names is lit."""
    return [c in {half, "\u2588"} for c in line]
