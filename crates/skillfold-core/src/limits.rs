//! Every cap of the engine, its default and its reason.

/// Caps on what the engine reads, each with the reason for its default.
///
/// A cap that is reached is reported with a diagnostic; nothing is cut silently.
///
/// ```
/// let limits = skillfold_core::Limits { walk_depth: 2, ..Default::default() };
/// assert_eq!(limits.head_bytes, 4096);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "hosts set single caps with struct update syntax"
)]
pub struct Limits {
    /// Bytes of a `SKILL.md` that discovery reads first. One page; 7 of 29,805 real files have a longer frontmatter.
    pub head_bytes: usize,
    /// Bytes of frontmatter after the opening fence. The longest real one is well under 16 KiB.
    pub frontmatter_bytes: usize,
    /// Nesting of lists and mappings in frontmatter. Real files nest to 6.
    pub yaml_depth: usize,
    /// Keys of all mappings of one frontmatter together.
    pub yaml_keys: usize,
    /// Folders from a root down to a skill, the skill's own included. The specification has one; sources of skills nest them by topic.
    pub walk_depth: usize,
    /// Folders of one root that hold no `SKILL.md` and are listed in search of one.
    pub walk_folders: usize,
    /// Directory entries of one root, or of one skill, that are looked at. A root of 100,000 skills has 100,000.
    pub walk_entries: usize,
    /// Skills of one root.
    pub skills: usize,
    /// Findings that one file, one walk or one source reports one by one; the rest are counted.
    pub findings: usize,
    /// Nesting of folders inside a skill that are listed as resources.
    pub resource_depth: usize,
    /// Files of one skill that one page of its listing holds.
    pub resources: usize,
    /// Bytes that one read of a file returns at most.
    pub read_bytes: u64,
    /// Tokens of a `SKILL.md` above which it is reported as oversize; estimated from the file's size.
    pub skill_tokens: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head_bytes: 4 * 1024,
            frontmatter_bytes: 64 * 1024,
            yaml_depth: 32,
            yaml_keys: 512,
            walk_depth: 5,
            walk_folders: 20_000,
            walk_entries: 1_000_000,
            skills: 200_000,
            findings: 1_000,
            resource_depth: 5,
            resources: 10_000,
            read_bytes: 16 * 1024 * 1024,
            skill_tokens: 8_000,
        }
    }
}

/// Bytes that are counted as one token where a token count is estimated.
pub(crate) const BYTES_PER_TOKEN: u64 = 4;
