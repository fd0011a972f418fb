//! From the tree of values to the fields of a skill.

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Position, Span, quoted};
use crate::read::field::{Field, find};
use crate::read::manifest::optional::Optional;
use crate::read::manifest::{Manifest, OptionalFields, Triggers};
use crate::read::value::{Fields, Value};
use crate::read::yaml::{Kind, MappingEntry, Node};

type List = Box<[Box<str>]>;

/// Converts the fields of a skill that stands in the folder `folder`, and reports what is odd.
///
/// Without a description there is no skill; `end` tells where one is missed.
pub(crate) fn convert(
    entries: &[MappingEntry<'_>],
    folder: &str,
    end: &dyn Fn() -> Position,
    findings: &mut Vec<Diagnostic>,
) -> Option<Manifest> {
    let mut sheet = FieldReader {
        name: None,
        description: None,
        details: OptionalFields::default(),
        seen: 0,
        other: Vec::new(),
        findings,
    };
    for (index, entry) in entries.iter().enumerate() {
        sheet.entry(entry, &entries[..index], entries);
    }
    if let Some(entry) = find(entries, Field::Metadata) {
        sheet.metadata(&entry.value);
    }
    sheet.finish(folder, end)
}

/// Returns whether a value is nothing or a text of white space.
fn is_empty(node: &Node<'_>) -> bool {
    matches!(&node.kind, Kind::Scalar { text, .. } if text.trim().is_empty()) || node.is_null()
}

/// The fields as far as they are read.
struct FieldReader<'a, 'f> {
    name: Option<(&'a str, Span)>,
    description: Option<&'a str>,
    details: OptionalFields,
    /// A bit for each field that was given.
    seen: u32,
    other: Vec<(&'a str, Value)>,
    findings: &'f mut Vec<Diagnostic>,
}

impl<'a> FieldReader<'a, '_> {
    /// Reads one field of the top level; what is not read is kept.
    fn entry(
        &mut self,
        entry: &'a MappingEntry<'_>,
        earlier: &[MappingEntry<'_>],
        all: &[MappingEntry<'_>],
    ) {
        let Some(field) = self.field(entry, all) else {
            return self.keep(entry);
        };
        if self.seen & field.bit() != 0 {
            // The same spelling twice is already reported.
            if !earlier.iter().any(|earlier| earlier.key == entry.key) {
                let message = format!(
                    "Field {} is already given in another spelling",
                    quoted(&entry.key)
                );
                self.findings.push(Diagnostic::new(
                    Code::YamlDuplicateKey,
                    entry.key_span,
                    message,
                ));
            }
            return self.keep(entry);
        }
        if is_empty(&entry.value) {
            return;
        }
        self.seen |= field.bit();
        if let Err(code) = self.read(field, entry) {
            let message = format!("Field {} has an unexpected value", quoted(&entry.key));
            self.findings
                .push(Diagnostic::new(code, entry.value.span, message));
            self.keep(entry);
        }
    }

    fn keep(&mut self, entry: &'a MappingEntry<'_>) {
        self.other.push((&entry.key, Value::from(&entry.value)));
    }

    /// Returns the field that an entry is, by its name or by what its name resembles.
    fn field(&mut self, entry: &MappingEntry<'_>, all: &[MappingEntry<'_>]) -> Option<Field> {
        if let Some(field) = Field::named(&entry.key) {
            return Some(field);
        }
        let (spelling, field) = Field::resembling(&entry.key)?;
        // The right spelling wins, wherever it stands.
        if all
            .iter()
            .any(|other| Field::named(&other.key) == Some(field))
        {
            return None;
        }
        let message = format!("Field {} is read as `{spelling}`", quoted(&entry.key));
        self.findings.push(Diagnostic::new(
            Code::FieldSpelling,
            entry.key_span,
            message,
        ));
        Some(field)
    }

    /// Reads the value of a field, or says what is wrong with it.
    fn read(&mut self, field: Field, entry: &'a MappingEntry<'_>) -> Result<(), Code> {
        let value = &entry.value;
        match field {
            Field::Name => self.name = Some((text(value)?.trim(), value.span)),
            Field::Description => self.description = Some(text(value)?),
            Field::Metadata => match &value.kind {
                Kind::Map(entries) => {
                    self.details.metadata = entries
                        .iter()
                        .map(|entry| (&*entry.key, Value::from(&entry.value)))
                        .collect();
                }
                Kind::Scalar { .. } | Kind::List(_) => return Err(Code::WrongType),
            },
            Field::Scripts => match &value.kind {
                Kind::List(items) => self.details.scripts = items.iter().map(Value::from).collect(),
                Kind::Scalar { .. } => self.details.scripts = Box::new([Value::from(value)]),
                Kind::Map(_) => return Err(Code::WrongType),
            },
            Field::License => self.details.license = Some(text(value)?.into()),
            Field::Compatibility => self.details.compatibility = Some(text(value)?.into()),
            _ => self.extension(field, value)?,
        }
        Ok(())
    }

    /// Reads a field that the specification does not have and that may also stand under `metadata`.
    fn extension(&mut self, field: Field, value: &Node<'_>) -> Result<(), Code> {
        match field {
            Field::Version => {
                let version = text(value)?;
                if !is_semantic(version) {
                    let message = format!("Version {} is not of the form `1.0.0`", quoted(version));
                    self.findings
                        .push(Diagnostic::new(Code::VersionForm, value.span, message));
                }
                self.details.version = Some(version.into());
            }
            Field::Model => self.details.model = Some(text(value)?.into()),
            Field::BriefDescription => self.details.brief_description = Some(text(value)?.into()),
            Field::AllowedTools => self.details.allowed_tools = self.list(value, Split::Tools)?,
            Field::Tags => self.details.tags = self.list(value, Split::Words)?,
            Field::Requires => self.details.requires = self.list(value, Split::Words)?,
            Field::Toolsets => self.details.toolsets = self.toolsets(value)?,
            Field::Triggers => self.details.triggers = Some(self.triggers(value)?),
            Field::DisableModelInvocation => {
                self.details.disable_model_invocation = Some(truth(value)?);
            }
            Field::DefaultEnabled => self.details.default_enabled = Some(truth(value)?),
            Field::Name
            | Field::Description
            | Field::License
            | Field::Compatibility
            | Field::Metadata
            | Field::Scripts => {}
        }
        Ok(())
    }

    /// Reads the extensions that stand under `metadata` and not at the top. They belong to whoever wrote them: what
    /// does not fit is left there without a word.
    fn metadata(&mut self, metadata: &'a Node<'_>) {
        let Kind::Map(entries) = &metadata.kind else {
            return;
        };
        for entry in entries {
            let Some(field) = Field::named(&entry.key) else {
                continue;
            };
            if self.seen & field.bit() != 0 || entry.value.is_null() {
                continue;
            }
            let before = self.findings.len();
            if self.extension(field, &entry.value).is_ok() {
                self.seen |= field.bit();
            }
            self.findings.truncate(before);
        }
    }

    fn list(&mut self, value: &Node<'_>, split: Split) -> Result<List, Code> {
        let items = match &value.kind {
            Kind::Scalar { text, .. } => split.apply(text),
            Kind::List(items) => items.iter().map(item).collect::<Result<_, _>>()?,
            Kind::Map(_) => return Err(Code::WrongType),
        };
        let filled: List = items
            .iter()
            .map(|item| item.trim())
            .filter(|item| !item.is_empty())
            .map(Into::into)
            .collect();
        if filled.len() < items.len() {
            self.findings.push(Diagnostic::new(
                Code::EmptyEntry,
                value.span,
                "List has an empty entry",
            ));
        }
        Ok(filled)
    }

    fn toolsets(&mut self, value: &Node<'_>) -> Result<List, Code> {
        let toolsets = self.list(value, Split::Words)?;
        for toolset in &toolsets {
            let well_formed = toolset
                .rsplit_once(':')
                .is_some_and(|(path, name)| !path.is_empty() && !name.is_empty());
            if !well_formed {
                let message = format!("Toolset {} is not of the form `path:Name`", quoted(toolset));
                self.findings
                    .push(Diagnostic::new(Code::ToolsetForm, value.span, message));
            }
        }
        Ok(toolsets)
    }

    fn triggers(&mut self, value: &Node<'_>) -> Result<Triggers, Code> {
        let Kind::Map(entries) = &value.kind else {
            return self.list(value, Split::Commas).map(Triggers::Flat);
        };
        let (mut keywords, mut verbs, mut patterns) =
            (List::default(), List::default(), List::default());
        let mut unknown = Vec::new();
        for entry in entries {
            let (list, split) = match &*entry.key {
                "keywords" => (&mut keywords, Split::Commas),
                "verbs" => (&mut verbs, Split::Commas),
                // A comma may be part of a regular expression.
                "patterns" => (&mut patterns, Split::Whole),
                _ => {
                    let message =
                        format!("Key {} under `triggers` is not known", quoted(&entry.key));
                    self.findings
                        .push(Diagnostic::new(Code::TriggerForm, entry.key_span, message));
                    unknown.push((&*entry.key, Value::from(&entry.value)));
                    continue;
                }
            };
            if !list.is_empty() {
                // The first value counts; a second one is already reported, and kept.
                unknown.push((&*entry.key, Value::from(&entry.value)));
            } else if !entry.value.is_null() {
                *list = self.list(&entry.value, split)?;
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

    fn finish(self, folder: &str, end: &dyn Fn() -> Position) -> Option<Manifest> {
        let Self {
            name,
            description,
            mut details,
            other,
            findings,
            ..
        } = self;
        details.other = other.into_iter().collect::<Fields>();
        let name = match name.filter(|(name, _)| !name.is_empty()) {
            None => {
                let message = format!(
                    "Skill has no `name`; the folder's name {} is used",
                    quoted(folder)
                );
                findings.push(Diagnostic::new(Code::MissingName, Span::at(end()), message));
                folder.parse()
            }
            Some((name, span)) => name.parse().or_else(|error| {
                let message = format!(
                    "{error}: {}; the folder's name {} is used",
                    quoted(name),
                    quoted(folder)
                );
                findings.push(Diagnostic::new(Code::UnsafeName, span, message));
                folder.parse()
            }),
        };
        let Some(description) = description.filter(|text| !text.trim().is_empty()) else {
            findings.push(Diagnostic::new(
                Code::MissingDescription,
                Span::at(end()),
                "Skill has no `description`",
            ));
            return None;
        };
        let Ok(name) = name else {
            let message = format!(
                "Neither the skill nor its folder {} has a usable name",
                quoted(folder)
            );
            findings.push(Diagnostic::new(Code::UnsafeName, Span::at(end()), message));
            return None;
        };
        Some(Manifest {
            name,
            description: description.trim().into(),
            details: Optional::new(details),
        })
    }
}

/// How a text that stands for a list is taken apart.
#[derive(Clone, Copy)]
enum Split {
    /// At commas, or at white space where there is no comma.
    Words,
    /// At commas only.
    Commas,
    /// At commas and white space that stand outside parentheses.
    Tools,
    /// Not at all.
    Whole,
}

impl Split {
    fn apply(self, text: &str) -> Vec<&str> {
        match self {
            Self::Words if !text.contains(',') => text.split_whitespace().collect(),
            Self::Words | Self::Commas => text.split(',').collect(),
            Self::Tools => {
                let mut depth = 0_usize;
                let outside = |c: char| {
                    match c {
                        '(' => depth += 1,
                        ')' => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                    depth == 0 && (c == ',' || c.is_whitespace())
                };
                text.split(outside)
                    .filter(|tool| !tool.is_empty())
                    .collect()
            }
            Self::Whole => vec![text],
        }
    }
}

/// Returns the text of a scalar; what YAML would read as a number or a boolean stays the text that stands there.
fn text<'a>(node: &'a Node<'_>) -> Result<&'a str, Code> {
    match &node.kind {
        Kind::Scalar { text, .. } => Ok(text),
        Kind::List(_) | Kind::Map(_) => Err(Code::WrongType),
    }
}

/// Returns the text of a list's item; nothing is an empty text.
fn item<'a>(node: &'a Node<'_>) -> Result<&'a str, Code> {
    if node.is_null() { Ok("") } else { text(node) }
}

fn truth(node: &Node<'_>) -> Result<bool, Code> {
    match text(node)?.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Ok(true),
        "false" | "no" | "off" | "0" => Ok(false),
        _ => Err(Code::NotABool),
    }
}

/// Returns whether a text starts with three numbers and dots, as semantic versions do.
fn is_semantic(version: &str) -> bool {
    let core = version.split(['-', '+']).next().unwrap_or_default();
    let parts: Vec<_> = core.split('.').collect();
    parts.len() == 3
        && parts
            .iter()
            .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}
