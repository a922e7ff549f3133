"""Whether there is room for one more question, by the address that asks."""

import ipaddress
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from explorer import limits
from explorer.limits import Limit

SIXTEEN = 16
"""What ``limits.ADDRESS`` is counted out of."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Who has asked a question."""

    address: str
    session: str
    is_program: bool


@lru_cache(maxsize=1024)
def account_of(host: str) -> str:
    """Whose an address is: one alone in IPv4, the whole /64 that a subscriber has in IPv6."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv6Address):
        mapped = address.ipv4_mapped
        return str(mapped or ipaddress.ip_network((address, 64), strict=False))
    return str(address)


def exceeded(asker: Asker, waiting: Collection[Asker]) -> tuple[Limit, int] | None:
    """Return the limit that keeps a question out, and what is held of it; None where there is room.

    There are 64 places for questions that wait, and programs may hold 32 of them. Any free place is
    for an address that holds less than its share: the places divided by the addresses that hold
    some or ask for one, and at the least by two. An address that has its share may hold more, but
    leaves the last sixteenth of the places (4 of 64, 2 of 32) to others. So

    - an address that is alone gets all places but 4 of the 64, and all but 2 of the 32;
    - one that holds none is never refused while a place is free, and no address alone can take the
      last places from it;
    - as others come the share of each shrinks, and they get the next places until all hold about
      as many;
    - a question that has been taken keeps its place until it is begun or its asker leaves.

    A page may hold 16 places.
    """
    programs = [one for one in waiting if one.is_program]
    rooms = [(limits.QUESTIONS, waiting)]
    rooms += [(limits.PROGRAMS, programs)] if asker.is_program else []
    for limit, inside in rooms:
        free = limit.most - len(inside)
        if free <= 0:
            return limit, len(inside)
        held = Counter(one.address for one in inside)
        mine = held[asker.address]
        share = limit.most // max(2, len(held.keys() | {asker.address}))
        if mine >= share and len(inside) >= limit.most * limits.ADDRESS.most // SIXTEEN:
            return limits.ADDRESS, mine
    own = sum(one.session == asker.session and not one.is_program for one in waiting)
    if not asker.is_program and own >= limits.PAGE.most:
        return limits.PAGE, own
    return None
