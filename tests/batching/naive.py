#!/usr/bin/env python3
"""A second implementation of batching, to hold the real one against.

    naive.py replay --strategy rasb --threshold 0.3 --start 100@0 FILE
    naive.py decide --state state.json --pushlog FILE --push ID --strategy … [--record]

It is written from the spec alone, to be obviously right and never fast: every
decision is computed anew from the log, with no running sum, in the exact
mathematics of 50 digits. Only where the rounding of rule 9 (scores up,
thresholds down) could make a decision differ from that, which is seen by how
close a mass is to its threshold, is the rule followed to the letter (see
cadences.py).

`--forecast` is the expected hours from a push to the next, which the spec leaves
to its user: one number, or several that repeat, one for each hour since time 0
(168 for a week).

Exit codes: 0 (a batch, or a replay that ended), 10 skip, 75 a score is missing,
1 bad input, 2 a command line that is not understood.
"""

import argparse
import json
import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from cadences import BRANCHES, STRATEGIES, BadInput, Batch, Cadence, NotYet, Push, due, due_alone

BATCH, BAD_INPUT, SKIP, NOT_YET = 0, 1, 10, 75


@dataclass(frozen=True)
class Decision:
    push: Push  # with a clamped date
    batched: bool
    reason: str
    score: float | None = None
    cold_start: bool = False
    replayed_from: int | None = None
    recorded: bool = True  # the next batch is counted from this one, if it is one

    def batch(self):
        return Batch(self.push.id, self.push.date, self.push.head_rev)

    def json(self):
        return {
            "pushlog_id": self.push.id,
            "batched": self.batched,
            "cold_start": self.cold_start,
            "score": self.score,
            "replayed_from": self.replayed_from,
            "reason": self.reason,
        }


def clamped(pushes, latest=None):
    """No date before the latest so far (rule 10)."""
    before = [] if latest is None else [latest]
    return [replace(push, date=max(before + [p.date for p in pushes[: at + 1]])) for at, push in enumerate(pushes)]


