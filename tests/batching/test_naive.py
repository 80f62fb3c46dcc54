#!/usr/bin/env python3
"""Every vector of the batching spec (section 4) on the naive implementation."""

import json
import random
import subprocess
import sys
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path

from cadences import BadInput, Batch, Cadence, NotYet, Push
from naive import decide, merged, missed, push_json, replay

HOUR = 3600
FIRST = [0.05, 0.10, 0.02, 0.20, 0.01, 0.30, 0.04]
AGED = [(0, 0.02), (1, 0.03), (2, 0.01), (4, 0.02), (8, 0.01), (9, 0.02)]


def push(id, date, *risks, dontbuild=False):
    commits = tuple({"rev": f"c{id}"} | ({} if risk == "missing" else {"risk": risk}) for risk in risks)
    return Push(id, date, f"h{id}", "Bug 1 - DONTBUILD" if dontbuild else "Bug 1", commits)


def trace(risks, every=600, dontbuild=()):
    return [push(101 + i, (i + 1) * every, risk, dontbuild=101 + i in dontbuild) for i, risk in enumerate(risks)]


def at_hours(hours_and_risks):
    return [push(101 + i, hours * HOUR, risk) for i, (hours, risk) in enumerate(hours_and_risks)]


def quiet(ids, every=HOUR, dontbuild=()):
    return [push(id, (i + 1) * every, dontbuild=id in dontbuild) for i, id in enumerate(ids)]


def batched(decisions):
    return [decision.push.id for decision in decisions if decision.batched]


def batches(cadence, log, start=0):
    return batched(replay(cadence, Batch(100, start), log))


def ids(batches):
    return [batch.id for batch in batches]


