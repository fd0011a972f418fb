//! The lock files of `npx skills`: `skills-lock.json` in a project, and `.skill-lock.json` for the user.
//!
//! Written against version 1.7.4. That tool takes a file that it cannot read for an empty one, and then overwrites it.

use skillfold_core::Error;

use crate::foreign::json::{Json, Object};
use crate::foreign::{broken, check_size, unknown_version};

/// Which of the two lock files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SkillsLockKind {
    /// `skills-lock.json` at the top of a project, in version 1.
    Project,
    /// `.skill-lock.json` in `$XDG_STATE_HOME/skills` or `~/.agents`, in version 3.
    Global,
}

impl SkillsLockKind {
    /// Returns the file's name.
    pub fn file_name(self) -> &'static str {
        match self {
            Self::Project => "skills-lock.json",
            Self::Global => ".skill-lock.json",
        }
    }

    fn version(self) -> i64 {
        match self {
            Self::Project => 1,
            Self::Global => 3,
        }
    }

    /// Returns the order in which that tool writes an entry's fields.
    fn field_order(self) -> &'static [&'static str] {
        match self {
            Self::Project => &[
                "source",
                "sourceUrl",
                "ref",
                "sourceType",
                "skillPath",
                "version",
                "computedHash",
                "skillFolderHash",
                "sourceBaseUrl",
                "wellKnownDigest",
                "pluginName",
                "installedAt",
                "updatedAt",
            ],
            Self::Global => &[
                "source",
                "sourceType",
                "sourceUrl",
                "ref",
                "skillPath",
                "computedHash",
                "skillFolderHash",
                "sourceBaseUrl",
                "wellKnownDigest",
                "pluginName",
                "installedAt",
                "updatedAt",
            ],
        }
    }
}

/// An entry of a lock file. Fields that are not here are kept by [`SkillsLock::set`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillsLockEntry {
    /// The skill's name.
    pub name: String,
    /// Where it comes from, such as `owner/repo`, or a path. In a project, a local path is relative to the lock file's
    /// folder.
    pub source: String,
    /// The kind of source, such as `github`, `git`, `local` or `well-known`.
    pub source_type: String,
    /// The full address of the source.
    pub source_url: Option<String>,
    /// The branch, tag or commit that the user asked for.
    pub git_ref: Option<String>,
    /// The path of its `SKILL.md` in the source.
    pub skill_path: Option<String>,
    /// The hash of its files in a project; see [`computed_hash`](crate::foreign::computed_hash).
    pub computed_hash: Option<String>,
    /// The hash of its files for the user: the id of git's tree for sources on GitHub, else as `computed_hash`. Empty if
    /// it is unknown.
    pub skill_folder_hash: Option<String>,
    /// The address that a well-known source was added by.
    pub source_base_url: Option<String>,
    /// The digest that a well-known source publishes.
    pub well_known_digest: Option<String>,
    /// The plugin that lists the skill.
    pub plugin_name: Option<String>,
    /// When it was first installed, as `2026-11-18T23:48:55.868Z`.
    pub installed_at: Option<String>,
    /// When it was last installed.
    pub updated_at: Option<String>,
}

impl SkillsLockEntry {
    /// Creates an entry without optional fields.
    pub fn new(
        name: impl Into<String>,
        source: impl Into<String>,
        source_type: impl Into<String>,
    ) -> Self {
        Self {
            name: name.into(),
            source: source.into(),
            source_type: source_type.into(),
            source_url: None,
            git_ref: None,
            skill_path: None,
            computed_hash: None,
            skill_folder_hash: None,
            source_base_url: None,
            well_known_digest: None,
            plugin_name: None,
            installed_at: None,
            updated_at: None,
        }
    }

    /// Reads an entry. The error is the reason why it is broken.
    fn from_json(name: &str, json: &Json) -> Result<Self, String> {
        let Some(fields) = json.as_object() else {
            return Err(format!("`skills.{name}` is not an object"));
        };
        let optional = |field| match fields.get(field) {
            None | Some(Json::Null) => Ok(None),
            Some(Json::Text(text)) => Ok(Some(text.clone())),
            Some(_) => Err(format!("`skills.{name}.{field}` is not a string")),
        };
        let required = |field| {
            let text: Option<String> = optional(field)?;
            text.ok_or_else(|| format!("`skills.{name}` has no `{field}`"))
        };
        let mut entry = Self::new(name, required("source")?, required("sourceType")?);
        for (field, slot) in entry.optional_fields() {
            *slot = optional(field)?;
        }
        Ok(entry)
    }

