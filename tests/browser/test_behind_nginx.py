"""Two real pages behind the committed nginx configuration, for browsers and programs."""

import pytest

from benchmarks import start
from benchmarks.load import ask_all
from benchmarks.proxy import behind_nginx
from benchmarks.questions import questions, same
from tests.deploy.test_nginx import skipped

pytestmark = [pytest.mark.browser, pytest.mark.slow, skipped]


def test_two_real_pages_answer_browsers_and_programs_as_one_does(tmp_path, chromium):
    """Round robin answered no browser of four, and eight of twelve programs."""
    asked = questions(24)
    with start.app() as (one, _), start.app() as (other, _):
        start.wait_for(one)
        start.wait_for(other)
        alone, _ = ask_all(one, asked, 1)
        ports = [url.rpartition(":")[2] for url in (one, other)]
        with behind_nginx(ports, tmp_path) as address:
            many, _ = ask_all(address, asked, 12)
            assert [answer.failure for answer in many] == [""] * len(asked)
            assert all(same(a.said, b.said) for a, b in zip(alone, many, strict=True))
            for number in range(4):
                page = chromium.new_context().new_page()
                page.goto(f"{address}/?text=Number+{number}+is+a+[MASK].&tab=depth")
                page.wait_for_selector("#tab-depth .dp-strip", timeout=60_000)
                page.context.close()