class Replays(unittest.TestCase):
    def scores(self, cadence, log, expected, start=0):
        found = {d.push.id: d.score for d in replay(cadence, Batch(100, start), log)}
        for id, score in expected.items():
            self.assertAlmostEqual(found[id], score, delta=1e-9)

    def test_rasb(self):
        log = trace(FIRST)
        self.assertEqual(batches(Cadence("rasb", threshold=0.3), log), [104, 106])
        self.scores(Cadence("rasb", threshold=0.3), log, {101: 0.05, 102: 0.145, 103: 0.1621, 104: 0.32968, 106: 0.307})
        self.assertEqual(batches(Cadence("rasb", threshold=0.5), log), [106])
        self.scores(Cadence("rasb", threshold=0.5), log, {106: 0.53546824})

    def test_ties_are_due(self):
        for strategy, threshold, risks, expected in [
            ("rasb", 0.51, [0.3] * 2, [102]),
            ("rasb", 0.19, [0.1] * 2, [102]),
            ("rasb", 0.488, [0.2] * 3, [103]),
            ("rasb_la", 1, [0.1] * 11, [110]),
            ("rasb_la", 0.8, [0.1] * 8, [108]),
            ("rasb_la", 1, [0.2] * 5, [105]),
        ]:
            cadence = Cadence(strategy, threshold=threshold)
            self.assertEqual(batches(cadence, trace(risks)), expected, (strategy, threshold))

    def test_rasb_la(self):
        self.assertEqual(batches(Cadence("rasb_la", threshold=0.3), trace(FIRST)), [104, 106])

    def test_a_certain_regression_is_due_at_any_threshold(self):
        self.assertEqual(batches(Cadence("rasb", threshold=0.99), trace([0, 0, 1.0, 0])), [103])

    def test_rapb(self):
        log = at_hours(AGED)
        at = lambda t, a: Cadence("rapb", threshold=t, aging=a)
        self.assertEqual(batches(at(0.5, 0.05), log, -HOUR), [105])
        self.scores(at(0.5, 0.05), log, {105: 0.738406967}, -HOUR)
        self.assertEqual(batches(at(0.3, 0.05), log, -HOUR), [104])
        self.scores(at(0.3, 0.05), log, {104: 0.411933333}, -HOUR)
        self.assertEqual(batches(at(0.5, 0), log, -HOUR), [])

    def test_one_commit_alone_becomes_due_by_age(self):
        for threshold, hours in [(0.5, 13.458889464849), (0.3, 6.729444732424)]:
            first_due = -int(-hours * HOUR // 1)  # the second after
            for waited, expected in [(first_due - 1, []), (first_due, [102])]:
                log = [push(101, 0, 0.02), push(102, waited)]
                cadence = Cadence("rapb", threshold=threshold, aging=0.05)
                self.assertEqual(batches(cadence, log, -HOUR), expected)

    def test_rapb_la(self):
        for threshold in (0.5, 1):
            cadence = Cadence("rapb_la", threshold=threshold, aging=0.05)
            self.assertEqual(batches(cadence, at_hours(AGED), -HOUR), [105])
            self.scores(cadence, at_hours(AGED), {105: 1.133772731}, -HOUR)

    def test_pushes(self):
        cadence = Cadence("pushes", pushes=20)
        for dontbuild, expected in [((), [120, 140, 160]), ((120,), [121, 141, 161]), ((120, 121), [122, 142, 162])]:
            self.assertEqual(batches(cadence, quiet(range(101, 170), dontbuild=dontbuild)), expected)

    def test_gaps_in_ids_count(self):
        self.assertEqual(batches(Cadence("pushes", pushes=20), quiet([101, 119, 125, 144, 145])), [125, 145])

    def test_commits_of_a_dontbuild_push_count(self):
        log = trace([0.2] * 4, dontbuild=(102,))
        self.assertEqual(batches(Cadence("rasb", threshold=0.3), log), [103])
        self.scores(Cadence("rasb", threshold=0.3), log, {103: 0.488})

    def test_time(self):
        log = quiet(range(101, 111), dontbuild=(104,))
        self.assertEqual(batches(Cadence("time", hours=4), log), [105, 109])

    def test_backstop(self):
        log = quiet(range(101, 125))
        self.assertEqual(batches(Cadence("backstop"), log), list(range(104, 125, 4)))
        self.assertEqual(batches(Cadence("backstop", pushes=30, hours=6), log), list(range(106, 125, 6)))
        self.assertEqual(batches(Cadence("backstop"), quiet(range(101, 150), every=60)), [120, 140])
        self.assertEqual(batches(Cadence("backstop", branch="try"), log), [])
        self.assertEqual(batches(Cadence("backstop", branch="other"), log[:3]), [101, 102, 103])

    def test_every_nth(self):
        log = quiet(range(101, 131), dontbuild=(120,))
        self.assertEqual(batches(Cadence("every_nth", pushes=10), log), [110, 130])
        self.assertEqual(batches(Cadence("expanded"), log), [104, 108, 110, 112, 116, 121, 125, 129, 130])

    def test_rdb(self):
        log = [push(101, 0, 0.25), push(102, HOUR, 0.125), push(103, 2 * HOUR, 0.5)]
        self.assertEqual(batches(Cadence("rdb", price=0.5), log, -HOUR), [103])
        self.scores(Cadence("rdb", price=0.5), log, {103: 0.625}, -HOUR)
        self.assertEqual(batches(Cadence("rdb", price=0.5, forecast=(1.0,)), log, -HOUR), [102, 103])
        self.assertEqual(batches(Cadence("rdb", price=0.5, forecast=(2.0, 0.0)), log, -HOUR), [101, 103])

    def test_parameters_out_of_range(self):
        for strategy, parameters in [
            ("rasb", {"threshold": 0}),
            ("rasb", {"threshold": 1}),
            ("rasb", {"threshold": 0.5, "aging": -0.1}),
            ("rapb", {"threshold": 0, "aging": 0.1}),
            ("rapb", {"threshold": 1, "aging": 0.1}),
            ("rapb", {"threshold": 0.5, "aging": -0.1}),
            ("rapb_la", {"threshold": 0.5, "aging": -0.1}),
            ("rasb_la", {"threshold": 0}),
            ("rdb", {"price": 0}),
            ("rdb", {"price": float("nan")}),
            ("pushes", {"pushes": 0}),
            ("time", {"hours": 0.0001}),
            ("time", {}),
        ]:
            with self.assertRaises(BadInput, msg=(strategy, parameters)):
                Cadence(strategy, **parameters)

    def test_not_scored_by_design_is_left_out_but_lets_the_others_age(self):
        log = [push(101, 0, 0.02), push(102, 20 * HOUR, None)]
        self.assertEqual(batches(Cadence("rapb", threshold=0.5, aging=0.05), log, -HOUR), [102])
        self.assertEqual(batches(Cadence("rasb", threshold=0.01), [push(101, 0, None)], -HOUR), [])

    def test_an_earlier_date_is_clamped(self):
        cadence = Cadence("rdb", price=1)
        log = [push(101, 3 * HOUR), push(102, HOUR, 0.5), push(103, 4 * HOUR)]
        self.scores(cadence, log, {102: 0, 103: 0.5}, 2 * HOUR)
        self.scores(cadence, [push(101, 0, 0.5), push(102, 3 * HOUR)], {101: 0, 102: 0.5}, 2 * HOUR)


class Runs(unittest.TestCase):
    def test_a_missing_score_fails_the_run(self):
        cadence = Cadence("rasb", threshold=0.3)
        late = [push(101, 600, 0.1), push(102, 1200, 0.1), push(103, 1800, "missing"), push(104, 2400, 0.1)]
        for id in (103, 104):
            with self.assertRaisesRegex(NotYet, "103"):
                decide(cadence, [Batch(100, 0)], late, id)
        scored = [*late[:2], push(103, 1800, 0.1), late[3]]
        self.assertTrue(decide(cadence, [Batch(100, 0)], scored, 104).decision.batched)

    def test_a_score_out_of_range_fails_the_run(self):
        for risk in (float("nan"), 1.5, -0.1):
            log = [push(101, 600, risk)]
            with self.assertRaisesRegex(BadInput, "101"):
                decide(Cadence("rasb", threshold=0.3), [Batch(100, 0)], log, 101)
            self.assertFalse(decide(Cadence("pushes", pushes=20), [Batch(100, 0)], log, 101).decision.batched)

    def test_no_state_is_a_cold_start(self):
        log = quiet(range(130, 140), dontbuild=(138,))
        run = decide(Cadence("pushes", pushes=20), [], log, 137)
        self.assertEqual((run.decision.batched, run.decision.cold_start, ids(run.found)), (True, True, [137]))
        self.assertFalse(decide(Cadence("pushes", pushes=20), [], log, 138).decision.batched)
        self.assertTrue(decide(Cadence("pushes", pushes=20), [], log, 139).decision.cold_start)

    def test_too_far_from_the_last_batch_is_a_cold_start(self):
        log, cadence = quiet(range(21, 80)), Cadence("pushes", pushes=20)
        run = decide(cadence, [Batch(20, 0)], log, 70, max_replayed=50)
        self.assertEqual((ids(run.found), run.decision.batched, run.decision.replayed_from), ([40, 60], False, 20))
        self.assertEqual(ids(missed([Batch(20, 0)], run)), [40, 60])
        run = decide(cadence, [Batch(20, 0)], log, 71, max_replayed=50)
        self.assertEqual((ids(run.found), run.decision.cold_start), ([71], True))

    def test_the_newest_batches_are_kept(self):
        state = [Batch(id, 0) for id in (20, 40, 60)]
        run = decide(Cadence("pushes", pushes=20), state, quiet(range(1, 90)), 80)
        self.assertEqual(ids(merged(state, run.found, 3)), [40, 60, 80])

    def test_a_late_run_changes_nothing(self):
        state = [Batch(id, 0) for id in (20, 40, 60, 80)]
        run = decide(Cadence("pushes", pushes=20), state, quiet(range(1, 90)), 55)
        self.assertEqual((run.decision.batched, run.decision.replayed_from), (False, 40))
        self.assertEqual(merged(state, run.found, 100), state)

    def test_a_stale_run_decides_nothing(self):
        state = [Batch(id, 0) for id in (40, 60)]
        run = decide(Cadence("pushes", pushes=20), state, quiet(range(1, 90)), 39)
        self.assertEqual((run.stale, run.decision.batched, run.found), (True, False, ()))

    def test_an_anchor_is_a_batch_of_every_chain(self):
        log, cadence = quiet(range(101, 190), dontbuild=(150,)), Cadence("pushes", pushes=20)
        lost = decide(cadence, [], log, 175, every=50)
        self.assertEqual((ids(lost.found), lost.decision.cold_start), ([151, 171], False))
        kept = decide(cadence, [Batch(100, 0)], log, 175, every=50)
        self.assertEqual(ids(kept.found), [120, 140, 151, 171])

    def test_every_run_reaches_the_same_batches(self):
        """Late, repeated and overlapping runs, and with anchors lost states too, know one chain."""
        dice = random.Random(1)
        for case in range(300):
            log, date = [], 0
            for id in sorted(dice.sample(range(100, 150), 25)):
                date += dice.choice([0, 600, HOUR, -600])
                log.append(push(id, date, dice.choice([0.1, 0.3, None]), dontbuild=dice.random() < 0.2))
            log[0] = replace(log[0], message="")
            every = dice.choice([None, 10])
            rapb = Cadence("rapb", threshold=0.5, aging=0.05)
            cadence = dice.choice([rapb, Cadence("time", hours=2), Cadence("backstop", pushes=7)])
            start = Batch(log[0].id, log[0].date)
            chain = {start.id, *batched(replay(cadence, start, log, every))}
            snapshots = [[start]]
            for _ in range(10):
                state = dice.choice(snapshots + ([[]] if every else []))
                run = decide(cadence, state, log, dice.choice(log[1:]).id, every=every)
                if not run.stale and (run.decision.replayed_from or not every):
                    self.assertEqual(run.decision.batched, run.decision.push.id in chain, case)
                    self.assertLessEqual(set(ids(run.found)), chain, case)
                    snapshots.append(merged(state, run.found, 5))


class Commands(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.state, self.log = Path(self.folder.name, "state.json"), Path(self.folder.name, "log")

    def write(self, pushes):
        self.log.write_text("".join(json.dumps(push_json(push)) + "\n" for push in pushes))

    def run_naive(self, *arguments):
        program = Path(__file__).with_name("naive.py")
        done = subprocess.run([sys.executable, program, *map(str, arguments)], capture_output=True, text=True)
        return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr

    def decide(self, push, *arguments):
        return self.run_naive("decide", "--state", self.state, "--pushlog", self.log, "--push", push, *arguments)

    def test_replay(self):
        self.write(trace(FIRST))
        code, answer = self.run_naive("replay", "--strategy", "rasb", "--threshold", 0.3, "--start", "100@0", self.log)
        self.assertEqual(code, 0)
        self.assertEqual([b["pushlog_id"] for b in answer["batches"]], [104, 106])
        self.assertEqual(answer["batches"][0], {"pushlog_id": 104, "pushdate": 2400, "head_rev": "h104"})
        self.assertEqual(answer["decisions"][3]["replayed_from"], 100)

    def test_decide_and_its_exit_codes(self):
        rasb = ("--strategy", "rasb", "--threshold", 0.3, "--record")
        self.write([push(101, 600), push(102, 1200, 0.2), push(103, 1800, 0.2), push(104, 2400, "missing")])
        self.assertEqual(self.decide(101, *rasb)[0], 0)
        self.assertEqual(self.decide(102, *rasb)[0], 10)
        self.assertEqual(self.decide(103, *rasb)[0], 0)
        recorded = self.state.read_text()
        self.assertEqual([b["pushlog_id"] for b in json.loads(recorded)["batches"]], [101, 103])
        code, error = self.decide(104, *rasb)
        self.assertEqual(code, 75)
        self.assertIn("104", error)
        self.assertEqual(self.decide(105, *rasb)[0], 1)
        self.assertEqual(self.decide(103, "--strategy", "rasb", "--threshold", 1)[0], 1)
        self.assertEqual(self.state.read_text(), recorded)


if __name__ == "__main__":
    unittest.main()
