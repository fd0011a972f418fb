//! `skillfold access`

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use skillfold::author::change_file;
use skillfold::core::text::utc_ms;
use skillfold::core::{Error, ErrorKind};
use skillfold::view::{AccessView, Document, TokenRow};
use skillfold_http::{NamedToken, Token, TokenFile, TokenScope, TokenScopes};

use crate::arguments::{AccessAction, AccessOptions, AddAccess, Global};
use crate::failure::{CommandResult, Failure};
use crate::host;
use crate::terminal::output::{BOLD, DIM, Output, PLAIN, display_path};
use crate::terminal::table::Table;

const SECONDS_OF_A_DAY: u64 = 24 * 60 * 60;

pub(crate) fn run(global: &Global, options: &AccessOptions, output: &mut Output) -> CommandResult {
    let environment = host::environment(global)?;
    let skills = host::skills(global, output)?;
    let file = match &options.file {
        Some(file) => environment.directory().join(file),
        None => configured(&skills.report().settings)?,
    };
    let shown = display_path(&file);
    match &options.action {
        Some(AccessAction::Add(add)) => {
            let (named, token) = (named(add, skills.now())?, random()?);
            change_file(&environment, &file, |text| {
                TokenFile::with_token(text, &named, &token).map(Some)
            })?;
            if output.is_json() {
                let view = view(&file)?.with_token(token.reveal());
                return output.json(Document::Access(view));
            }
            output.line(token.reveal())?;
            output.say(format!(
                "Added `{}` to {shown}; the token is shown this once",
                named.name
            ));
        }
        Some(AccessAction::Remove { name }) => {
            let is_removed = change_file(&environment, &file, |text| {
                TokenFile::without_token(text, name)
            })?;
            if !is_removed {
                let message = format!("There is no token `{name}`");
                let hint = "`skillfold access` lists the tokens";
                let tokens = TokenFile::open(&file)?.tokens();
                let names = tokens.iter().map(|token| token.name.as_str());
                let nearest = skillfold::core::catalog::nearest(name, names, 1);
                let error = Error::new(ErrorKind::NotFound, message, hint);
                return Err(error.with_nearest(nearest).into());
            }
            if output.is_json() {
                return output.json(Document::Access(view(&file)?));
            }
            output.say(format!(
                "Removed `{name}` from {shown}; servers refuse it within a second"
            ));
        }
        None => {
            let view = view(&file)?;
            if output.is_json() {
                return output.json(Document::Access(view));
            }
            print(&view, output)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the file of tokens that the settings name.
fn configured(settings: &skillfold::Settings) -> Result<PathBuf, Failure> {
    settings.server_tokens.value.clone().ok_or_else(|| {
        let message = "No file of tokens is set; name one with `--file`, or for the server too with \
                       `skillfold config set server_tokens PATH`";
        Failure::Usage(message.to_owned())
    })
}

fn random() -> Result<Token, Failure> {
    Token::random().map_err(|error| Failure::System {
        message: format!("Could not generate a token: {error}"),
        hint: "The system has no random numbers now; try again".to_owned(),
    })
}

fn named(add: &AddAccess, now: SystemTime) -> Result<NamedToken, Failure> {
    let mut named = NamedToken::new(&add.name)?;
    named.groups.clone_from(&add.group);
    for word in &add.scope {
        let scope = TokenScope::find(word).ok_or_else(|| {
            let scopes = TokenScopes::ALL.to_string().replace(' ', "`, `");
            Failure::Usage(format!("`--scope {word}` is not one of `{scopes}`"))
        })?;
        named.scopes = named.scopes.with(scope);
    }
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let days = add.days.map(|days| u64::from(days.get()));
    named.expires = days.map(|days| since + days * SECONDS_OF_A_DAY);
    Ok(named)
}

fn view(file: &Path) -> Result<AccessView, Failure> {
    let tokens = TokenFile::open(file)?.tokens().into_iter();
    let row = |token: NamedToken| {
        let expires = token
            .expires
            .map(|seconds| utc_ms(seconds.saturating_mul(1_000)));
        TokenRow::new(token.name, token.groups, token.scopes.to_string(), expires)
    };
    Ok(AccessView::new(file, tokens.map(row).collect()))
}

fn print(view: &AccessView, output: &mut Output) -> Result<(), Failure> {
    let mut table = Table::default();
    for token in &view.tokens {
        let expires = token.expires.as_deref();
        table.row([
            (BOLD, token.name.as_str()),
            (PLAIN, &token.groups.join(", ")),
            (PLAIN, &token.scopes),
            (
                DIM,
                &expires.map_or_else(String::new, |it| format!("until {}", &it[..10])),
            ),
        ]);
    }
    output.table(&table)?;
    if view.tokens.is_empty() {
        output.say("No tokens; `skillfold access add NAME` makes one");
    }
    Ok(())
}
