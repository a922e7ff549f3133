"""Address of this machine in its network, for the browsers of a class."""

import io
import socket

import segno

from explorer.ui.kit import strings

ANYWHERE = ("192.0.2.1", 9)
"""An address reserved for documentation (RFC 5737); no packet is sent to it."""
EVERY_INTERFACE = ("0.0.0.0", "::", "")
PATIENCE_S = 2.0


def for_others(host: str | None, port: int, *, with_code: bool) -> str:
    """Return the lines of a start for who wants to open the page on another machine.

    Args:
        host: The host that the page is served on; None is this machine only.
        port: The port that the page is served on.
        with_code: True: a QR code of the address is below it.

    Returns:
        The address in the network and whether the page answers there; empty for a page that only
        this machine can open.
    """
    if host is None or host not in EVERY_INTERFACE:
        return ""
    address = own_address()
    if address is None:
        return strings.NO_NETWORK
    url = f"http://{address}:{port}"
    said = strings.IN_NETWORK if answers_at(address, port) else strings.NOT_IN_NETWORK
    return said.format(url=url) + (code_of(url) if with_code else "")


def own_address() -> str | None:
    """Return the address from which this machine would leave its network; None without one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(ANYWHERE)  # chooses the interface, and sends nothing
        except OSError:
            return None
        address = str(probe.getsockname()[0])
    return None if address.startswith("127.") else address


def answers_at(address: str, port: int) -> bool:
    """Return whether something accepts connections there."""
    try:
        socket.create_connection((address, port), PATIENCE_S).close()
    except OSError:
        return False
    return True


def code_of(url: str) -> str:
    """Return an address as a QR code of half blocks, two rows of modules to a line."""
    drawn = io.StringIO()
    segno.make_qr(url, error="m").terminal(drawn, compact=True)
    return drawn.getvalue()
