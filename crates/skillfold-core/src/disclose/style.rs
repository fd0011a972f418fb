//! How skills are written down for a model: a line each, or their instructions.

use std::borrow::Cow;
use std::fmt;

use crate::diagnostic::visible;
use crate::disclose::fit::Layout;
use crate::load::envelope::Envelope;
use crate::load::envelope::escape::escaped;

/// How listings and instructions are written. Every part is the same bytes for the same skill.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Style {
    /// A heading, rules for the model, and `<available_skills>` with ids and descriptions. Instructions are in
    /// `<skill_context>`.
    #[default]
    XmlRules,
    /// `<available_skills>` as in the guide for clients. Instructions are in `<skill_content>`.
    Xml,
    /// A heading and a list. Instructions follow under headings.
    Markdown,
    /// A breadcrumb, a registry of brief lines, and documentation.
    Tiers,
    /// A title and bullets.
    Bullets,
}

/// The names of the tools that a listing speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "hosts set single names with struct update syntax"
)]
pub struct ToolNames {
    /// Loads the instructions of a skill.
    pub load: Box<str>,
    /// Finds skills by words.
    pub search: Box<str>,
}

impl Default for ToolNames {
    fn default() -> Self {
        Self {
            load: "load_skill".into(),
            search: "search_skills".into(),
        }
    }
}

impl Style {
    /// Every style.
    pub const ALL: [Self; 5] = [
        Self::XmlRules,
        Self::Xml,
        Self::Markdown,
        Self::Tiers,
        Self::Bullets,
    ];

    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::XmlRules => "xml-rules",
            Self::Xml => "xml",
            Self::Markdown => "markdown",
            Self::Tiers => "tiers",
            Self::Bullets => "bullets",
        }
    }

    /// Returns the line that says how many skills there are, and nothing about them.
    pub fn breadcrumb(count: usize) -> String {
        format!("[{count} skills available]")
    }

    /// Returns what stands before the lines.
    pub(super) fn head(self, tools: &ToolNames) -> String {
        match self {
            Self::XmlRules => format!(
                "## Agent Skills\n\n\
                 A skill is a set of instructions for one kind of task. Only its description is shown here.\n\
                 1. Always check the available skills before starting a complex task.\n\
                 2. If one fits the request, call `{}` with its id as `skill_id`, character for character.\n\
                 3. An id is not the name of a tool; never call it as one.\n\
                 4. Then go on with the task, and follow the instructions as far as they serve it.\n\n\
                 <available_skills>\n",
                tools.load
            ),
            Self::Xml => "<available_skills>\n".to_owned(),
            Self::Markdown => "## Available Skills\n\n".to_owned(),
            Self::Tiers => "## Available Skills\n".to_owned(),
            Self::Bullets => "[Available Skills]\n".to_owned(),
        }
    }

    /// Returns the line of a skill.
    pub(super) fn line(self, id: &str, description: &str) -> String {
        let description = one_line(description);
        match self {
            Self::XmlRules => element("id", id, &description),
            Self::Xml => element("name", id, &description),
            Self::Markdown | Self::Tiers if description.is_empty() => {
                format!("- **{}**\n", plain(id))
            }
            Self::Markdown | Self::Tiers => {
                format!("- **{}**: {}\n", plain(id), visible(&description))
            }
            Self::Bullets if description.is_empty() => format!("• `{}`\n", plain(id)),
            Self::Bullets => format!("• `{}` — {}\n", plain(id), visible(&description)),
        }
    }

    /// Returns the line that says how many skills are not listed.
    pub(super) fn more(self, count: usize, tools: &ToolNames) -> String {
        let search = &tools.search;
        match self {
            Self::XmlRules | Self::Xml => {
                format!("  <more>{count} more: call {search}</more>\n")
            }
            Self::Markdown | Self::Tiers => format!("- {count} more: call `{search}`\n"),
            Self::Bullets => format!("• {count} more: call `{search}`\n"),
        }
    }

    /// Returns what stands after the lines.
    pub(super) fn foot(self, tools: &ToolNames) -> String {
        let load = &tools.load;
        match self {
            Self::XmlRules | Self::Xml => "</available_skills>\n".to_owned(),
            Self::Markdown => {
                format!("\nCall `{load}` with an id to get a skill's instructions.\n")
            }
            Self::Tiers => format!("\nCall `{load}` with a name to get its documentation.\n"),
            Self::Bullets => "\nUse read_skill(skill_id) to load full instructions.\n".to_owned(),
        }
    }

    /// Returns what stands before and after lines about what changed.
    fn around_changes(self) -> (&'static str, &'static str) {
        match self {
            Self::XmlRules | Self::Xml => ("<changed_skills>\n", "</changed_skills>\n"),
            Self::Markdown => ("## Changed Skills\n\n", ""),
            Self::Tiers => ("## Changed Skills\n", ""),
            Self::Bullets => ("[Changed Skills]\n", ""),
        }
    }

    /// Returns what stands before instructions that are given unasked.
    pub(super) fn bodies_head(self) -> &'static str {
        match self {
            Self::XmlRules | Self::Xml | Self::Bullets => "",
            Self::Markdown => "\n\n## Available Skills\n\n",
            Self::Tiers => "## Relevant Skill Documentation\n",
        }
    }

    /// Returns the envelope of instructions, where they are in one.
    pub(super) fn envelope(self) -> Envelope {
        match self {
            Self::XmlRules => Envelope::SkillContext,
            Self::Xml => Envelope::SkillContent,
            Self::Bullets => Envelope::ReadSkill,
            Self::Markdown | Self::Tiers => Envelope::Plain,
        }
    }

    /// Returns the heading of one skill's instructions.
    pub(super) fn body_heading(self, id: &str) -> String {
        match self {
            Self::XmlRules | Self::Xml | Self::Bullets => String::new(),
            Self::Markdown => format!("# {}\n", visible(id)),
            Self::Tiers => format!("### {}\n", visible(id)),
        }
    }
}

