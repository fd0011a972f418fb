//! A rule's findings, and how they are reported.

/// A place in a text that breaks a rule.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// Counted from 1.
    pub(crate) line: usize,
    pub(crate) what: String,
}

impl Finding {
    pub(crate) fn new(line: usize, what: impl Into<String>) -> Self {
        Self {
            line,
            what: what.into(),
        }
    }
}

/// All places in the tree that break a rule.
#[derive(Default)]
pub(crate) struct Offenders(Vec<String>);

impl Offenders {
    pub(crate) fn add(&mut self, path: &str, findings: impl IntoIterator<Item = Finding>) {
        for Finding { line, what } in findings {
            self.0.push(format!("{path}:{line}: {what}"));
        }
    }

    /// Fails if there are offenders, and lists them with what to do about them.
    pub(crate) fn expect_none(&self, hint: &str) {
        assert!(
            self.0.is_empty(),
            "Offenders: {}\n{}\nhint: {hint}",
            self.0.len(),
            self.0.join("\n")
        );
    }
}

#[test]
#[should_panic(expected = "a.rs:3: Something is odd\nhint: Make it even")]
fn offender_is_reported_with_its_position_and_a_hint() {
    let mut offenders = Offenders::default();
    offenders.add("a.rs", [Finding::new(3, "Something is odd")]);
    offenders.expect_none("Make it even");
}
