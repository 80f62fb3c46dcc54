#!/usr/bin/env python3
"""Holds `jacuzzi batching` against the naive implementation on random histories.

    compare.py --jacuzzi PATH [--cases N] [--seed S]

A history is a pushlog with everything that the rules are about: DONTBUILD rows,
gaps in ids, dates that run backwards, scores that come late, risks and
parameters that meet in a tie. It is replayed, and then runs decide on its
pushes as they come: late, twice, overlapping (each begins from a state that
some earlier run left), with few batches kept, and from no state at all. Each
call is made on both sides, from the same input: exit codes, decisions and
recorded batches must be the same, and scores within 1e-9.

The first difference is printed with its input, made as small as it will go, and
the exit code is 1. Not compared: texts, `config`, `risk_prediction`, forecasts,
and what the spec leaves open (see `judged_decision`).
"""

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from cadences import RISK, BadInput, Batch, Cadence, NotYet, Push, due
from naive import (
    BAD_INPUT,
    BATCH,
    NOT_YET,
    SKIP,
    batch_json,
    clamped,
    decide,
    merged,
    missed,
    push_json,
    read_state,
    replay,
)

CHUNK = 20  # histories that a worker makes before it reports
TIMEOUT = 60  # seconds for one call


@dataclass(frozen=True)
class Call:
    """One call of `batching replay`, or of `batching decide` if there is a push to decide on."""

    cadence: Cadence
    pushes: tuple
    start: Batch | None = None
    push: int | None = None
    state: tuple | None = None  # None: no file
    max_replayed: int = 1000
    max_recorded: int = 100
    anchor: int | None = None

    def arguments(self):
        flags = {"branch": None if self.cadence.branch == "integration" else self.cadence.branch, "anchor": self.anchor}
        flags |= {name: getattr(self.cadence, name) for name in ("strategy", "threshold", "pushes", "hours", "price")}
        flags |= {"aging": self.cadence.aging if self.cadence.strategy.startswith("rapb") else None}
        if self.push is None:
            flags |= {"start": self.start and f"{self.start.id}@{self.start.date}"}
            command, files = ["batching", "replay"], ["pushlog"]
        else:
            flags |= {"max-replayed": self.max_replayed, "max-recorded": self.max_recorded, "push": self.push}
            command, files = ["batching", "decide", "--record"], ["--state=state.json", "--pushlog=pushlog"]
        return command + [f"--{name}={value}" for name, value in flags.items() if value is not None] + files

    def pushlog(self):
        return "".join(json.dumps(push_json(push)) + "\n" for push in self.pushes)

    def state_json(self):
        return json.dumps({"batches": [batch_json(batch) for batch in self.state]}) + "\n"


def ours(call):
    """What the naive implementation does: an exit code, the answer, the recorded batches."""
    state = list(call.state or ())
    try:
        if call.push is None:
            decisions = replay(call.cadence, call.start, call.pushes, call.anchor)
            batches = [batch_json(decision.batch()) for decision in decisions if decision.batched]
            return BATCH, {"batches": batches, "decisions": [decision.json() for decision in decisions]}, state
        run = decide(call.cadence, state, call.pushes, call.push, call.max_replayed, call.anchor)
    except NotYet:
        return NOT_YET, None, state
    except BadInput:
        return BAD_INPUT, None, state
    answer = run.decision.json() | {"missed": [batch_json(batch) for batch in missed(state, run)]}
    recorded = state if run.stale else merged(state, run.found, call.max_recorded)
    return BATCH if run.decision.batched else SKIP, answer, recorded


def theirs(call, program, folder):
    """The same of the program."""
    state = Path(folder, "state.json")
    state.unlink(missing_ok=True)
    if call.state is not None:
        state.write_text(call.state_json())
    Path(folder, "pushlog").write_text(call.pushlog())
    done = subprocess.run([program, *call.arguments()], cwd=folder, capture_output=True, text=True, timeout=TIMEOUT)
    recorded = read_state(state.read_text()) if state.exists() else []
    answer = json.loads(done.stdout) if done.returncode in (BATCH, SKIP) else None
    return done.returncode, answer, recorded


