//! Requests cut from skills' text at random positions.

use std::collections::HashSet;

/// Maximum length of a request in characters.
const LENGTH: usize = 160;

/// Cuts requests; the same seed gives the same requests.
pub(super) struct Cutter {
    state: u64,
    /// The characters already used in a request.
    asked: HashSet<char>,
}

impl Cutter {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            state: seed,
            asked: HashSet::new(),
        }
    }

    /// Returns the number of different characters in all requests.
    pub(super) fn characters(&self) -> usize {
        self.asked.len()
    }

    /// Returns `count` requests from random positions in a text, and more until each of its characters was in some
    /// request from this or an earlier text.
    pub(super) fn requests(&mut self, text: &str, count: usize) -> Vec<String> {
        let letters: Vec<char> = text.chars().collect();
        let mut requests = Vec::new();
        for _ in 0..count {
            let at = self.below(letters.len());
            requests.push(self.cut(&letters, at));
        }
        while let Some(at) = letters.iter().position(|c| !self.asked.contains(c)) {
            let before = self.below(LENGTH / 2);
            let from = at.saturating_sub(before);
            let to = letters.len().min(at + 1 + self.below(LENGTH / 2));
            self.asked.extend(&letters[from..to]);
            requests.push(letters[from..to].iter().collect());
        }
        requests
    }

    fn cut(&mut self, letters: &[char], at: usize) -> String {
        let length = 1 + self.below(LENGTH);
        let part = &letters[at..letters.len().min(at + length)];
        self.asked.extend(part);
        part.iter().collect()
    }

    /// Returns a random number below a limit, or 0 (splitmix64).
    fn below(&mut self, limit: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        let limit = u64::try_from(limit.max(1)).unwrap_or(u64::MAX);
        usize::try_from(mixed % limit).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::Cutter;

    #[test]
    fn every_character_of_a_text_is_in_a_request() {
        let text = format!(
            "{}\u{3000}表{}",
            "a b ".repeat(500),
            "c\u{a0}d ".repeat(500)
        );
        let requests = Cutter::new(1).requests(&text, 2);
        for c in text.chars() {
            assert!(requests.iter().any(|request| request.contains(c)), "{c:?}");
        }
        assert_eq!(Cutter::new(1).requests(&text, 2), requests);
        assert!(requests.iter().all(|request| text.contains(&**request)));
    }
}