    pub(super) fn optional_fields(&mut self) -> [(&'static str, &mut Option<String>); 10] {
        [
            ("sourceUrl", &mut self.source_url),
            ("ref", &mut self.git_ref),
            ("skillPath", &mut self.skill_path),
            ("computedHash", &mut self.computed_hash),
            ("skillFolderHash", &mut self.skill_folder_hash),
            ("sourceBaseUrl", &mut self.source_base_url),
            ("wellKnownDigest", &mut self.well_known_digest),
            ("pluginName", &mut self.plugin_name),
            ("installedAt", &mut self.installed_at),
            ("updatedAt", &mut self.updated_at),
        ]
    }
}

/// A lock file of `npx skills`.
///
/// ```
/// use skillfold_registry::foreign::{SkillsLock, SkillsLockEntry, SkillsLockKind};
///
/// let text = r#"{"version": 1, "skills": {"pdf": {"source": "a/b", "sourceType": "github", "note": "mine"}}}"#;
/// let mut lock = SkillsLock::parse(text, SkillsLockKind::Project, "skills-lock.json")?;
/// lock.set(SkillsLockEntry::new("pdf", "a/c", "github"));
/// assert!(lock.to_text().contains("mine"));
/// # Ok::<(), skillfold_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SkillsLock {
    kind: SkillsLockKind,
    /// The whole file. Its field `skills` is an object of valid entries.
    root: Object,
}

impl SkillsLock {
    /// Creates a lock file without entries.
    pub fn new(kind: SkillsLockKind) -> Self {
        let mut root = Object::default();
        root.set("version", Json::Integer(kind.version()));
        root.set(SKILLS, Json::Object(Object::default()));
        if kind == SkillsLockKind::Global {
            root.set("dismissed", Json::Object(Object::default()));
        }
        Self { kind, root }
    }

    /// Parses a lock file; `path` names it in messages.
    ///
    /// # Errors
    ///
    /// It is not valid JSON, has another version, has a name twice, or an entry without a source.
    pub fn parse(text: &str, kind: SkillsLockKind, path: &str) -> Result<Self, Error> {
        check_size(path, text)?;
        let root: Json = serde_json::from_str(text)
            .map_err(|error| broken(path, format!("it is not valid JSON, {error}")))?;
        let Json::Object(root) = root else {
            return Err(broken(path, "it is not an object"));
        };
        match root.get("version") {
            Some(Json::Integer(version)) if *version == kind.version() => {}
            Some(version @ (Json::Integer(_) | Json::Large(_) | Json::Float(_))) => {
                let known = kind.version().to_string();
                return Err(unknown_version(path, &version.to_text(), &known));
            }
            _ => return Err(broken(path, "`version` is not a number")),
        }
        let Some(skills) = root.get(SKILLS).and_then(Json::as_object) else {
            return Err(broken(path, "`skills` is not an object"));
        };
        for (name, entry) in skills.iter() {
            SkillsLockEntry::from_json(name, entry).map_err(|reason| broken(path, reason))?;
        }
        Ok(Self { kind, root })
    }

    /// Returns the entries, in file order.
    pub fn entries(&self) -> impl Iterator<Item = SkillsLockEntry> {
        let entry = |(name, json)| SkillsLockEntry::from_json(name, json).ok();
        let skills = self.skills().map(Object::iter);
        skills.into_iter().flatten().filter_map(entry)
    }

    /// Returns an entry.
    pub fn get(&self, name: &str) -> Option<SkillsLockEntry> {
        let json = self.skills()?.get(name)?;
        SkillsLockEntry::from_json(name, json).ok()
    }

    /// Adds or changes an entry. A known field that the entry does not have is removed; others are kept.
    pub fn set(&mut self, mut entry: SkillsLockEntry) {
        let order = self.kind.field_order();
        let Some(Json::Object(skills)) = self.root.get_mut(SKILLS) else {
            return;
        };
        let known = skills.get(&entry.name).and_then(Json::as_object);
        let mut fields = known.cloned().unwrap_or_default();
        fields.set_in_order("source", Json::Text(entry.source.clone()), order);
        fields.set_in_order("sourceType", Json::Text(entry.source_type.clone()), order);
        for (field, value) in entry.optional_fields() {
            match value.take() {
                Some(text) => fields.set_in_order(field, Json::Text(text), order),
                None => _ = fields.remove(field),
            }
        }
        skills.set(&entry.name, Json::Object(fields));
    }

    /// Removes an entry, and returns whether there was one.
    pub fn remove(&mut self, name: &str) -> bool {
        match self.root.get_mut(SKILLS) {
            Some(Json::Object(skills)) => skills.remove(name),
            _ => false,
        }
    }

    /// Formats the file as that tool does: a project's with sorted names and a final line break, the user's in the order
    /// of installation and without one.
    pub fn to_text(&self) -> String {
        let mut root = self.root.clone();
        match self.kind {
            SkillsLockKind::Project => {
                if let Some(Json::Object(skills)) = root.get_mut(SKILLS) {
                    skills.sort();
                }
                Json::Object(root).to_text() + "\n"
            }
            SkillsLockKind::Global => Json::Object(root).to_text(),
        }
    }

    fn skills(&self) -> Option<&Object> {
        self.root.get(SKILLS)?.as_object()
    }
}

const SKILLS: &str = "skills";
