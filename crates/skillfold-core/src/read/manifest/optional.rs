//! The optional fields of a skill: parsed, or still packed as loaded from the cache.

use std::fmt;
use std::sync::OnceLock;

use crate::read::manifest::OptionalFields;
use crate::read::pack::{Pack, Packer, Unpacker};

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
        /// The numbers, followed by the text.
        bytes: Box<[u8]>,
        /// Offset of the text in `bytes`.
        text_start: u32,
        flags: Flags,
        unpacked: OnceLock<Option<Box<OptionalFields>>>,
    },
}

/// The fields that are checked for every skill, available without unpacking the rest.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Flags {
    pub(super) disable_model_invocation: Option<bool>,
    pub(super) default_enabled: Option<bool>,
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
                bytes,
                text_start,
                unpacked,
                ..
            } => unpacked
                .get_or_init(|| unpack(bytes, *text_start).map(Box::new))
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
        }
    }
}

fn unpack(bytes: &[u8], text_start: u32) -> Option<OptionalFields> {
    let (numbers, text) = bytes.split_at_checked(usize::try_from(text_start).ok()?)?;
    OptionalFields::unpack(&mut Unpacker::new(numbers, std::str::from_utf8(text).ok()?))
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

impl Pack for Flags {
    fn pack(&self, into: &mut Packer) {
        self.disable_model_invocation.pack(into);
        self.default_enabled.pack(into);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        Some(Self {
            disable_model_invocation: Pack::unpack(from)?,
            default_enabled: Pack::unpack(from)?,
        })
    }
}

impl Pack for Optional {
    fn pack(&self, into: &mut Packer) {
        let Some(details) = self.get() else {
            return false.pack(into);
        };
        true.pack(into);
        self.flags().pack(into);
        let mut packed = Packer::default();
        details.pack(&mut packed);
        into.part(&packed);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        if !bool::unpack(from)? {
            return Some(Self::None);
        }
        let flags = Flags::unpack(from)?;
        let (numbers, text) = from.part()?;
        Some(Self::Packed {
            bytes: [numbers, text.as_bytes()].concat().into(),
            text_start: u32::try_from(numbers.len()).ok()?,
            flags,
            unpacked: OnceLock::new(),
        })
    }
}
