"""When a batch is due: every cadence of section 1 of the batching spec, naively.

Nothing is carried from push to push: `due` is given the last batch and all the
pushes since, and computes from them alone, in decimals of 50 digits, in which
parsed doubles are exact and ties are due.

Rule 9 of the spec (scores rounded up, thresholds down, both to 2^-40) is not
how this computes. But its rounding is part of the contract: where a mass and
its threshold are so close that the rounding could turn the answer, and only
there, the rule is followed to the letter, on the exact logarithms. (The margin
is one 2^-40 for each rounding that the rule makes: the n scores, the threshold,
and for `rapb` the age; for `rdb` each score's is multiplied by its hours.)
"""

import decimal
import math
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

decimal.getcontext().prec = 50

STEP = Decimal(2) ** -40  # the grid of rule 9
TINY = Decimal("1e-15")  # below it a series is exact to 45 digits, and 1 - x is not

RISK = ("rasb", "rasb_la", "rapb", "rapb_la", "rdb")
STRATEGIES = ("pushes", "time", "backstop", "every_nth", "expanded", *RISK)
BRANCHES = ("integration", "other", "try")

EXPANDED_EVERY = 10  # ids
BACKSTOP_IDS, BACKSTOP_HOURS = 20, 4.0


class BadInput(Exception):
    """Exit code 1."""


class NotYet(Exception):
    """Exit code 75: a score is missing."""


@dataclass(frozen=True)
class Push:
    id: int
    date: int  # Unix seconds
    head_rev: str
    message: str
    commits: tuple = ()  # as in the JSON: {"rev": …, "risk": …}

    @property
    def may_be_batch(self):
        return "DONTBUILD" not in self.message


@dataclass(frozen=True)
class Batch:
    id: int
    date: int  # clamped
    head_rev: str | None = None


@dataclass(frozen=True)
class Cadence:
    strategy: str
    threshold: float | None = None
    aging: float = 0.0  # per hour
    pushes: int | None = None
    hours: float | None = None
    price: float | None = None  # risk-hours
    forecast: tuple = ()  # hours to the next push, by hour since time 0, over and over
    branch: str = "integration"

    def __post_init__(self):
        if self.strategy not in STRATEGIES:
            raise BadInput(f"{self.strategy} is no strategy; these are: {', '.join(STRATEGIES)}")
        wrong = [text for text, right in self.conditions() if not right]
        if wrong:
            raise BadInput(f"{self.strategy} needs {' and '.join(wrong)}")

    def conditions(self):
        """What the parameters must be, and whether they are."""
        name = self.strategy
        if name in ("rasb", "rapb"):
            yield "0 < threshold < 1", within(self.threshold, lambda t: 0 < t < 1)
        if name in ("rasb_la", "rapb_la"):
            yield "threshold > 0", within(self.threshold, lambda t: t > 0)
        yield "aging >= 0", within(self.aging, lambda a: a >= 0)
        if name == "rdb":
            yield "price > 0", within(self.price, lambda k: k > 0)
            yield "forecasts >= 0", all(within(g, lambda g: g >= 0) for g in self.forecast)
        if name in ("pushes", "every_nth"):
            yield "pushes >= 1", self.pushes is not None and self.pushes >= 1
        if name == "backstop":
            yield "pushes >= 1", self.pushes is None or self.pushes >= 1
        if name == "time" or name == "backstop" and self.hours is not None:
            yield "hours > 0 (at least a second)", within(self.hours, lambda h: seconds(h) > 0)
        yield f"a branch of {', '.join(BRANCHES)}", self.branch in BRANCHES

    @property
    def stateless(self):
        """Whether the push alone decides: then nothing is recorded, and no run starts cold."""
        elsewhere = self.branch != "integration" and self.strategy in ("backstop", "expanded")
        return elsewhere or self.strategy == "every_nth"

    def config(self):
        return {key: value for key, value in vars(self).items() if value not in (None, ())}


def within(number, holds):
    return number is not None and math.isfinite(number) and holds(number)


def seconds(hours):
    """Whole seconds, to the nearest, halves up."""
    return int((Decimal(hours) * 3600).to_integral_value(decimal.ROUND_HALF_UP))


def due_alone(cadence, push):
    """Whether the push is a batch whatever was before it."""
    if cadence.strategy == "every_nth":
        return push.id % cadence.pushes == 0
    if cadence.strategy == "expanded" and push.id % EXPANDED_EVERY == 0:
        return True
    return cadence.strategy in ("backstop", "expanded") and cadence.branch == "other"


