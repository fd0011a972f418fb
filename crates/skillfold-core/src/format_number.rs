//! The number of a file's format.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The member `format` of a file that this version writes in format `N`. Reading any other number fails, with a message that says
/// what to do: a file of a newer version is not guessed at.
///
/// ```
/// use skillfold_core::text::FormatNumber;
///
/// assert_eq!(serde_json::to_string(&FormatNumber::<1>::default())?, "1");
/// let newer: Result<FormatNumber<1>, _> = serde_json::from_str("2");
/// assert!(newer.unwrap_err().to_string().starts_with("format 2 is newer than format 1"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FormatNumber<const N: u32>;

impl<const N: u32> Serialize for FormatNumber<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(N)
    }
}

impl<'de, const N: u32> Deserialize<'de> for FormatNumber<N> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match u32::deserialize(from)? {
            found if found == N => Ok(Self),
            found => Err(D::Error::custom(OtherFormat { found, known: N })),
        }
    }
}

/// A file has another format than this version reads.
struct OtherFormat {
    found: u32,
    known: u32,
}

impl fmt::Display for OtherFormat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { found, known } = self;
        let version = env!("CARGO_PKG_VERSION");
        let (age, way_out) = if found > known {
            ("newer", "update skillfold")
        } else {
            ("older", "an older skillfold wrote it")
        };
        write!(
            formatter,
            "format {found} is {age} than format {known}, which skillfold {version} reads; {way_out}, or move the file aside"
        )
    }
}
