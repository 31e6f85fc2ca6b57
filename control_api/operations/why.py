"""Why a trigger fired, did not, or has not yet: one sentence an instant."""

from control_api.answers.fire_rows import attempt_out, fire_out, newest_fire
from control_api.answers.why import why
from control_api.answers.why_reader import FactReader
from control_api.answers.zone_times import local_text, read_instant
from control_api.call import Call
from control_api.operations.finding import trigger_of
from control_api.problems import ApiProblem, FieldProblem
from control_api.replies import Reply
from scheduling.vocabulary import TriggerState
from schemas.api.why import About, WhyAnswer, WhyOut


def why_trigger(call: Call, tenant_id: str, name: str, *, instant: str | None) -> Reply[WhyOut]:
    """About an instant or a local time of the trigger's zone; else about the newest and the next.

    A deleted trigger is found by its id.
    """
    trigger = trigger_of(call, tenant_id, name, deleted=True)
    reader = FactReader(call.services.store, trigger, at_us=call.now_us())
    try:
        answers = newest_and_next(reader) if instant is None else about(reader, instant)
    except ValueError as error:
        detail = str(error)
        fields = [FieldProblem("instant", detail.removeprefix("instant: "))]
        raise ApiProblem(422, "invalid", detail, fields=fields) from None
    return Reply(
        body=WhyOut(
            tenant=trigger.tenant_id,
            trigger=trigger.name,
            trigger_id=trigger.trigger_id,
            zone=reader.zone,
            answers=answers,
        )
    )


def about(reader: FactReader, instant: str) -> list[WhyAnswer]:
    """The answers about what a person wrote: two where the local time comes twice.

    ValueError, which says what to write, for what is neither an instant nor a local time.
    """
    reading = read_instant(instant, reader.zone, field="instant")
    first: About = "asked"
    if reading.skipped:
        first = "after_gap"
    elif len(reading.instants_us) > 1:
        first = "first_pass"
    return [
        _answer(reader, first if number == 0 else "second_pass", instant_us)
        for number, instant_us in enumerate(reading.instants_us)
    ]


def newest_and_next(reader: FactReader) -> list[WhyAnswer]:
    """The answers about the newest fire and the next instant, as far as there are such."""
    told: list[WhyAnswer] = []
    trigger = reader.trigger
    newest = newest_fire(reader.store.history, reader.key)
    if newest is not None:
        instant_us = newest.key.scheduled_us if newest.through_us is None else newest.through_us
        told.append(_answer(reader, "newest", instant_us))
    next_us = reader.next_instant()
    if next_us is not None:
        told.append(_answer(reader, "next", next_us))
    elif trigger.state in (TriggerState.QUARANTINED, TriggerState.DELETED):
        # Its rule names no instant any more: what holds now holds for all that are ahead.
        told.append(_answer(reader, "now", max(reader.at_us, trigger.decided_through_us + 1)))
    elif newest is None or trigger.state is TriggerState.FINISHED:
        told.append(_nothing_left(reader))
    return told


def _answer(reader: FactReader, kind: About, instant_us: int) -> WhyAnswer:
    facts = reader.facts(instant_us)
    answer = why(facts)
    return WhyAnswer(
        about=kind,
        answer=answer.kind,
        sentence=answer.sentence,
        trigger=facts.subject,
        instant=instant_us,
        instant_local=local_text(facts.zone, instant_us),
        fire=None if facts.row is None else fire_out(facts.row, facts.zone, facts.chain),
        attempts=[attempt_out(attempt) for attempt in facts.attempts],
    )


def _nothing_left(reader: FactReader) -> WhyAnswer:
    name = f"{reader.trigger.tenant_id}/{reader.trigger.name}"
    return WhyAnswer(
        about="next",
        answer="not_due",
        sentence=f"{name} has no instant left: its schedule has ended, or it has fired its limit.",
        trigger=name,
        instant=None,
        instant_local=None,
        fire=None,
        attempts=[],
    )
