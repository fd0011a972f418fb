//! Which requests methods may be fitted on, and which they are evaluated on.

use std::collections::HashMap;
use std::error::Error;
use std::path::Path;

use crate::labelled::{Request, value};

/// A part of the requests, by source repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Half {
    /// What may be looked at while developing a method
    Tune,
    /// What a method is evaluated on; nothing is chosen on it
    Test,
    /// The part of tune that parameters are fitted on
    Fit,
    /// The rest of tune, which shows whether the fit generalizes
    Confirm,
}

impl Half {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Tune => "tune",
            Self::Test => "test",
            Self::Fit => "fit",
            Self::Confirm => "confirm",
        }
    }
}

/// A machine translation of another registry: nothing is fitted on its language.
const TRANSLATED: &str = "AgentWorkers/skills";

/// Which half each repository is in.
pub(crate) struct Split(HashMap<String, Half>);

impl Split {
    /// Reads `split.json`, and splits its tune half again.
    ///
    /// A repository in tune is in `fit` if bit 6 of its name's FNV-1a hash is 0, else in `confirm`. Of the requests in
    /// English that do not contain the name, `fit` has 579 (trigger 110, task 256, route 213) from 10 repositories and
    /// `confirm` 428 (132, 296, 0) from 11; of the negative requests 203 and 194. Of the first 40 bits, this one splits
    /// triggers and tasks most evenly; nearly all of route is from one repository, so only one part can have it.
    pub(crate) fn read(folder: &Path) -> Result<Self, Box<dyn Error>> {
        let split = value(&folder.join("split.json"))?;
        let repositories = split["repos"].as_object().into_iter().flatten();
        let pairs = repositories.map(|(repository, half)| match half.as_str() {
            Some("test") => Ok((repository.clone(), Half::Test)),
            Some("tune") => Ok((repository.clone(), part(repository))),
            _ => Err(format!("`{repository}` is in no half: {half}").into()),
        });
        pairs.collect::<Result<_, Box<dyn Error>>>().map(Self)
    }

    /// Returns whether a request is in a half. The machine translation is in none of those of tune. The track `skillsbench` is always in test.
    pub(crate) fn is_in(&self, half: Half, request: &Request) -> bool {
        let its = match &*request.track {
            "skillsbench" => Some(Half::Test),
            _ => self.0.get(&request.repository).copied(),
        };
        match half {
            Half::Test => its == Some(half),
            _ if request.repository == TRANSLATED => false,
            Half::Tune => matches!(its, Some(Half::Fit | Half::Confirm)),
            Half::Fit | Half::Confirm => its == Some(half),
        }
    }
}

fn part(repository: &str) -> Half {
    let hash = repository
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    if (hash >> 6) & 1 == 0 {
        Half::Fit
    } else {
        Half::Confirm
    }
}

#[cfg(test)]
mod tests {
    use super::{Half, part};

    #[test]
    fn tuning_split_is_deterministic() {
        let fit = [
            "jayden-dang/skills",
            "microsoft/apm",
            "NVIDIA/skills",
            "elevenlabs/skills",
        ]
        .map(|repository| part(repository) == Half::Fit);
        assert_eq!(fit, [false, false, true, true]);
    }
}
