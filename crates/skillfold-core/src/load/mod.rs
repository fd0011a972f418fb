//! Loading: instructions with their arguments filled in, wrapped in an envelope, and the skill's files.

pub(crate) mod body;

pub(crate) mod arguments;

pub(crate) mod envelope;

pub(crate) mod instructions;

pub(crate) mod digest;
pub(crate) mod instruction_cache;

mod skill_digest;

pub(crate) mod loader;

pub(crate) mod requires;

mod mentions;

pub(crate) mod file;

pub(crate) mod files;

pub(crate) mod publish;

pub(crate) mod render;

pub use crate::cache::{BoundedCache, CacheStats};
pub use arguments::{Dialect, argument_names, split_words};
pub use body::read_body;
pub use digest::{Digest, DigestHasher, InvalidDigest};
pub use envelope::{Envelope, EnvelopeParts, InvalidEnvelope, LoadFailure, RenderedEnvelope};
pub use file::FileContent;
pub use files::{FileKind, FileList, SkillFile};
pub use instructions::{Instructions, Strictness};
pub use loader::{Freshness, LoadOptions, Loader};
pub use publish::{Publication, PublishedFile};
pub use render::LoadedText;
pub use requires::RequiredSkills;
pub use skill_digest::{
    FileDigest, FileDigests, combined_digest, file_digests, skill_digest, whole_skill_limits,
};