def judged(call, side):
    """What of one side's outcome must be the other's too."""
    code, answer, recorded = side
    fair = {"exit": code, "recorded": [batch_json(batch) for batch in recorded]}
    if answer is None:
        return fair
    if call.push is None:
        decisions = [judged_decision(call, decision) for decision in answer["decisions"]]
        return fair | {"batches": answer["batches"], "decisions": decisions}
    return fair | {"decision": judged_decision(call, answer), "missed": answer.get("missed")}


def judged_decision(call, decision):
    fair = {key: decision[key] for key in ("batched", "cold_start", "score", "replayed_from")}
    if call.push in {batch.id for batch in call.state or ()}:
        del fair["cold_start"]  # of a push that is decided again: the rules speak of batches before it
    return fair


def same(one, other):
    if isinstance(one, float) or isinstance(other, float):
        return None not in (one, other) and math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def differs(call, program, folder):
    return not same(judged(call, ours(call)), judged(call, theirs(call, program, folder)))


def smaller(call):
    """Calls with one thing less."""
    for at, push in enumerate(call.pushes):
        if push.id != call.push:
            yield replace(call, pushes=call.pushes[:at] + call.pushes[at + 1 :])
    for at in range(len(call.state or ())):
        yield replace(call, state=call.state[:at] + call.state[at + 1 :])
    for at, push in enumerate(call.pushes):
        simpler = [replace(push, message="")] if push.message else []
        simpler += [
            replace(push, commits=push.commits[:commit] + push.commits[commit + 1 :])
            for commit in range(len(push.commits))
        ]
        for other in simpler:
            yield replace(call, pushes=call.pushes[:at] + (other,) + call.pushes[at + 1 :])


def shrunk(call, program, folder):
    while smallest := next((less for less in smaller(call) if differs(less, program, folder)), None):
        call = smallest
    return call


def report(seed, call, program, folder):
    one, other = judged(call, ours(call)), judged(call, theirs(call, program, folder))
    lines = [f"history {seed}: a difference", "jacuzzi " + " ".join(call.arguments())]
    if call.state is not None:
        lines += ["state.json:", call.state_json()]
    lines += ["pushlog:", call.pushlog()]
    for key in one.keys() | other.keys():
        if not same(one.get(key), other.get(key)):
            lines += [f"{key}, naive:   {one.get(key)}", f"{key}, jacuzzi: {other.get(key)}"]
    return "\n".join(lines)


def random_log(dice):
    ids = sorted(dice.sample(range(101, 101 + dice.choice([15, 40, 80])), dice.randint(1, 15)))
    risks = dice.choice([[0.1], [0.3], [0.1, 0.2, 0.3, 0.25, 0.5], [0, 1e-9, 0.01, 1.0], None])
    paces = dice.choice([[600], [0, 1, 60, 3600], [3600, 7200, 4 * 3600], [1800, 3600, -5400, 10**6]])
    pushes, date = [], dice.choice([0, 600, -4000, 1_700_000_000])
    for id in ids:
        date += dice.choice(paces)
        count = dice.choice([0, 1, 1, 1, 2, 3])
        commits = tuple({"rev": f"c{id}.{at}", "risk": random_risk(dice, risks)} for at in range(count))
        message = "Bug 1 - part 2 DONTBUILD" if dice.random() < 0.15 else "Bug 1"
        pushes.append(Push(id, date, f"h{id}", message, commits))
    return tuple(pushes)


def random_risk(dice, usual):
    if dice.random() < 0.15:
        return None
    if dice.random() < 0.005:
        return dice.choice([1.5, -0.25])
    return dice.choice(usual) if usual else dice.random() ** 3


def seen_at(pushes, scored_at, step):
    """The log as it is at that step of the history: some scores are not there yet."""

    def hidden(commits):
        return tuple({"rev": commit["rev"]} if commit["risk"] is not None else commit for commit in commits)

    return tuple(p if scored_at[p.id] <= step else replace(p, commits=hidden(p.commits)) for p in pushes)