def due(cadence, last, since):
    """Whether a batch is due at the last push of `since`, and the score there.

    `since` are all pushes after the batch `last`, with clamped dates. DONTBUILD
    is not looked at here, nor what the push alone makes of it.
    """
    push = since[-1]
    if cadence.strategy in RISK:
        return RULES[cadence.strategy](cadence, scored(since), push)
    ids, waited = push.id - last.id, push.date - last.date
    if cadence.strategy == "pushes":
        return ids >= cadence.pushes, ids
    if cadence.strategy == "time":
        return waited >= seconds(cadence.hours), waited / 3600
    interval = BACKSTOP_IDS if cadence.pushes is None else cadence.pushes
    hours = BACKSTOP_HOURS if cadence.hours is None else cadence.hours
    return ids >= interval or waited >= seconds(hours), ids


def scored(since):
    """The risk, and the seconds waited, of every commit that is scored by design."""
    now = since[-1].date
    found = []
    for push in since:
        for commit in push.commits:
            if "risk" not in commit:
                raise NotYet(f"push {push.id}: no score yet for {commit.get('rev')}")
            risk = commit["risk"]
            if risk is None:
                continue
            if isinstance(risk, bool) or not isinstance(risk, (int, float)) or not 0 <= risk <= 1:
                raise BadInput(f"push {push.id}: {risk} is no risk (0 to 1) for {commit.get('rev')}")
            found.append((Decimal(float(risk)), now - push.date))
    return found


def rasb(cadence, waiting, _push):
    mass = sum((minus_ln(risk) for risk, _ in waiting), Decimal(0))
    threshold = minus_ln(Decimal(cadence.threshold))

    def to_the_letter():
        return sum(up(minus_ln(risk)) for risk, _ in waiting) >= down(threshold)

    return reaches(mass, threshold, len(waiting) + 1, to_the_letter), probability(mass)


def rasb_la(cadence, waiting, _push):
    mass = sum((risk for risk, _ in waiting), Decimal(0))
    threshold = Decimal(cadence.threshold)

    def to_the_letter():
        return sum(up(risk) for risk, _ in waiting) >= down(threshold)

    return reaches(mass, threshold, len(waiting) + 1, to_the_letter), float(mass)


def rapb(cadence, waiting, _push):
    age = Decimal(cadence.aging) * sum(waited for _, waited in waiting) / 3600
    mass = sum((minus_ln(risk) for risk, _ in waiting), Decimal(0)) + age
    threshold = minus_ln(Decimal(cadence.threshold))

    def to_the_letter():
        return sum(up(minus_ln(risk)) for risk, _ in waiting) + up(age) >= down(threshold)

    return reaches(mass, threshold, len(waiting) + 2, to_the_letter), probability(mass)


def rapb_la(cadence, waiting, _push):
    aged = [(risk, at_age(risk, Decimal(cadence.aging) * waited / 3600)) for risk, waited in waiting]
    mass = sum((score for _, score in aged), Decimal(0))
    threshold = Decimal(cadence.threshold)
    below_one = 2**40 - 1

    def to_the_letter():
        total = sum(up(score) if risk == 1 else min(up(score), below_one) for risk, score in aged)
        return total >= down(threshold)

    return reaches(mass, threshold, len(waiting) + 1, to_the_letter), float(mass)


def rdb(cadence, waiting, push):
    to_come = Decimal(0)
    if cadence.forecast:
        to_come = Decimal(cadence.forecast[push.date // 3600 % len(cadence.forecast)])
    hours = [(risk, Decimal(waited) / 3600 + to_come) for risk, waited in waiting]
    mass = sum((risk * h for risk, h in hours), Decimal(0))
    threshold = Decimal(cadence.price)

    def to_the_letter():  # in seconds, which are whole: 1/3600 is no decimal
        total = sum(up(risk) * (waited + to_come * 3600) for risk, waited in waiting)
        return total >= down(threshold) * 3600

    roundings = sum((h for _, h in hours), Decimal(0)) + 1
    return reaches(mass, threshold, roundings, to_the_letter), float(mass)


RULES = {"rasb": rasb, "rasb_la": rasb_la, "rapb": rapb, "rapb_la": rapb_la, "rdb": rdb}


def reaches(mass, threshold, roundings, to_the_letter):
    """mass >= threshold, or what rule 9 says where its roundings could matter."""
    if abs(mass - threshold) <= roundings * STEP:
        return to_the_letter()
    return mass >= threshold


def up(score):
    return int((score / STEP).to_integral_value(decimal.ROUND_CEILING))


def down(threshold):
    return int((threshold / STEP).to_integral_value(decimal.ROUND_FLOOR))


@lru_cache(maxsize=10_000)
def minus_ln(risk):
    """-ln(1 - risk); infinite for 1."""
    if risk == 1:
        return Decimal("Infinity")
    if risk < TINY:
        return risk + risk**2 / 2 + risk**3 / 3
    return -(1 - risk).ln()


def probability(mass):
    """1 - e^-mass."""
    return float(one_minus_exp(mass))


def at_age(risk, age):
    """1 - (1 - risk) e^-age."""
    return risk + (1 - risk) * one_minus_exp(age)


def one_minus_exp(x):
    if x < TINY:
        return x - x**2 / 2 + x**3 / 6
    return 1 - (-x).exp()
