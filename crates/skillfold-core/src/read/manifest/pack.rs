//! What a skill says about itself, as bytes.

use crate::name::SkillName;
use crate::read::manifest::{Manifest, OptionalFields, Triggers};
use crate::read::pack::{Pack, Packer, Unpacker};

impl Pack for Manifest {
    fn pack(&self, into: &mut Packer) {
        let Self {
            name,
            description,
            optional: details,
        } = self;
        name.pack(into);
        description.pack(into);
        details.pack(into);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        Some(Self {
            name: SkillName::unpack(from)?,
            description: Pack::unpack(from)?,
            optional: Pack::unpack(from)?,
        })
    }
}

impl Pack for OptionalFields {
    fn pack(&self, into: &mut Packer) {
        let Self {
            license,
            compatibility,
            version,
            model,
            brief_description,
            allowed_tools,
            tags,
            requires,
            toolsets,
            scripts,
            triggers,
            disable_model_invocation,
            default_enabled,
            metadata,
            other,
        } = self;
        let texts = [license, compatibility, version, model, brief_description];
        for text in texts {
            text.pack(into);
        }
        let lists = [allowed_tools, tags, requires, toolsets];
        for list in lists {
            list.pack(into);
        }
        scripts.pack(into);
        triggers.pack(into);
        disable_model_invocation.pack(into);
        default_enabled.pack(into);
        metadata.pack(into);
        other.pack(into);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        Some(Self {
            license: Pack::unpack(from)?,
            compatibility: Pack::unpack(from)?,
            version: Pack::unpack(from)?,
            model: Pack::unpack(from)?,
            brief_description: Pack::unpack(from)?,
            allowed_tools: Pack::unpack(from)?,
            tags: Pack::unpack(from)?,
            requires: Pack::unpack(from)?,
            toolsets: Pack::unpack(from)?,
            scripts: Pack::unpack(from)?,
            triggers: Pack::unpack(from)?,
            disable_model_invocation: Pack::unpack(from)?,
            default_enabled: Pack::unpack(from)?,
            metadata: Pack::unpack(from)?,
            other: Pack::unpack(from)?,
        })
    }
}

impl Pack for Triggers {
    fn pack(&self, into: &mut Packer) {
        match self {
            Self::Flat(list) => {
                into.byte(0);
                list.pack(into);
            }
            Self::Structured {
                keywords,
                verbs,
                patterns,
            } => {
                into.byte(1);
                for list in [keywords, verbs, patterns] {
                    list.pack(into);
                }
            }
        }
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        match from.byte()? {
            0 => Pack::unpack(from).map(Self::Flat),
            1 => Some(Self::Structured {
                keywords: Pack::unpack(from)?,
                verbs: Pack::unpack(from)?,
                patterns: Pack::unpack(from)?,
            }),
            _ => None,
        }
    }
}
