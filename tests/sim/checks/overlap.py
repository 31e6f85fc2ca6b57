"""Overlap is kept: as the target sees it, no two fires of such a trigger run at once.

Left out is what the documentation leaves open: a run longer than its run timeout, and a fire that
was tried more than once or whose try was ambiguous, since an earlier request may still be at work,
and a run by hand that was forced past one under way.
"""

import json
from collections import Counter, defaultdict

from scheduling.vocabulary import OverlapPolicy
from tests.sim.evidence import Evidence, TriggerKey, fire_key
from tests.support.scripted_target import Receipt


def check(evidence: Evidence) -> list[str]:
    """By the receipts of fires whose version forbids overlap."""
    runs: dict[TriggerKey, list[Receipt]] = defaultdict(list)
    tries = Counter(receipt.fire.key for receipt in evidence.receipts)
    attempts = {fire_key(row): row for row in evidence.tables["attempt"]}
    forced = _forced(evidence)
    for receipt in evidence.receipts:
        fire = receipt.fire
        key = (fire.key.tenant_id, fire.key.trigger_id)
        version = evidence.version(key, fire.version)
        attempt = attempts.get(fire.key)
        is_plain = (
            tries[fire.key] == 1
            and str(fire.key) not in forced
            and receipt.answer.runs
            and attempt is not None
            and attempt["n"] == 1
            and attempt["transport_result"] == "response"
            and receipt.at_us <= fire.claimed_until_us
        )
        if is_plain and version["overlap_policy"] != OverlapPolicy.ALLOW:
            runs[key].append(receipt)
    problems: list[str] = []
    for key, receipts in runs.items():
        ends_us, holder = 0, None
        for receipt in receipts:
            if receipt.at_us < ends_us:
                problems.append(f"runs at once: {holder} and {receipt.fire.key}")
            run_ends_us = _slot_ends_us(evidence, key, receipt)
            if run_ends_us > ends_us:
                ends_us, holder = run_ends_us, receipt.fire.key
    return problems


def _forced(evidence: Evidence) -> set[str]:
    """The runs of which the audit says so."""
    priors = [
        json.loads(row["prior_value"])
        for row in evidence.tables["audit_entry"]
        if row["action"] == "trigger_run"
    ]
    return {prior["fire_key"] for prior in priors if prior["forced_past_a_run"]}


def _slot_ends_us(evidence: Evidence, key: TriggerKey, receipt: Receipt) -> int:
    """When the run ends, or stops counting; a response that is the outcome ends it."""
    version = evidence.version(key, receipt.fire.version)
    if version["response_is_outcome"]:
        return receipt.at_us
    # From the claim on, which may lie behind by the clocks' error; the request followed it.
    timeout_us: int = receipt.at_us + version["run_timeout_s"] * 1_000_000 - 30_000_000
    ends_us = timeout_us if receipt.run_ends_us is None else receipt.run_ends_us
    return min(ends_us, timeout_us)
