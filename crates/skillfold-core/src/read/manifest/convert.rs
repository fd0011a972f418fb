//! Converts the frontmatter tree to a manifest.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Position, Report, Span, quoted};
use crate::name::{ResourcePath, SkillName, is_usable_name};
use crate::read::bare;
use crate::read::field::{Field, find_entry};
use crate::read::manifest::Manifest;
use crate::read::manifest::engines::{read_compatibility, read_engines};
use crate::read::manifest::fields::{OptionalFields, Triggers};
use crate::read::manifest::optional::Optional;
use crate::read::manifest::scripts::{is_toolset, script_path};
use crate::read::value::{Fields, Value};
use crate::read::yaml::{Kind, MappingEntry, Node};

type List = Box<[Box<str>]>;

/// Converts the fields of a skill in the folder named `folder`, and reports findings.
///
/// Returns `None` for a skill without a usable name. A missing description is replaced by one from `body`, the
/// instructions. `end` returns the position at which missing fields are reported.
pub(crate) fn convert(
    entries: &[MappingEntry<'_>],
    folder: &str,
    body: &[u8],
    end: &dyn Fn() -> Position,
    findings: &mut Vec<Diagnostic>,
) -> Option<Manifest> {
    let mut reader = FieldReader {
        name: None,
        description: None,
        details: OptionalFields::default(),
        fields_given: 0,
        other: Vec::new(),
        findings,
    };
    for (index, entry) in entries.iter().enumerate() {
        reader.read_entry(entry, &entries[..index], entries);
    }
    if let Some(entry) = find_entry(entries, Field::Metadata) {
        reader.read_metadata(&entry.value);
    }
    reader.finish(folder, body, end)
}

/// Returns whether a value is null or only white space.
fn is_empty(node: &Node<'_>) -> bool {
    matches!(&node.kind, Kind::Scalar { text, .. } if text.trim().is_empty()) || node.is_null()
}

/// The fields read so far.
struct FieldReader<'a, 'f> {
    name: Option<(&'a str, Span)>,
    description: Option<&'a str>,
    details: OptionalFields,
    /// The set of fields that have a value, as [`Field::bit`]s.
    fields_given: u32,
    other: Vec<(&'a str, Value)>,
    findings: &'f mut Vec<Diagnostic>,
}

impl<'a> FieldReader<'a, '_> {
    /// Reads one top-level field. What is not read is kept in `other`.
    fn read_entry(
        &mut self,
        entry: &'a MappingEntry<'_>,
        earlier: &[MappingEntry<'_>],
        all: &[MappingEntry<'_>],
    ) {
        let Some(field) = self.identify_field(entry, all) else {
            return self.keep_unread(entry);
        };
        if self.fields_given & field.bit() != 0 {
            // A duplicate with the same spelling is already reported.
            if !earlier.iter().any(|earlier| earlier.key == entry.key) {
                let message = format!(
                    "Field {} is already given in another spelling",
                    quoted(&entry.key)
                );
                self.findings
                    .report(Code::YamlDuplicateKey, entry.key_span, message);
            }
            return self.keep_unread(entry);
        }
        if is_empty(&entry.value) {
            return;
        }
        self.fields_given |= field.bit();
        if let Err(code) = self.read_field(field, entry) {
            let message = format!("Field {} has an unexpected value", quoted(&entry.key));
            self.findings.report(code, entry.value.span, message);
            self.keep_unread(entry);
        }
    }

    fn keep_unread(&mut self, entry: &'a MappingEntry<'_>) {
        self.other.push((&entry.key, Value::from(&entry.value)));
    }

    /// Identifies the field of an entry, by its name or by a similar name.
    fn identify_field(
        &mut self,
        entry: &MappingEntry<'_>,
        all: &[MappingEntry<'_>],
    ) -> Option<Field> {
        if let Some(field) = Field::from_key(&entry.key) {
            return Some(field);
        }
        let (spelling, field) = Field::from_similar_key(&entry.key)?;
        // The correct spelling takes precedence, wherever it is.
        if all
            .iter()
            .any(|other| Field::from_key(&other.key) == Some(field))
        {
            return None;
        }
        let message = format!("Field {} is read as `{spelling}`", quoted(&entry.key));
        self.findings
            .report(Code::FieldSpelling, entry.key_span, message);
        Some(field)
    }

    /// Reads the value of a field, or returns the code of what is wrong with it.
    fn read_field(&mut self, field: Field, entry: &'a MappingEntry<'_>) -> Result<(), Code> {
        let value = &entry.value;
        match field {
            Field::Name => self.name = Some((scalar_text(value)?.trim(), value.span)),
            Field::Description => self.description = Some(scalar_text(value)?),
            Field::Metadata => match &value.kind {
                Kind::Map(entries) => {
                    self.details.metadata = entries
                        .iter()
                        .map(|entry| (&*entry.key, Value::from(&entry.value)))
                        .collect();
                }
                Kind::Scalar { .. } | Kind::List(_) => return Err(Code::WrongType),
            },
            Field::Scripts => self.details.scripts = self.read_scripts(value)?,
            Field::License => self.details.license = Some(scalar_text(value)?.into()),
            Field::Compatibility => self.details.compatibility = Some(scalar_text(value)?.into()),
            _ => self.read_extension(field, value)?,
        }
        Ok(())
    }

    /// Reads a field that may also be given under `metadata`.
    fn read_extension(&mut self, field: Field, value: &Node<'_>) -> Result<(), Code> {
        match field {
            Field::Version => {
                let version = scalar_text(value)?;
                if !is_semver(version) {
                    let message = format!("Version {} is not of the form `1.0.0`", quoted(version));
                    self.findings.report(Code::VersionForm, value.span, message);
                }
                self.details.version = Some(version.into());
            }
            Field::Model => self.details.model = Some(scalar_text(value)?.into()),
            Field::BriefDescription => {
                self.details.brief_description = Some(scalar_text(value)?.into());
            }
            Field::AllowedTools => {
                self.details.allowed_tools = self.read_list(value, Split::Tools)?;
            }
            Field::Tags => self.details.tags = self.read_list(value, Split::Words)?,
            Field::Requires => self.details.requires = self.read_list(value, Split::Words)?,
            Field::Toolsets => self.details.toolsets = self.read_toolsets(value)?,
            Field::Triggers => self.details.triggers = Some(self.read_triggers(value)?),
            Field::DisableModelInvocation => {
                self.details.disable_model_invocation = Some(parse_bool(value)?);
            }
            Field::DefaultEnabled => self.details.default_enabled = Some(parse_bool(value)?),
            Field::Engines => self.details.engines = read_engines(value, self.findings)?,
            Field::Name
            | Field::Description
            | Field::License
            | Field::Compatibility
            | Field::Metadata
            | Field::Scripts => {}
        }
        Ok(())
    }

    /// Reads the extensions given under `metadata` and not at the top level. Authors may use `metadata` for anything,
    /// so values of another type are ignored without a finding.
    fn read_metadata(&mut self, metadata: &'a Node<'_>) {
        let Kind::Map(entries) = &metadata.kind else {
            return;
        };
        for entry in entries {
            let Some(field) = Field::from_key(&entry.key) else {
                continue;
            };
            if self.fields_given & field.bit() != 0 || entry.value.is_null() {
                continue;
            }
            let before = self.findings.len();
            if self.read_extension(field, &entry.value).is_ok() {
                self.fields_given |= field.bit();
            }
            // Nobody writes `engines` and means something else.
            if field != Field::Engines {
                self.findings.truncate(before);
            }
        }
    }

    fn read_list(&mut self, value: &Node<'_>, split: Split) -> Result<List, Code> {
        let items = match &value.kind {
            Kind::Scalar { text, .. } => split.split(text),
            Kind::List(items) => items.iter().map(item_text).collect::<Result<_, _>>()?,
            Kind::Map(_) => return Err(Code::WrongType),
        };
        let non_empty: List = items
            .iter()
            .map(|item| item.trim())
            .filter(|item| !item.is_empty())
            .map(Into::into)
            .collect();
        if non_empty.len() < items.len() {
            self.findings
                .report(Code::EmptyEntry, value.span, "List has an empty entry");
        }
        Ok(non_empty)
    }

    fn read_scripts(&mut self, value: &Node<'_>) -> Result<Box<[Value]>, Code> {
        let scripts: Box<[Value]> = match &value.kind {
            Kind::List(items) => items.iter().map(Value::from).collect(),
            Kind::Scalar { .. } => Box::new([Value::from(value)]),
            Kind::Map(_) => return Err(Code::WrongType),
        };
        for script in &scripts {
            let path = script_path(script);
            if path.is_none_or(|path| path.parse::<ResourcePath>().is_err()) {
                let what = path.map_or_else(|| "An entry without `path`".to_owned(), quoted);
                let message = format!("Script is not a path inside the skill: {what}");
                self.findings.report(Code::ScriptPath, value.span, message);
            }
        }
        Ok(scripts)
    }

    fn read_toolsets(&mut self, value: &Node<'_>) -> Result<List, Code> {
        let toolsets = self.read_list(value, Split::Words)?;
        for toolset in &toolsets {
            if !is_toolset(toolset) {
                let message = format!("Toolset {} is not of the form `path:Name`", quoted(toolset));
                self.findings.report(Code::ToolsetForm, value.span, message);
            }
        }
        Ok(toolsets)
    }

    fn read_triggers(&mut self, value: &Node<'_>) -> Result<Triggers, Code> {
        let Kind::Map(entries) = &value.kind else {
            return self.read_list(value, Split::Commas).map(Triggers::Flat);
        };
        let (mut keywords, mut verbs, mut patterns) =
            (List::default(), List::default(), List::default());
        let mut unknown = Vec::new();
        for entry in entries {
            let (list, split) = match &*entry.key {
                "keywords" => (&mut keywords, Split::Commas),
                "verbs" => (&mut verbs, Split::Commas),
                // A regular expression may contain commas.
                "patterns" => (&mut patterns, Split::Whole),
                _ => {
                    let message =
                        format!("Key {} under `triggers` is not known", quoted(&entry.key));
                    self.findings
                        .report(Code::TriggerForm, entry.key_span, message);
                    unknown.push((&*entry.key, Value::from(&entry.value)));
                    continue;
                }
            };
            if !list.is_empty() {
                // The first value is used; a duplicate is already reported, and kept.
                unknown.push((&*entry.key, Value::from(&entry.value)));
            } else if !entry.value.is_null() {
                *list = self.read_list(&entry.value, split)?;
            }
        }
        if !unknown.is_empty() {
            self.other
                .push(("triggers", Value::Map(unknown.into_iter().collect())));
        }
        Ok(Triggers::Structured {
            keywords,
            verbs,
            patterns,
        })
    }

    fn finish(self, folder: &str, body: &[u8], end: &dyn Fn() -> Position) -> Option<Manifest> {
        let Self {
            name,
            description,
            mut details,
            other,
            findings,
            ..
        } = self;
        details.other = other.into_iter().collect::<Fields>();
        if details.engines.is_empty() {
            details.engines = read_compatibility(&details.other);
        }
        let name = match name.filter(|(name, _)| !name.is_empty()) {
            None => {
                let message = format!(
                    "Skill has no `name`; the folder's name {} is used",
                    quoted(folder)
                );
                findings.report(Code::MissingName, Span::at(end()), message);
                folder.parse()
            }
            Some((name, span)) => match name.parse() {
                Ok(name) if is_usable_name(SkillName::as_str(&name)) => Ok(name),
                // The rules on names report it.
                Ok(_) => folder.parse(),
                Err(error) => {
                    let message = format!(
                        "{error}: {}; the folder's name {} is used",
                        quoted(name),
                        quoted(folder)
                    );
                    findings.report(Code::UnsafeName, span, message);
                    folder.parse()
                }
            },
        };
        let description = description.filter(|text| !text.trim().is_empty());
        if description.is_none() {
            let message = "Skill has no `description`";
            findings.report(Code::MissingDescription, Span::at(end()), message);
        }
        let Ok(name) = name else {
            let message = format!(
                "Neither the skill nor its folder {} has a usable name",
                quoted(folder)
            );
            findings.report(Code::UnsafeName, Span::at(end()), message);
            return None;
        };
        let description = match description {
            Some(description) => description.trim().into(),
            None => describe(&name, body, end(), findings),
        };
        Some(Manifest {
            name,
            description,
            optional: Optional::new(details),
        })
    }
}

/// Creates the manifest of a skill without frontmatter, which has its folder's name. Returns `None` if that is not
/// usable.
pub(crate) fn convert_bare(
    folder: &str,
    body: &[u8],
    findings: &mut Vec<Diagnostic>,
) -> Option<Manifest> {
    let Ok(name) = folder.parse() else {
        let message = format!("The folder {} has no usable name", quoted(folder));
        findings.report(Code::UnsafeName, Span::at(Position::START), message);
        return None;
    };
    Some(Manifest {
        description: describe(&name, body, Position::START, findings),
        name,
        optional: Optional::None,
    })
}

/// Returns the description of a skill that has none, and reports it.
fn describe(
    name: &SkillName,
    body: &[u8],
    position: Position,
    findings: &mut Vec<Diagnostic>,
) -> Box<str> {
    let (description, what) = match bare::describe(body) {
        Some(sentence) => (sentence, "first sentence of the instructions"),
        None => (name.to_string(), "skill's name"),
    };
    let message = format!("Description is the {what}: {}", quoted(&description));
    findings.report(Code::DescriptionFromBody, Span::at(position), message);
    description.into()
}

/// How text is split into a list.
#[derive(Clone, Copy)]
enum Split {
    /// At commas, or at white space if there are no commas.
    Words,
    /// At commas only.
    Commas,
    /// At commas and white space outside parentheses.
    Tools,
    /// Not at all.
    Whole,
}

impl Split {
    fn split(self, text: &str) -> Vec<&str> {
        match self {
            Self::Words if !text.contains(',') => text.split_whitespace().collect(),
            Self::Words | Self::Commas => text.split(',').collect(),
            Self::Tools => {
                let mut depth = 0_usize;
                let is_separator = |c: char| {
                    match c {
                        '(' => depth += 1,
                        ')' => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                    depth == 0 && (c == ',' || c.is_whitespace())
                };
                text.split(is_separator)
                    .filter(|tool| !tool.is_empty())
                    .collect()
            }
            Self::Whole => vec![text],
        }
    }
}

/// Returns the text of a scalar as written, even if YAML would read it as a number or boolean.
fn scalar_text<'a>(node: &'a Node<'_>) -> Result<&'a str, Code> {
    node.text().ok_or(Code::WrongType)
}

/// Returns the text of a list item; null is an empty text.
fn item_text<'a>(node: &'a Node<'_>) -> Result<&'a str, Code> {
    if node.is_null() {
        Ok("")
    } else {
        scalar_text(node)
    }
}

fn parse_bool(node: &Node<'_>) -> Result<bool, Code> {
    match scalar_text(node)?.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Ok(true),
        "false" | "no" | "off" | "0" => Ok(false),
        _ => Err(Code::NotABool),
    }
}

/// Returns whether a text starts with three numbers separated by dots, as semantic versions do.
fn is_semver(version: &str) -> bool {
    let core = version.split(['-', '+']).next().unwrap_or_default();
    let parts: Vec<_> = core.split('.').collect();
    parts.len() == 3
        && parts
            .iter()
            .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}
