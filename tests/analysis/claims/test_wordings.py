"""Wordings of one claim: the first is named by all, and they say the same number of one model."""

from explorer.analysis.claims.ledger import claims_ledger


def test_every_wording_names_a_first_claim_with_the_same_models_topic_and_numbers():
    claims = {claim.id: claim for claim in claims_ledger().claims}
    wordings = [claim for claim in claims.values() if claim.same]
    for one in wordings:
        first = claims[one.same]
        assert not first.same, "the first of its kind is no wording of another"
        assert (one.models, one.topic, one.live) == (first.models, first.topic, first.live)


def test_the_five_of_sixty_per_cent_are_wordings_of_one():
    told = {c.id: c.same for c in claims_ledger().claims if "60% faster" in c.claim}
    assert list(told.values()).count("A01") == 3, "one more speaks of GLUE, which is not the same"
    assert told["A01"] == ""
    assert len(told) == 5
