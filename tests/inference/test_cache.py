"""The cache of results: what it keeps, and what is computed once."""

from explorer.inference.cache import ResultCache


def test_a_result_of_nothing_is_kept_too():
    cache, computed = ResultCache(), []
    for _ in range(2):
        assert cache.memo(("none", 1), lambda: computed.append(1)) is None
    assert computed == [1]
    assert cache.memo(("none", 2), lambda: 0) == cache.memo(("none", 2), lambda: 1) == 0
