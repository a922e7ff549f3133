"""Two real pages behind the committed nginx configuration, for browsers and programs."""

import pytest

from benchmarks import start
from benchmarks.load import send_all
from benchmarks.proxy import behind_nginx
from benchmarks.questions import is_same, page_requests
from tests.deploy.test_nginx import skipped

pytestmark = [pytest.mark.browser, pytest.mark.slow, skipped]


def test_two_real_pages_answer_browsers_and_programs_as_one_does(tmp_path, chromium):
    """Round robin answered no browser of four, and eight of twelve programs."""
    asked = page_requests(24)
    with start.app() as (one, _), start.app() as (other, _):
        start.wait_for(one)
        start.wait_for(other)
        alone, _ = send_all(one, asked, 1)
        ports = [url.rpartition(":")[2] for url in (one, other)]
        with behind_nginx(ports, tmp_path) as address:
            many, _ = send_all(address, asked, 12)
            assert [answer.failure for answer in many] == [""] * len(asked)
            assert all(is_same(a.text, b.text) for a, b in zip(alone, many, strict=True))
            for number in range(4):
                page = chromium.new_context().new_page()
                page.goto(f"{address}/?text=Number+{number}+is+a+[MASK].&tab=depth")
                page.wait_for_selector("#tab-depth .dp-strip", timeout=60_000)
                page.context.close()
