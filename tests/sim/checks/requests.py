"""A request that is repeated with its key has one effect, and is answered as before."""

from dataclasses import replace

from ports.changes import ChangeResult
from tests.sim.desk import NOTHING_TO_DO, Answer
from tests.sim.evidence import Evidence, applied

TRY_AGAIN = 503


def check(evidence: Evidence) -> list[str]:
    """By what the registry did for each key, and by what the clients heard."""
    problems: list[str] = []
    first: dict[str, tuple[int, list[ChangeResult]]] = {}
    for index, call in applied(evidence):
        request = call.arguments["request"]
        if request is None:
            continue
        if not all(result.replayed for result in call.result):
            if request.key in first:
                problems.append(f"made twice: {request.key} {request.fingerprint}")
            first.setdefault(request.key, (index, call.result))
        elif request.key not in first:
            problems.append(f"replayed but never made: {request.key}")
        elif call.result != [replace(each, replayed=True) for each in first[request.key][1]]:
            problems.append(f"replayed as something else: {request.key}")
    return problems + _answers(evidence, first)


def _answers(evidence: Evidence, first: dict[str, tuple[int, list[ChangeResult]]]) -> list[str]:
    """A success without a change is one that confirmed what is there, by a dry run or a word."""
    problems: list[str] = []
    for answer in evidence.answers:
        made_at = first[answer.key][0] if answer.key in first else None
        if answer.is_success and made_at is None and not _has_confirmed(evidence, answer):
            problems.append(f"answered {answer.status}, but nothing was made: {answer.key}")
        if made_at is None or made_at >= answer.calls_before or answer.status == TRY_AGAIN:
            continue
        if not answer.is_success:
            problems.append(f"made, then refused with {answer.status}: {answer.key} {answer.text}")
        elif not answer.replayed:
            problems.append(f"made before, but not told so: {answer.key}")
    return problems


def _has_confirmed(evidence: Evidence, answer: Answer) -> bool:
    return answer.text == NOTHING_TO_DO or any(
        call.name == "registry.apply" and call.arguments.get("dry_run")
        for call in evidence.calls[answer.calls_before :]
    )
