//! The limits that a host can set, each with its default and the reason for it.

/// Limits on what the engine reads.
///
/// Reaching a limit is reported with a diagnostic; nothing is cut silently.
///
/// ```
/// let limits = skillfold_core::Limits::default().with_walk_depth(2);
/// assert_eq!(limits.head_bytes, 4096);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of a `SKILL.md` that discovery reads first. The default is one page; only 7 of 29,805 real files have a
    /// longer frontmatter.
    pub head_bytes: usize,
    /// Maximum bytes of frontmatter after the opening fence. The longest real one is well under 16 KiB.
    pub frontmatter_bytes: usize,
    /// Maximum nesting of lists and mappings in frontmatter. Real files nest up to 6 levels.
    pub yaml_depth: usize,
    /// Maximum keys of one frontmatter, summed over all its mappings.
    pub yaml_keys: usize,
    /// Maximum depth of a skill's folder below its root. The specification has depth 1; repositories of skills nest
    /// them by topic.
    pub walk_depth: usize,
    /// Maximum folders without a `SKILL.md` that are listed per root.
    pub walk_folders: usize,
    /// Maximum directory entries examined per root, or per skill. A root of 100,000 skills has 100,000.
    pub walk_entries: usize,
    /// Maximum skills per root.
    pub skills: usize,
    /// Maximum findings that a file, a walk or a source reports individually; the rest are counted.
    pub findings: usize,
    /// Maximum nesting of folders inside a skill whose files are listed as resources.
    pub resource_depth: usize,
    /// Maximum files on one page of a skill's file listing.
    pub resources: usize,
    /// Maximum bytes returned by one read of a file.
    pub read_bytes: u64,
    /// Tokens, estimated from the file's size, above which a `SKILL.md` is reported as oversize.
    pub skill_tokens: u64,
}

setters! {
    Limits {
        with_head_bytes(head_bytes: usize),
        with_frontmatter_bytes(frontmatter_bytes: usize),
        with_yaml_depth(yaml_depth: usize),
        with_yaml_keys(yaml_keys: usize),
        with_walk_depth(walk_depth: usize),
        with_walk_folders(walk_folders: usize),
        with_walk_entries(walk_entries: usize),
        with_skills(skills: usize),
        with_findings(findings: usize),
        with_resource_depth(resource_depth: usize),
        with_resources(resources: usize),
        with_read_bytes(read_bytes: u64),
        with_skill_tokens(skill_tokens: u64),
    }
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

/// Bytes per token, for estimating token counts.
pub(crate) const BYTES_PER_TOKEN: u64 = 4;
