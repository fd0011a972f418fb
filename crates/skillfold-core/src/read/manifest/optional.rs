//! The optional fields of a skill: parsed, or still packed as loaded from the cache.

use std::fmt;
use std::sync::OnceLock;

use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::read::manifest::fields::OptionalFields;

/// The optional fields. Of the many skills in the cache few are ever asked for theirs, so cached fields stay packed
/// until first use.
#[derive(Clone)]
pub(super) enum Optional {
    /// The skill has none.
    None,
    /// Boxed to keep skills without optional fields small.
    Parsed(Box<OptionalFields>),
    /// Loaded from the cache, unpacked on first use.
    Packed {
        bytes: Box<[u8]>,
        flags: Flags,
        unpacked: OnceLock<Option<Box<OptionalFields>>>,
    },
}

/// The fields that are checked for every skill, available without unpacking the rest.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Flags {
    pub(super) disable_model_invocation: Option<bool>,
    pub(super) default_enabled: Option<bool>,
    pub(super) has_engines: bool,
}

impl Optional {
    pub(super) fn new(details: OptionalFields) -> Self {
        if details == OptionalFields::default() {
            Self::None
        } else {
            Self::Parsed(Box::new(details))
        }
    }

    pub(super) fn get(&self) -> Option<&OptionalFields> {
        match self {
            Self::None => None,
            Self::Parsed(details) => Some(details),
            Self::Packed {
                bytes, unpacked, ..
            } => unpacked
                .get_or_init(|| postcard::from_bytes(bytes).ok())
                .as_deref(),
        }
    }

    pub(super) fn flags(&self) -> Flags {
        match self {
            Self::None => Flags::from_fields(&OptionalFields::default()),
            Self::Parsed(details) => Flags::from_fields(details),
            Self::Packed { flags, .. } => *flags,
        }
    }
}

impl Flags {
    fn from_fields(details: &OptionalFields) -> Self {
        Self {
            disable_model_invocation: details.disable_model_invocation,
            default_enabled: details.default_enabled,
            has_engines: !details.engines.is_empty(),
        }
    }
}

impl fmt::Debug for Optional {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(formatter)
    }
}

impl PartialEq for Optional {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for Optional {}

/// The optional fields as they are in the cache.
#[derive(Serialize, Deserialize)]
struct PackedFields<'a> {
    flags: Flags,
    bytes: &'a [u8],
}

impl Serialize for Optional {
    fn serialize<S: Serializer>(&self, into: S) -> Result<S::Ok, S::Error> {
        let Some(fields) = self.get() else {
            return None::<PackedFields<'_>>.serialize(into);
        };
        let bytes = postcard::to_allocvec(fields).map_err(S::Error::custom)?;
        let flags = self.flags();
        Some(PackedFields {
            flags,
            bytes: &bytes,
        })
        .serialize(into)
    }
}

impl<'de> Deserialize<'de> for Optional {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let packed = Option::<PackedFields<'_>>::deserialize(from)?;
        Ok(
            packed.map_or(Self::None, |PackedFields { flags, bytes }| Self::Packed {
                bytes: bytes.into(),
                flags,
                unpacked: OnceLock::new(),
            }),
        )
    }
}