def random_cadence(dice, pushes, start):
    strategy = dice.choice(["pushes", "time", "backstop", "every_nth", "expanded", *RISK, *RISK])
    aging = dice.choice([0.0, 0.05, 0.003, 0.5]) if strategy.startswith("rapb") else 0.0
    # Whether `expanded` takes every 10th push on try too, the spec does not say.
    branches = {"backstop": ["integration"] * 4 + ["other", "try"], "expanded": ["integration"] * 4 + ["other"]}
    branch = dice.choice(branches.get(strategy, ["integration"]))
    number = dice.choice([1, 2, 5, 10, 20])
    if strategy in RISK:
        return tied(dice, strategy, aging, pushes, start)
    if strategy in ("pushes", "every_nth"):
        return Cadence(strategy, pushes=number)
    if strategy == "time":
        return Cadence(strategy, hours=dice.choice([0.5, 1, 4, 1 / 3, 24]))
    if strategy == "backstop":
        numbers = dice.choice([(None, None), (30, 6.0), (number, dice.choice([1.0, 4.0]))])
        return Cadence(strategy, pushes=numbers[0], hours=numbers[1], branch=branch)
    return Cadence(strategy, branch=branch)


def tied(dice, strategy, aging, pushes, start):
    """A risk cadence, often with just the threshold that some push reaches, or an ulp beside it."""

    def with_threshold(number):
        return Cadence(strategy, **{"price" if strategy == "rdb" else "threshold": number}, aging=aging)

    usual = with_threshold(dice.choice([0.51, 0.19, 0.488, 0.3, 0.5, 0.8, dice.uniform(0.01, 0.99)]))
    if dice.random() < 0.5:
        return usual
    since = clamped(pushes, start.date)[: dice.randint(1, len(pushes))]
    try:
        _, score = due(usual, start, since)
        score = round(score, 3) if dice.random() < 0.3 else score
        for _ in range(dice.choice([0, 0, 1, 2])):
            score = math.nextafter(score, dice.choice([0.0, 1.0]))
        return with_threshold(score)
    except BadInput:
        return usual


def history(dice):
    """The calls of one history, each with the state that the naive runs before it left."""
    pushes = random_log(dice)
    start = Batch(100, pushes[0].date - dice.choice([0, 600, 3600, -3600]), "h100")
    cadence = random_cadence(dice, pushes, start)
    anchor = dice.choice([None, None, 7, 20]) if not cadence.stateless else None
    limits = {"max_replayed": dice.choice([1000, 1000, 3, 8]), "max_recorded": dice.choice([100, 1, 2, 3])}

    yield Call(cadence, pushes, start=start, anchor=anchor)
    yield Call(cadence, pushes, anchor=anchor)

    late = dice.choice([0, 0.1, 0.4])
    steps = dice.randint(1, 8)
    scored_at = {push.id: dice.randint(0, steps + 1) if dice.random() < late else 0 for push in pushes}
    snapshots = [dice.choice([None, (start,)])]
    for step in range(steps):
        state = snapshots[-1] if dice.random() < 0.6 else dice.choice(snapshots)
        state = None if anchor and dice.random() < 0.2 else state
        here = dice.randrange(len(pushes))
        known = seen_at(pushes[: dice.randint(here, len(pushes)) + 1], scored_at, step)
        before = max((batch.id for batch in state or () if batch.id < pushes[here].id), default=0)
        if dice.random() < 0.3:  # no more than is needed
            known = tuple(push for push in known if push.id > before)
        call = Call(cadence, known, push=pushes[here].id, state=state, anchor=anchor, **limits)
        yield call
        snapshots.append(tuple(ours(call)[2]))


def compare(program, seeds):
    """The number of calls made, and the first difference."""
    calls = 0
    with tempfile.TemporaryDirectory(prefix="jacuzzi-compare-") as folder:
        for seed in seeds:
            for call in history(random.Random(seed)):
                calls += 1
                if differs(call, program, folder):
                    return calls, report(seed, shrunk(call, program, folder), program, folder)
    return calls, None


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jacuzzi", type=os.path.abspath, required=True, metavar="PATH")
    parser.add_argument("--cases", type=int, default=1000, metavar="N", help="histories (default 1000)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of the first history (default 0)")
    options = parser.parse_args(argv)

    end, calls = options.seed + options.cases, 0
    chunks = [range(first, min(first + CHUNK, end)) for first in range(options.seed, end, CHUNK)]
    with ProcessPoolExecutor() as workers:
        for made, difference in workers.map(compare, [options.jacuzzi] * len(chunks), chunks):
            calls += made
            if difference:
                workers.shutdown(wait=False, cancel_futures=True)
                print(difference)
                return 1
    print(f"{options.cases} histories, {calls} calls: no difference")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
