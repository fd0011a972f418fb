//! Styles: how listings and instructions are formatted for a model.

use std::borrow::Cow;

use crate::diagnostic::visible;
use crate::disclose::fit::Layout;
use crate::disclose::tool_names::ToolNames;
use crate::load::envelope::Envelope;
use crate::load::envelope::escape::escape_markup;

words! {
    /// How listings and instructions are formatted. The same skill always yields the same bytes.
    #[derive(Default)]
    pub enum Style {
        /// What skills are and how to use them, then a plain line for each. Instructions are in `<skill_context>`.
        #[default]
        Lines = "lines",
        /// A heading, rules for the model, and `<available_skills>` with ids and descriptions. Instructions are in
        /// `<skill_context>`.
        XmlRules = "xml-rules",
        /// `<available_skills>` as in the client guide. Instructions are in `<skill_content>`.
        Xml = "xml",
        /// A heading and a list. Instructions follow under headings.
        Markdown = "markdown",
        /// A breadcrumb, a registry of brief lines, and documentation.
        Tiers = "tiers",
        /// A title and bullets, each a brief line.
        Bullets = "bullets",
    }
}

impl Style {
    /// Returns the name of the tool that loads a skill, as texts of this style mention it: for
    /// [`Bullets`](Self::Bullets) it is [`ToolNames::LOAD_ALIAS`], unless the tool was renamed.
    pub fn load_name(self, tools: &ToolNames) -> &str {
        match &*tools.load {
            ToolNames::LOAD if self == Self::Bullets => ToolNames::LOAD_ALIAS,
            name => name,
        }
    }

    /// Returns the line that says only how many skills there are.
    pub fn breadcrumb(count: usize) -> String {
        format!("[{count} skills available]")
    }

