//! One layer of settings: what one file, the variables or the arguments say.

use std::path::{Path, PathBuf};

use skillfold_core::{
    Choice, Code, Hidden, Links, Precedence, Profile, Scope, Severity, Span, nearest,
};

use crate::environment::{Environment, PREFIX};
use crate::settings::key::{KEYS, Key, Reach};
use crate::settings::value::Written;
use crate::settings::{ConfiguredRoot, Origin, Setting, SettingFinding, finding, root};

/// What one layer says.
#[derive(Debug, Default)]
pub(crate) struct Layer {
    pub(super) precedence: Option<Setting<Precedence>>,
    pub(super) roots: Vec<Setting<ConfiguredRoot>>,
    pub(super) default_roots: Option<Setting<bool>>,
    pub(super) enablement: Vec<Setting<(String, Choice)>>,
    pub(super) trusted: Vec<Setting<PathBuf>>,
    pub(super) trust_project: Option<Setting<bool>>,
    pub(super) links: Option<Setting<Links>>,
    pub(super) hidden: Option<Setting<Hidden>>,
    pub(super) max_depth: Option<Setting<usize>>,
    pub(super) profile: Option<Setting<Profile>>,
    pub(super) findings: Vec<SettingFinding>,
}

/// The key and the place of what is set.
pub(super) struct Place<'a> {
    pub(super) environment: &'a Environment,
    /// Where relative paths start.
    pub(super) base: &'a Path,
    pub(super) origin: Origin,
    pub(super) span: Option<Span>,
}

impl Place<'_> {
    fn set<T>(&self, value: T) -> Setting<T> {
        Setting {
            value,
            origin: self.origin.clone(),
        }
    }
}

impl Layer {
    pub(crate) fn of_variables(environment: &Environment) -> Self {
        let mut layer = Self::default();
        for (variable, text) in environment.settings() {
            if variable == "SKILLFOLD_CONFIG" {
                continue;
            }
            let place = Place {
                environment,
                base: environment.directory(),
                origin: Origin::Variable(variable.to_owned()),
                span: None,
            };
            let name = variable[PREFIX.len()..].to_ascii_lowercase();
            layer.set(&name, Written::Text(text), &place);
        }
        layer
    }

    pub(crate) fn of_arguments(environment: &Environment, arguments: &[(String, String)]) -> Self {
        let mut layer = Self::default();
        for (name, text) in arguments {
            let place = Place {
                environment,
                base: environment.directory(),
                origin: Origin::Argument,
                span: None,
            };
            layer.set(name, Written::Text(text), &place);
        }
        layer
    }

    /// Takes a setting, or reports what is wrong with it.
    pub(super) fn set(&mut self, name: &str, written: Written<'_>, place: &Place<'_>) {
        let Some(key) = Key::find(name) else {
            return self.findings.push(unknown(name, place));
        };
        if matches!(place.origin, Origin::Project(..)) && key.reach == Reach::Person {
            let message = format!("A project may not set `{}`", key.name);
            return self.findings.push(finding(
                Code::SettingNotAllowed,
                &place.origin,
                place.span,
                message,
            ));
        }
        if let Err(why) = self.take(key, written, place) {
            let message = format!("Setting `{}` is not usable: {why}", key.name);
            self.findings.push(finding(
                Code::SettingForm,
                &place.origin,
                place.span,
                message,
            ));
        }
    }

    fn take(&mut self, key: &Key, written: Written<'_>, place: &Place<'_>) -> Result<(), String> {
        match key.name {
            "precedence" => self.precedence = Some(place.set(precedence(written)?)),
            "default_roots" => self.default_roots = Some(place.set(written.boolean()?)),
            "trust_project" => self.trust_project = Some(place.set(written.boolean()?)),
            "links" => {
                let choices = [("follow", Links::Follow), ("refuse", Links::Refuse)];
                self.links = Some(place.set(one_of(written, &choices)?));
            }
            "hidden" => {
                let choices = [("skip", Hidden::Skip), ("search", Hidden::Search)];
                self.hidden = Some(place.set(one_of(written, &choices)?));
            }
            "profile" => {
                let choices = [("lenient", Profile::Lenient), ("spec", Profile::Spec)];
                self.profile = Some(place.set(one_of(written, &choices)?));
            }
            "max_depth" => self.max_depth = Some(place.set(written.number()?)),
            "enable" => self.choose(written, Choice::On, place)?,
            "disable" => self.choose(written, Choice::Off, place)?,
            "trusted" => {
                for entry in written.list(PATHS)? {
                    let value = place.environment.path(entry.text()?, place.base);
                    self.trusted.push(place.set(value));
                }
            }
            "roots" => {
                for entry in written.list(PATHS)? {
                    let value = root::read(entry, place)?;
                    self.roots.push(place.set(value));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn choose(
        &mut self,
        written: Written<'_>,
        choice: Choice,
        place: &Place<'_>,
    ) -> Result<(), String> {
        for entry in written.list(',')? {
            let value = (entry.text()?.to_owned(), choice);
            self.enablement.push(place.set(value));
        }
        Ok(())
    }
}

/// What stands between paths in a variable.
pub(super) const PATHS: char = if cfg!(windows) { ';' } else { ':' };

pub(super) fn unknown(name: &str, place: &Place<'_>) -> SettingFinding {
    let meant = nearest(name, KEYS.iter().map(|key| key.name), 1);
    let message = match meant.first() {
        Some(meant) => format!("Setting `{name}` is not known; `{meant}` may be meant"),
        None => format!("Setting `{name}` is not known"),
    };
    let mut unknown = finding(Code::UnknownSetting, &place.origin, place.span, message);
    // Who types a name waits for what it does; a file may be older or newer than the program.
    if place.origin == Origin::Argument {
        unknown.diagnostic.severity = Severity::Error;
    }
    unknown
}

/// Reads a client's name, or scopes in their order.
fn precedence(written: Written<'_>) -> Result<Precedence, String> {
    let scopes = match written.text() {
        Ok(text) => {
            if let Some(preset) = Precedence::preset(text) {
                return Ok(preset);
            }
            Written::Text(text).list(',')?
        }
        Err(_) => written.list(',')?,
    };
    let scope = |word: Written<'_>| {
        let word = word.text()?;
        word.parse::<Scope>().map_err(|_| {
            let clients = Precedence::PRESETS.iter().map(|(client, _)| *client);
            let words = clients.chain(Scope::ALL.iter().map(|scope| scope.as_str()));
            let words: Vec<_> = words.map(|word| format!("`{word}`")).collect();
            format!("`{word}` is none of {}", words.join(", "))
        })
    };
    let scopes: Vec<Scope> = scopes.into_iter().map(scope).collect::<Result<_, _>>()?;
    Ok(Precedence::new(&scopes))
}

fn one_of<T: Copy>(written: Written<'_>, choices: &[(&str, T)]) -> Result<T, String> {
    let text = written.text()?;
    let choice = choices.iter().find(|(word, _)| *word == text);
    choice.map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<_> = choices
            .iter()
            .map(|(word, _)| format!("`{word}`"))
            .collect();
        format!("`{text}` is none of {}", words.join(", "))
    })
}
