//! Chance that can be had again: every random choice of a test follows from one printed seed.

use std::ops::Range;

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
pub struct Dice(u64);

impl Dice {
    /// The seed is `JACUZZI_SEED`, or this one; it is printed, and a test that fails shows it.
    pub fn seeded(seed: u64) -> Self {
        let seed = number_from("JACUZZI_SEED").unwrap_or(seed);
        eprintln!("JACUZZI_SEED={seed}");
        Self(seed)
    }

    /// The dice of one case among many, whose seed is its number.
    pub fn of(seed: u64) -> Self {
        Self(seed)
    }

    /// For choices that do not matter.
    pub fn loaded() -> Self {
        Self(0)
    }

    /// Other dice, whose throws these do not depend on.
    pub fn split(&mut self) -> Self {
        Self(self.next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Even enough for a test.
    pub fn within(&mut self, range: Range<u64>) -> u64 {
        range.start + self.next() % (range.end - range.start)
    }

    pub fn one_of<T: Copy, const N: usize>(&mut self, choices: [T; N]) -> T {
        choices[self.within(0..N as u64) as usize]
    }

    pub fn one_in(&mut self, sides: u64) -> bool {
        self.within(0..sides) == 0
    }
}

/// A number in the environment, with which whoever runs the test asks for more or for the same again.
pub fn number_from(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is a number, not {text:?}")))
}
