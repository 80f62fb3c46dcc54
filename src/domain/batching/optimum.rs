//! The offline optimum: what somebody would do who knew all pushes and their risks beforehand.
//!
//! With a price on a batch the best batches are a shortest path over the
//! pushes, and since delay is linear in the batch's time, a lower envelope of
//! lines finds the best predecessor of each push in constant time on average.

use std::collections::VecDeque;

use super::evaluation::Yardstick;

/// Halvings of the price, until batches and delay change no more.
const HALVINGS: usize = 60;

/// A last batch so far, as a line over the hours of the next batch.
#[derive(Debug, Clone, Copy)]
struct Line {
    /// The batch's place and 1, or 0 for the one before the log.
    batch: usize,
    /// −Σ risk up to it.
    slope: f64,
    /// Its cost, and Σ risk · hours up to it.
    height: f64,
}

impl Line {
    fn at(self, hours: f64) -> f64 {
        self.slope * hours + self.height
    }

    /// Whether `middle` is nowhere below both of its neighbours.
    fn hides(left: Self, middle: Self, right: Self) -> bool {
        (right.height - left.height) * (left.slope - middle.slope)
            <= (middle.height - left.height) * (left.slope - right.slope)
    }
}

impl Yardstick {
    /// The places of the batches that cost least in sum, at a price of a batch
    /// in risk-hours. The last push that may be a batch is one.
    pub(super) fn optimum(&self, price: f64) -> Vec<usize> {
        let mut before = vec![0; self.hours.len()];
        let mut lines = VecDeque::from([Line { batch: 0, slope: 0.0, height: 0.0 }]);
        for place in (0..self.hours.len()).filter(|place| self.may_batch[*place]) {
            let hours = self.hours[place];
            while lines.len() > 1 && lines[1].at(hours) <= lines[0].at(hours) {
                lines.pop_front();
            }
            before[place] = lines[0].batch;
            let cost = price + self.risk[place + 1] * hours - self.moment[place + 1] + lines[0].at(hours);
            let line = Line { batch: place + 1, slope: -self.risk[place + 1], height: cost + self.moment[place + 1] };
            while lines.len() > 1 && Line::hides(lines[lines.len() - 2], lines[lines.len() - 1], line) {
                lines.pop_back();
            }
            lines.push_back(line);
        }
        let mut batches = Vec::new();
        let mut batch = self.may_batch.iter().rposition(|may| *may).map_or(0, |place| place + 1);
        while batch > 0 {
            batches.push(batch - 1);
            batch = before[batch - 1];
        }
        batches.reverse();
        batches
    }

    /// How many batches the optimum needs for this expected delay in hours; in between, a mix of its neighbours.
    pub fn optimal_batches(&self, delay_hours: f64) -> f64 {
        let measure = |price: f64| self.measure(self.optimum(price));
        let (mut cheap, mut dear) = (f64::MIN_POSITIVE.sqrt(), 1e9);
        for _ in 0..HALVINGS {
            let middle = (cheap * dear).sqrt();
            let slower = measure(middle).delay_hours > delay_hours;
            if slower { dear = middle } else { cheap = middle }
        }
        let (many, few) = (measure(cheap), measure(dear));
        let span = few.delay_hours - many.delay_hours;
        let share = if span > 0.0 { ((delay_hours - many.delay_hours) / span).clamp(0.0, 1.0) } else { 0.0 };
        many.batches as f64 + share * (few.batches as f64 - many.batches as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Log, Mark, Push, PushId, Score};
    use super::*;

    /// Pushes by their seconds and risks.
    fn yardstick(pushes: &[(i64, f64)]) -> Yardstick {
        let push = |(at, &(seconds, risk)): (usize, &(i64, f64))| Push {
            id: PushId(at as u64 + 1),
            at: seconds,
            may_batch: at % 5 != 3,
            scores: vec![Score::Risk(risk)],
        };
        let log = Log::new(pushes.iter().enumerate().map(push)).unwrap();
        Yardstick::new(&log, Mark { id: PushId(0), at: 0 }, 0..log.len())
    }

    fn cost(yardstick: &Yardstick, batches: &[usize], price: f64) -> f64 {
        yardstick.weekly(batches.iter().copied(), price).iter().sum()
    }

    /// Every set of batches that ends with the last push.
    #[test]
    fn nothing_is_cheaper_than_the_optimum() {
        for seed in 0..200_u64 {
            let bits = |n: u64| (seed * 131 + n).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
            let mut at = 0;
            let pushes: Vec<_> = (0..11)
                .map(|n| {
                    at += (bits(n) % 4_000) as i64;
                    (at, (bits(n + 50) % 100) as f64 / 100.0)
                })
                .collect();
            let yardstick = yardstick(&pushes);
            let price = (bits(99) % 300 + 1) as f64 / 100.0;
            let least = (0..1_u32 << 10)
                .map(|set| (0..11).filter(|n| *n == 10 || set >> n & 1 == 1).collect::<Vec<usize>>())
                .filter(|batches| batches.iter().all(|place| yardstick.may_batch[*place]))
                .map(|batches| cost(&yardstick, &batches, price))
                .fold(f64::MAX, f64::min);
            let found = cost(&yardstick, &yardstick.optimum(price), price);
            assert!((found - least).abs() < 1e-9, "seed {seed}: {found} is not {least}");
        }
    }
}
