//! The optional fields of a skill: as they were read, or as an earlier process left them.

use std::fmt;
use std::sync::OnceLock;

use crate::read::manifest::OptionalFields;
use crate::read::pack::{Pack, Packer, Unpacker};

/// The optional fields. Among many skills that are remembered few are ever asked for theirs, so that those stay as bytes
/// until somebody does.
#[derive(Clone)]
pub(super) enum Optional {
    /// The skill has none.
    None,
    /// The box keeps a skill that has none small.
    Read(Box<OptionalFields>),
    Remembered {
        /// The numbers, then the text.
        bytes: Box<[u8]>,
        /// Where the text starts.
        text_at: u32,
        said: Flags,
        unpacked: OnceLock<Option<Box<OptionalFields>>>,
    },
}

/// What is asked of every skill, at hand without the rest.
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
            Self::Read(Box::new(details))
        }
    }

    pub(super) fn get(&self) -> Option<&OptionalFields> {
        match self {
            Self::None => None,
            Self::Read(details) => Some(details),
            Self::Remembered {
                bytes,
                text_at,
                unpacked,
                ..
            } => unpacked
                .get_or_init(|| unpack(bytes, *text_at).map(Box::new))
                .as_deref(),
        }
    }

    pub(super) fn said(&self) -> Flags {
        match self {
            Self::None => Flags::of(&OptionalFields::default()),
            Self::Read(details) => Flags::of(details),
            Self::Remembered { said, .. } => *said,
        }
    }
}

impl Flags {
    fn of(details: &OptionalFields) -> Self {
        Self {
            disable_model_invocation: details.disable_model_invocation,
            default_enabled: details.default_enabled,
        }
    }
}

fn unpack(bytes: &[u8], text_at: u32) -> Option<OptionalFields> {
    let (numbers, text) = bytes.split_at_checked(usize::try_from(text_at).ok()?)?;
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
        self.said().pack(into);
        let mut packed = Packer::default();
        details.pack(&mut packed);
        into.part(&packed);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        if !bool::unpack(from)? {
            return Some(Self::None);
        }
        let said = Flags::unpack(from)?;
        let (numbers, text) = from.part()?;
        Some(Self::Remembered {
            bytes: [numbers, text.as_bytes()].concat().into(),
            text_at: u32::try_from(numbers.len()).ok()?,
            said,
            unpacked: OnceLock::new(),
        })
    }
}
