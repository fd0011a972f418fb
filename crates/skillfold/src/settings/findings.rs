//! The findings of a layer of settings, limited in number.

use skillfold_core::diagnostic::LimitedFindings;

use crate::settings::setting::{Origin, SettingFinding};

/// Maximum findings to list per layer; the rest are only counted.
const MAX_FINDINGS: usize = 50;

/// The findings of a layer.
#[derive(Debug)]
pub(super) struct LayerFindings(LimitedFindings<SettingFinding>);

impl Default for LayerFindings {
    fn default() -> Self {
        Self(LimitedFindings::new(MAX_FINDINGS))
    }
}

impl LayerFindings {
    pub(super) fn push(&mut self, finding: SettingFinding) {
        self.0.push(|| finding);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &SettingFinding> {
        self.0.listed().iter()
    }

    /// Returns the findings. Those left out are reported where the last one is.
    pub(super) fn finish(self) -> Vec<SettingFinding> {
        let last = self.iter().last().map(|finding| finding.origin.clone());
        self.0.finish(|diagnostic| SettingFinding {
            origin: last.unwrap_or(Origin::Default),
            diagnostic,
        })
    }
}
