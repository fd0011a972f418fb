//! Numbers that are drawn: the same seed gives the same ones.

pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a number below `count`, which is not 0.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.next() % count as u64).unwrap_or(0)
    }

    /// Returns `count` of the values, each at most once.
    pub(crate) fn sample<'a, T>(&mut self, values: &'a [T], count: usize) -> Vec<&'a T> {
        let mut places: Vec<usize> = (0..values.len()).collect();
        let count = count.min(places.len());
        for place in 0..count {
            let other = place + self.below(places.len() - place);
            places.swap(place, other);
        }
        places[..count]
            .iter()
            .map(|place| &values[*place])
            .collect()
    }
}