    /// Returns the text above the lines of a listing.
    pub(super) fn heading(self, tools: &ToolNames) -> String {
        match self {
            Self::Lines => format!(
                "## Skills\n\n\
                 A skill is a set of instructions for one kind of task. Always check the available skills before \
                 starting a complex task. If one fits, call `{}` with its id and follow what it returns. If none of \
                 these fits, describe the task to `{}`: there may be others.\n\n",
                tools.load, tools.search
            ),
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

    /// Returns the line about a skill.
    pub(super) fn skill_line(self, id: &str, description: &str) -> String {
        let description = collapse_whitespace(description);
        match self {
            Self::Lines => format!("- {}: {}\n", visible(id), visible(&description)),
            Self::XmlRules => element("id", id, &description),
            Self::Xml => element("name", id, &description),
            Self::Markdown | Self::Tiers if description.is_empty() => {
                format!("- **{}**\n", escape_id(id))
            }
            Self::Markdown | Self::Tiers => {
                format!("- **{}**: {}\n", escape_id(id), visible(&description))
            }
            Self::Bullets if description.is_empty() => format!("• `{}`\n", escape_id(id)),
            Self::Bullets => format!("• `{}` — {}\n", escape_id(id), visible(&description)),
        }
    }

    /// Returns the line with the skills whose descriptions do not fit.
    fn names_line(self, ids: &[&str]) -> String {
        let escape = match self {
            Self::XmlRules | Self::Xml => escape_markup,
            Self::Lines => visible,
            Self::Markdown | Self::Tiers | Self::Bullets => escape_id,
        };
        let ids: Vec<_> = ids.iter().map(|id| escape(id)).collect();
        let ids = ids.join(", ");
        match self {
            Self::XmlRules | Self::Xml => format!("  <more>{ids}</more>\n"),
            Self::Lines | Self::Markdown | Self::Tiers => format!("- More, by name only: {ids}\n"),
            Self::Bullets => format!("• More, by name only: {ids}\n"),
        }
    }

    /// Returns the line that says how many skills are not listed.
    pub(super) fn more_line(self, count: usize, tools: &ToolNames) -> String {
        let search = &tools.search;
        match self {
            Self::XmlRules | Self::Xml => {
                format!("  <more>{count} more: call {search}</more>\n")
            }
            Self::Lines | Self::Markdown | Self::Tiers => {
                format!("- {count} more: call `{search}`\n")
            }
            Self::Bullets => format!("• {count} more: call `{search}`\n"),
        }
    }

    /// Returns the text in place of a listing that shows no skill.
    pub(super) fn count_text(self, count: usize, tools: &ToolNames) -> String {
        match self {
            Self::Lines => format!(
                "Skills available: {count}. A skill is a set of instructions for one kind of task. Before a complex task, \
                 describe it to `{}`; if a skill fits, call `{}` with its id and follow what it returns.\n",
                tools.search, tools.load
            ),
            _ => self.more_line(count, tools),
        }
    }

    /// Returns the text below the lines of a listing.
    pub(super) fn footing(self, tools: &ToolNames) -> String {
        let load = &tools.load;
        match self {
            Self::Lines => String::new(),
            Self::XmlRules | Self::Xml => "</available_skills>\n".to_owned(),
            Self::Markdown => {
                format!("\nCall `{load}` with an id to get a skill's instructions.\n")
            }
            Self::Tiers => format!("\nCall `{load}` with a name to get its documentation.\n"),
            Self::Bullets => {
                let load = self.load_name(tools);
                format!("\nUse {load}(skill_id) to load full instructions.\n")
            }
        }
    }

    /// Returns the text above and below the lines of an announcement of changes.
    fn changes_frame(self) -> (&'static str, &'static str) {
        match self {
            Self::XmlRules | Self::Xml => ("<changed_skills>\n", "</changed_skills>\n"),
            Self::Lines | Self::Markdown => ("## Changed Skills\n\n", ""),
            Self::Tiers => ("## Changed Skills\n", ""),
            Self::Bullets => ("[Changed Skills]\n", ""),
        }
    }

    /// Returns the heading above the instructions that a turn gives.
    pub(super) fn bodies_heading(self) -> &'static str {
        match self {
            Self::Lines | Self::XmlRules | Self::Xml | Self::Bullets => "",
            Self::Markdown => "\n\n## Available Skills\n\n",
            Self::Tiers => "## Relevant Skill Documentation\n",
        }
    }

    /// Returns the envelope for instructions.
    pub(super) fn envelope(self) -> Envelope {
        match self {
            Self::Lines | Self::XmlRules => Envelope::SkillContext,
            Self::Xml => Envelope::SkillContent,
            Self::Bullets => Envelope::ReadSkill,
            Self::Markdown | Self::Tiers => Envelope::Plain,
        }
    }

    /// Returns the heading of one skill's instructions.
    pub(super) fn body_heading(self, id: &str) -> String {
        match self {
            Self::Lines | Self::XmlRules | Self::Xml | Self::Bullets => String::new(),
            Self::Markdown => format!("# {}\n", visible(id)),
            Self::Tiers => format!("### {}\n", visible(id)),
        }
    }
}

fn element(name: &str, id: &str, description: &str) -> String {
    format!(
        "  <skill>\n    <{name}>{}</{name}>\n    <description>{}</description>\n  </skill>\n",
        escape_markup(id),
        escape_markup(description)
    )
}

/// Escapes an id such that it cannot close the backticks or asterisks around it.
fn escape_id(id: &str) -> Cow<'_, str> {
    let id = visible(id);
    if id.contains(['`', '*']) {
        Cow::Owned(id.replace('`', "\\u{60}").replace('*', "\\u{2a}"))
    } else {
        id
    }
}

/// Collapses runs of white space to single spaces.
fn collapse_whitespace(text: &str) -> Cow<'_, str> {
    let is_collapsed = !text.contains(['\n', '\t', '\r'])
        && !text.contains("  ")
        && !text.starts_with(' ')
        && !text.ends_with(' ');
    if is_collapsed {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The layout of a listing in a style.
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
            heading: style.heading(tools),
            footing: style.footing(tools),
        }
    }

    /// Creates the layout of an announcement of changes.
    pub(super) fn for_changes(style: Style, tools: &'t ToolNames) -> Self {
        let (heading, footing) = style.changes_frame();
        Self {
            style,
            tools,
            heading: heading.to_owned(),
            footing: footing.to_owned(),
        }
    }
}

impl Layout for StyleLayout<'_> {
    fn header(&self) -> &str {
        &self.heading
    }

    fn line(&self, id: &str, description: &str) -> String {
        self.style.skill_line(id, description)
    }

    fn names(&self, ids: &[&str]) -> String {
        self.style.names_line(ids)
    }

    fn more(&self, count: usize) -> String {
        self.style.more_line(count, self.tools)
    }

    fn count(&self, count: usize) -> String {
        self.style.count_text(count, self.tools)
    }

    fn footer(&self) -> &str {
        &self.footing
    }
}
