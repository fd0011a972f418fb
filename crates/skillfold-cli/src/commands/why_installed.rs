//! `skillfold why-installed`

use std::process::ExitCode;

use skillfold::core::diagnostic::visible;
use skillfold::view::{Document, OriginView};

use crate::arguments::{Global, WhyInstalled};
use crate::commands::history::what_happened;
use crate::failure::CommandResult;
use crate::host;
use crate::terminal::output::{BOLD, Output, display_path, paint};

pub(crate) fn run(global: &Global, options: &WhyInstalled, output: &mut Output) -> CommandResult {
    let skills = host::skills(global, output)?;
    let registry = skills.registry(options.whose.scope())?;
    let origin = registry.why_installed(&options.name)?;
    let view = OriginView::new(&origin);
    if output.is_json() {
        return output.json(Document::Origin(view));
    }
    let locked = &origin.locked;
    let version = locked
        .version
        .as_deref()
        .map_or_else(String::new, |version| {
            format!(", `{}` in skills.toml", visible(version))
        });
    let folder = match &*locked.folder {
        "" => "the whole source".to_owned(),
        folder => visible(folder).into_owned(),
    };
    let wanted = if origin.is_wanted {
        "skills.toml"
    } else {
        "skills.lock only"
    };
    let mut rows = vec![
        ("Source", visible(&locked.source).into_owned()),
        ("Version", format!("{}{version}", locked.pin)),
        ("Folder", folder),
        ("Digest", locked.digest.to_string()),
        ("Locked", locked.time.clone()),
        ("Wanted", wanted.to_owned()),
    ];
    for client in &origin.clients {
        rows.push((
            "Client",
            format!("{}: {}", client.client, display_path(&client.folder)),
        ));
    }
    for version in &view.versions {
        rows.push((
            "Version",
            format!("{} {}", version.time, what_happened(version)),
        ));
    }
    for (name, text) in rows {
        output.field(&paint(BOLD, format!("{name:7}")), &text)?;
    }
    Ok(ExitCode::SUCCESS)
}
