//! How the values of settings that are not lists are read and shown.

use std::path::PathBuf;

use skillfold_core::Scope;
use skillfold_core::catalog::{MismatchPolicy, Precedence};
use skillfold_core::disclose::{Breadcrumb, Fallback, Mode, Style};
use skillfold_core::load::{Dialect, Freshness};
use skillfold_core::read::Profile;
use skillfold_core::source::{HiddenPolicy, LinkPolicy};

use crate::settings::approval_requires::ApprovalRequires;
use crate::settings::hook_mode::HookMode;
use crate::settings::listing_budget::ListingBudget;
use crate::settings::matching::Matching;
use crate::settings::new_skills::NewSkills;
use crate::settings::value::{RawValue, ValueContext, ValueForm, one_of};

/// The value of a setting that is not a list.
pub(super) trait Scalar: Sized {
    /// Reads a value; the error says what is wrong with it.
    fn read(
        value: RawValue<'_>,
        form: ValueForm,
        context: &ValueContext<'_>,
    ) -> Result<Self, String>;

    /// Returns the value as text.
    fn show(&self, form: ValueForm) -> String;
}

/// `true` or `false`, and `on` or `off` if the form is a word.
impl Scalar for bool {
    fn read(value: RawValue<'_>, form: ValueForm, _: &ValueContext<'_>) -> Result<Self, String> {
        match form {
            ValueForm::Boolean => value.boolean(),
            _ => one_of(value, &SWITCHES),
        }
    }

    fn show(&self, form: ValueForm) -> String {
        match form {
            ValueForm::Boolean => self.to_string(),
            _ => word(self, &SWITCHES),
        }
    }
}

impl Scalar for usize {
    fn read(value: RawValue<'_>, _: ValueForm, _: &ValueContext<'_>) -> Result<Self, String> {
        value.number()
    }

    fn show(&self, _: ValueForm) -> String {
        self.to_string()
    }
}

impl Scalar for String {
    fn read(value: RawValue<'_>, _: ValueForm, _: &ValueContext<'_>) -> Result<Self, String> {
        Ok(value.text()?.to_owned())
    }

    fn show(&self, _: ValueForm) -> String {
        if self.is_empty() {
            "none".to_owned()
        } else {
            self.clone()
        }
    }
}

impl Scalar for Option<PathBuf> {
    fn read(value: RawValue<'_>, _: ValueForm, context: &ValueContext<'_>) -> Result<Self, String> {
        let path = context.environment.expand_path(value.text()?, context.base);
        Ok(Some(path))
    }

    fn show(&self, _: ValueForm) -> String {
        let path = self.as_ref().map(|path| path.display().to_string());
        path.unwrap_or_else(|| "none".to_owned())
    }
}

/// The name of a client's precedence, or a list of scopes in order.
impl Scalar for Precedence {
    fn read(value: RawValue<'_>, _: ValueForm, _: &ValueContext<'_>) -> Result<Self, String> {
        let scopes = match value.text() {
            Ok(text) => {
                if let Some(preset) = Self::preset(text) {
                    return Ok(preset);
                }
                RawValue::Text(text).list(',')?
            }
            Err(_) => value.list(',')?,
        };
        let scope = |word: RawValue<'_>| {
            let word = word.text()?;
            word.parse::<Scope>().map_err(|_| {
                let clients = Self::PRESETS.iter().map(|(client, _)| *client);
                let words = clients.chain(Scope::ALL.iter().map(|scope| scope.as_str()));
                let words: Vec<_> = words.map(|word| format!("`{word}`")).collect();
                format!("`{word}` is not one of {}", words.join(", "))
            })
        };
        let scopes: Vec<Scope> = scopes.into_iter().map(scope).collect::<Result<_, _>>()?;
        Ok(Self::new(&scopes))
    }

    fn show(&self, _: ValueForm) -> String {
        self.to_string()
    }
}

impl Scalar for ListingBudget {
    fn read(value: RawValue<'_>, _: ValueForm, _: &ValueContext<'_>) -> Result<Self, String> {
        let text = value.text()?;
        Self::parse(text).ok_or_else(|| {
            format!(
                "`{text}` is not of the form `auto`, `2000 characters`, `1400 tokens` or `2% of 200000`"
            )
        })
    }

    fn show(&self, _: ValueForm) -> String {
        self.to_string()
    }
}

/// A value that is written as one of some words.
trait Words: Copy + PartialEq {
    fn words() -> Vec<(&'static str, Self)>;
}

impl<T: Words> Scalar for T {
    fn read(value: RawValue<'_>, _: ValueForm, _: &ValueContext<'_>) -> Result<Self, String> {
        one_of(value, &T::words())
    }

    fn show(&self, _: ValueForm) -> String {
        word(self, &T::words())
    }
}

fn word<T: PartialEq>(value: &T, words: &[(&str, T)]) -> String {
    let known = words.iter().find(|(_, known)| known == value);
    known.map_or("unknown", |(word, _)| word).to_owned()
}

const SWITCHES: [(&str, bool); 2] = [("on", true), ("off", false)];

macro_rules! words {
    ($($type:ident: $($word:literal $variant:ident),+;)+) => {$(
        impl Words for $type {
            fn words() -> Vec<(&'static str, Self)> {
                vec![$(($word, Self::$variant)),+]
            }
        }
    )+};
}

words! {
    LinkPolicy: "follow" Follow, "refuse" Refuse, "strict" Strict;
    HiddenPolicy: "skip" Skip, "search" Search;
    Profile: "lenient" Lenient, "spec" Spec;
    Freshness: "checked" Checked, "snapshot" Snapshot;
    Mode: "catalog" Catalog, "triggered" Triggered, "hybrid" Hybrid;
    Matching: "keyword" Keyword, "hybrid" Hybrid, "semantic" Semantic;
    MismatchPolicy: "warn" Warn, "hide" Hide;
    NewSkills: "show" Show, "hold" Hold;
    HookMode: "inject" Inject, "suggest" Suggest, "off" Off;
    ApprovalRequires: "terminal" Terminal, "passphrase" Passphrase;
    Breadcrumb: "on" On, "off" Off;
    Fallback: "none" None, "show_all" ShowAll, "ask_user" AskUser;
}

impl Words for Dialect {
    fn words() -> Vec<(&'static str, Self)> {
        Self::ALL.map(|dialect| (dialect.as_str(), dialect)).into()
    }
}

impl Words for Style {
    fn words() -> Vec<(&'static str, Self)> {
        Self::ALL.map(|style| (style.as_str(), style)).into()
    }
}
