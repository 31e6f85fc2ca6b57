"""mark_queued: what was just published, and only that."""

from ports.records import LaneMessage
from scheduling.vocabulary import Lane
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import BUSY, HandCrank
from tests.support.store_builders import at


def test_mark_queued_moves_published_fires_and_counts_them(crank: HandCrank) -> None:
    crank.put()
    messages = crank.commit_at(60, 120)
    assert crank.store.ledger.mark_queued(messages, now_us=at(121)) == 2
    assert crank.lines() == ["60 queued", "120 queued"]
    assert [fire.queued_us for fire in crank.fires()] == [at(121)] * 2


def test_mark_queued_repeated_changes_nothing(crank: HandCrank, peek: StorePeek) -> None:
    crank.put()
    messages = crank.commit_at(60)
    crank.store.ledger.mark_queued(messages, now_us=at(61))
    before = peek.content()
    assert crank.store.ledger.mark_queued(messages, now_us=at(62)) == 0
    assert peek.content() == before


def test_mark_queued_after_the_claim_or_for_an_older_attempt_changes_nothing(
    crank: HandCrank,
) -> None:
    crank.put()
    messages = crank.commit_at(60)
    crank.claim(messages)
    assert crank.store.ledger.mark_queued(messages, now_us=at(61)) == 0
    crank.finish(crank.key(60), result=BUSY)
    crank.to(100)
    assert len(crank.sweep()) == 1
    assert crank.store.ledger.mark_queued(messages, now_us=at(100)) == 0
    assert crank.lines() == ["60 ready"]


def test_mark_queued_of_unknown_or_no_fires_marks_none(crank: HandCrank) -> None:
    crank.put()
    unknown = LaneMessage(crank.key(60), Lane.ON_TIME, 1)
    assert crank.store.ledger.mark_queued([unknown], now_us=at(60)) == 0
    assert crank.store.ledger.mark_queued([], now_us=at(60)) == 0
