//! Any text as the person's settings, as the project's and as a variable: no panic, every place is inside the file, no
//! message can command a terminal, and a project says nothing that only a person may.

use std::fs::{create_dir_all, write};
use std::sync::LazyLock;

use skillfold::core::diagnostic::visible;
use skillfold::{
    Environment, Host, Settings,
    settings::{KEYS, Origin},
};
use tempfile::TempDir;

/// A project inside of a home.
static FOLDER: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    create_dir_all(folder.path().join("project/.git")).expect("a project");
    create_dir_all(folder.path().join("project/.skillfold")).expect("a project");
    // A file that is named has to be there.
    write(folder.path().join("none.toml"), "").expect("a file");
    folder
});

pub(crate) fn run(text: &str) {
    let home = FOLDER.path();
    let project = home.join("project");
    let environment = || Environment::new(&project).home(home);
    let none = home.join("none.toml").display().to_string();
    let written = home.join("written.toml");
    write(&written, text).expect("a file");
    let person = environment().variable("SKILLFOLD_CONFIG", written.display().to_string());
    check(&Settings::load(&person), text);
    write(environment().project_settings(), text).expect("a file");
    let of_project = Settings::load(&environment().variable("SKILLFOLD_CONFIG", &*none));
    check(&of_project, text);
    assert!(
        of_project
            .findings
            .iter()
            .all(|finding| !finding.is_fatal()),
        "a project stops the engine"
    );
    write(environment().project_settings(), "").expect("a file");
    for key in KEYS {
        let variable = format!("SKILLFOLD_{}", key.name.to_ascii_uppercase());
        let environment = environment()
            .variable("SKILLFOLD_CONFIG", &*none)
            .variable(variable, text);
        let host = Host::new(environment).set(key.name, text);
        check(&host.discover_lenient().skills.report().settings, text);
    }
}

fn check(settings: &Settings, text: &str) {
    for finding in &settings.findings {
        let message = &*finding.diagnostic.message;
        assert_eq!(
            visible(message),
            message,
            "a message that commands a terminal"
        );
        if let (Some(span), Origin::Project(..) | Origin::User(..)) =
            (finding.diagnostic.span, &finding.origin)
        {
            let bytes = span.bytes_in(text);
            assert!(text.get(bytes).is_some(), "a place outside of the file");
        }
    }
    let _ = (
        settings.catalog_options(),
        settings.load_options(),
        settings.policy(),
        settings.explain(),
    );
}