def anchors(log, batches, every):
    """The first push that may be a batch with id >= k * every, for each k."""
    known = {push.id for push in log if push.may_be_batch} | {batch.id for batch in batches}
    return [id for id in known if not any(id // every * every <= other < id for other in known)]


def judge(cadence, last, since, is_anchor, replayed_from):
    """The decision on the last of the pushes since the batch `last`."""
    push = since[-1]
    since = clamped(since, last.date)
    is_due, score = due(cadence, last, since)
    if not push.may_be_batch:
        return Decision(since[-1], False, "DONTBUILD", score, replayed_from=replayed_from)
    if is_anchor:
        # A chain of its own begins here, also for a run that knows nothing earlier: so its date is not clamped.
        return Decision(push, True, "anchor", score, replayed_from=replayed_from)
    if not is_due and due_alone(cadence, push):
        return Decision(since[-1], True, "due by its id", score, replayed_from=replayed_from, recorded=False)
    return Decision(since[-1], is_due, "due" if is_due else "not due", score, replayed_from=replayed_from)


def judge_alone(cadence, push):
    """The decision of a stateless cadence."""
    if not push.may_be_batch:
        return Decision(push, False, "DONTBUILD")
    batched = due_alone(cadence, push)
    return Decision(push, batched, "due" if batched else "not due", recorded=False)


def cold_start(push):
    """Rule 5: a batch at once, unless rule 2 forbids it. It begins a chain, so its date is not clamped."""
    if not push.may_be_batch:
        return Decision(push, False, "DONTBUILD leaves the cold start to the next push")
    return Decision(push, True, "cold start", cold_start=True)


def replay(cadence, start, log, every=None):
    """The decisions on every push after the batch `start`, or on all without one."""
    known = anchors(log, [start] if start else [], every) if every else []
    pushes = [push for push in log if start is None or push.id > start.id]
    if cadence.stateless:
        return [judge_alone(cadence, push) for push in clamped(pushes, start.date if start else None)]
    decisions = []
    for at, push in enumerate(pushes):
        batches = ([start] if start else []) + recorded_by(decisions)
        if not batches:
            decisions.append(cold_start(push))
            continue
        since = [p for p in pushes[: at + 1] if p.id > batches[-1].id]
        decisions.append(judge(cadence, batches[-1], since, push.id in known, batches[0].id))
    return decisions


def recorded_by(decisions):
    return [decision.batch() for decision in decisions if decision.batched and decision.recorded]


@dataclass(frozen=True)
class Run:
    decision: Decision
    found: tuple  # the batches to record, up to the push, itself included
    stale: bool = False


def decide(cadence, recorded, log, push_id, max_replayed=1000, every=None):
    """One run for one push, from the batches recorded so far."""
    log = [push for push in log if push.id <= push_id]
    if not log or log[-1].id != push_id:
        raise BadInput(f"push {push_id} is not in the pushlog")
    push = log[-1]
    if cadence.stateless:
        return run_of([judge_alone(cadence, push)])
    if recorded and push.id < min(batch.id for batch in recorded):
        return Run(Decision(push, False, "stale: older than the oldest batch that is kept"), (), stale=True)

    before = [batch for batch in recorded if batch.id < push.id]
    if not before and push.id in [batch.id for batch in recorded]:
        return Run(Decision(push, True, "recorded as a batch; what was before it is not kept"), ())
    start = max(before, key=lambda batch: batch.id, default=None)
    if start and len([p for p in log if p.id > start.id]) > max_replayed:
        start = None
    if start:
        return run_of(replay(cadence, start, log, every))

    newest = max(anchors(log, before, every), default=None) if every else None
    if newest is None:
        return run_of([cold_start(push)])
    if start := next((batch for batch in before if batch.id == newest), None):
        return run_of(replay(cadence, start, log, every))
    anchor = next(p for p in log if p.id == newest)
    anchor = Decision(anchor, True, "anchor")
    return run_of([anchor] + replay(cadence, anchor.batch(), log, every))


def run_of(decisions):
    return Run(decisions[-1], tuple(recorded_by(decisions)))


def merged(recorded, found, max_recorded):
    """The next state (rule 7): both by id, the newest kept."""
    by_id = {batch.id: batch for batch in found} | {batch.id: batch for batch in recorded}
    return [by_id[id] for id in sorted(by_id)][-max_recorded:]


def missed(recorded, run):
    """Batches at older pushes that no run acted on (rule 8)."""
    known = {batch.id for batch in recorded}
    return [batch for batch in run.found if batch.id < run.decision.push.id and batch.id not in known]


def read_pushlog(text):
    pushes = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            push = push_of(json.loads(line))
        except (ValueError, KeyError, TypeError) as error:
            raise BadInput(f"line {number} is no push: {error!r}") from error
        if push.id in pushes:
            raise BadInput(f"line {number}: push {push.id} a second time")
        pushes[push.id] = push
    return [pushes[id] for id in sorted(pushes)]


def push_of(fields):
    if not isinstance(fields["pushlog_id"], int) or not isinstance(fields["pushdate"], int):
        raise ValueError("pushlog_id and pushdate are whole numbers")
    commits = tuple(dict(commit) for commit in fields.get("commits", []))
    return Push(fields["pushlog_id"], fields["pushdate"], fields["head_rev"], fields["message"], commits)


def push_json(push):
    return {
        "pushlog_id": push.id,
        "pushdate": push.date,
        "head_rev": push.head_rev,
        "message": push.message,
        "commits": push.commits,
    }


def read_state(text):
    try:
        return [Batch(b["pushlog_id"], b["pushdate"], b.get("head_rev")) for b in json.loads(text)["batches"]]
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(f"no state: {error!r}") from error


def batch_json(batch):
    return {"pushlog_id": batch.id, "pushdate": batch.date, "head_rev": batch.head_rev}


def start_of(text):
    id, _, date = text.partition("@")
    return Batch(int(id), int(date))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    replaying = commands.add_parser("replay")
    replaying.add_argument("--start", type=start_of, metavar="ID@DATE")
    replaying.add_argument("file", type=Path)
    deciding = commands.add_parser("decide")
    deciding.add_argument("--state", type=Path, required=True)
    deciding.add_argument("--pushlog", type=Path, required=True)
    deciding.add_argument("--push", type=int, required=True)
    deciding.add_argument("--max-replayed", type=int, default=1000)
    deciding.add_argument("--max-recorded", type=int, default=100)
    deciding.add_argument("--record", action="store_true")
    for command in (replaying, deciding):
        command.add_argument("--strategy", required=True, choices=STRATEGIES)
        command.add_argument("--threshold", type=float)
        command.add_argument("--aging", type=float, default=0.0)
        command.add_argument("--pushes", type=int)
        command.add_argument("--hours", type=float)
        command.add_argument("--price", type=float)
        command.add_argument("--forecast", type=hours_of, default=(), metavar="HOURS[,HOURS…]")
        command.add_argument("--branch", choices=BRANCHES, default="integration")
        command.add_argument("--anchor", type=int)
    return parser


def hours_of(text):
    return tuple(float(hours) for hours in text.split(","))


def cadence_of(options):
    return Cadence(**{field: getattr(options, field) for field in Cadence.__dataclass_fields__})


def run_replay(options):
    cadence = cadence_of(options)
    decisions = replay(cadence, options.start, read_pushlog(options.file.read_text()), options.anchor)
    return BATCH, {
        "strategy": cadence.strategy,
        "config": cadence.config(),
        "batches": [batch_json(decision.batch()) for decision in decisions if decision.batched],
        "decisions": [decision.json() for decision in decisions],
    }


def run_decide(options):
    cadence = cadence_of(options)
    recorded = read_state(options.state.read_text()) if options.state.exists() else []
    log = read_pushlog(options.pushlog.read_text())
    run = decide(cadence, recorded, log, options.push, options.max_replayed, options.anchor)
    batches = merged(recorded, run.found, options.max_recorded)
    answer = {
        "batches": [batch_json(batch) for batch in batches],
        **run.decision.json(),
        "missed": [batch_json(batch) for batch in missed(recorded, run)],
        "config": cadence.config(),
        "risk_prediction": list(run.decision.push.commits),
    }
    if options.record and not run.stale:
        beside = options.state.with_name(options.state.name + ".next")
        beside.write_text(json.dumps(answer) + "\n")
        os.replace(beside, options.state)
    return BATCH if run.decision.batched else SKIP, answer


def main(argv):
    options = arguments().parse_args(argv)
    try:
        for limit in ("anchor", "max_replayed", "max_recorded"):
            value = getattr(options, limit, None)
            if value is not None and value < 1:
                raise BadInput(f"{limit} must be at least 1")
        code, answer = run_replay(options) if options.command == "replay" else run_decide(options)
    except NotYet as error:
        print(error, file=sys.stderr)
        return NOT_YET
    except (BadInput, OSError, UnicodeDecodeError) as error:
        print(error, file=sys.stderr)
        return BAD_INPUT
    print(json.dumps(answer))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