impl fmt::Display for Style {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

fn element(name: &str, id: &str, description: &str) -> String {
    format!(
        "  <skill>\n    <{name}>{}</{name}>\n    <description>{}</description>\n  </skill>\n",
        escaped(id),
        escaped(description)
    )
}

/// Returns an id as it stands between marks of its own: it cannot end them.
fn plain(id: &str) -> Cow<'_, str> {
    let shown = visible(id);
    if shown.contains(['`', '*']) {
        Cow::Owned(shown.replace('`', "\\u{60}").replace('*', "\\u{2a}"))
    } else {
        shown
    }
}

/// Returns a text with its white space collapsed.
fn one_line(text: &str) -> Cow<'_, str> {
    let is_collapsed = !text.contains(['\n', '\t', '\r'])
        && !text.contains("  ")
        && !text.starts_with(' ')
        && !text.ends_with(' ');
    if is_collapsed {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// A style as listings are fitted to their budget in it.
pub(super) struct StyleLayout<'t> {
    style: Style,
    tools: &'t ToolNames,
    heading: String,
    footing: String,
}

impl<'t> StyleLayout<'t> {
    pub(super) fn new(style: Style, tools: &'t ToolNames) -> Self {
        Self {
            style,
            tools,
            heading: style.head(tools),
            footing: style.foot(tools),
        }
    }

    /// A list of what changed since the listing.
    pub(super) fn of_changes(style: Style, tools: &'t ToolNames) -> Self {
        let (heading, footing) = style.around_changes();
        Self {
            style,
            tools,
            heading: heading.to_owned(),
            footing: footing.to_owned(),
        }
    }
}

impl Layout for StyleLayout<'_> {
    fn heading(&self) -> &str {
        &self.heading
    }

    fn line(&self, id: &str, description: &str, into: &mut String) {
        into.push_str(&self.style.line(id, description));
    }

    fn more(&self, left_out: usize, into: &mut String) {
        into.push_str(&self.style.more(left_out, self.tools));
    }

    fn footing(&self) -> &str {
        &self.footing
    }
}
