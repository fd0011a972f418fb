//! A process that has no files left to open loses no skill, and tells no model that it did. The limit is one of the whole
//! process, so that this test is alone in its own.
#![cfg(all(unix, feature = "watch"))]
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and looks at what is open"
)]

use std::os::fd::AsRawFd as _;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use skillfold::core::catalog::Changes;
use skillfold::core::{Code, Error};
use skillfold::{
    Environment, Host, Skills,
    discovery::{RootStatus, SearchedRoot},
};
use skillfold_testkit::folder;

const TREE: &str = "
    //- home/.agents/skills/pdf/SKILL.md
    ---
    name: pdf
    description: Fills in forms
    ---
    //- home/.agents/skills/group/mail/SKILL.md
    ---
    name: mail
    description: Writes letters
    ---
    //- app/.git/HEAD
    x
    //- app/.claude/skills/deploy/SKILL.md
    ---
    name: deploy
    description: Puts it online
    ---
";

/// Does something while no file can be opened.
fn with_no_files_left<T>(act: impl FnOnce() -> T) -> T {
    let before = getrlimit(Resource::Nofile);
    let next = std::fs::File::open("/dev/null").unwrap().as_raw_fd();
    let none = Rlimit {
        current: Some(u64::try_from(next).unwrap()),
        ..before
    };
    setrlimit(Resource::Nofile, none).unwrap();
    let done = act();
    setrlimit(Resource::Nofile, before).unwrap();
    done
}

fn ids(skills: &Skills) -> Vec<String> {
    let catalog = skills.catalog();
    catalog
        .visible()
        .map(|entry| entry.id().to_owned())
        .collect()
}

/// Returns that a root cannot be opened right now.
fn code(root: &SearchedRoot) -> Option<Code> {
    match &root.status {
        RootStatus::Stale(diagnostic) => {
            Some(diagnostic.code).filter(|code| *code == Code::Unavailable)
        }
        _ => None,
    }
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn running_out_of_file_descriptors_loses_no_skill() {
    let folder = folder(TREE);
    let host = || {
        let environment =
            Environment::new(folder.path().join("app")).home(folder.path().join("home"));
        Host::new(environment)
            .set("poll_seconds", "1")
            .set("trust_project", "true")
    };
    let skills = host().discover().unwrap().skills;
    assert_eq!(ids(&skills), ["deploy", "mail", "pdf"]);

    // A refresh.
    let changes = with_no_files_left(|| skills.refresh()).unwrap();
    assert_eq!(changes, Changes::default());
    assert!(skills.is_stale());
    assert_eq!(ids(&skills), ["deploy", "mail", "pdf"]);
    assert_eq!(skills.refresh().unwrap(), Changes::default());
    assert!(!skills.is_stale());

    // A host that starts then finds the rest by its first refresh, and says what it could not read.
    let late = with_no_files_left(|| host().discover()).unwrap().skills;
    assert!(late.is_stale());
    // The system does not even say which of the roots are there.
    let unopened = late.report().roots.iter().filter_map(code).count();
    assert!(unopened >= 2, "{unopened}");
    assert!(late.refresh().unwrap().removed.is_empty());
    assert_eq!(ids(&late), ["deploy", "mail", "pdf"]);

    // Settings that cannot be read are not known, and not none.
    let settings = folder.path().join("home/.config/skillfold/config.toml");
    std::fs::create_dir_all(settings.parent().unwrap()).unwrap();
    std::fs::write(&settings, "disable = [\"mail\"]\n").unwrap();
    skills.refresh().unwrap();
    let error = with_no_files_left(|| skills.refresh()).unwrap_err();
    assert!(error.is_transient(), "{error}");
    assert_eq!(ids(&skills), ["deploy", "pdf"]);
    std::fs::remove_file(&settings).unwrap();
    skills.refresh().unwrap();

    // A host that follows its files.
    let told: Arc<Mutex<Vec<Changes>>> = Arc::default();
    let news = Arc::clone(&told);
    let watching = skills
        .watch(move |said: Result<&Changes, &Error>| {
            if let Ok(changes) = said {
                news.lock().unwrap().push(changes.clone());
            }
        })
        .unwrap();
    until("everything is watched", || watching.status().is_complete);
    with_no_files_left(|| {
        let looks = watching.status().full_rescans;
        watching.rescan();
        until("everything is looked at", || {
            watching.status().full_rescans > looks
        });
    });
    let text = "---\nname: pdf\ndescription: Fills in other forms\n---\n";
    let file = folder.path().join("home/.agents/skills/pdf/SKILL.md");
    std::fs::write(file, text).unwrap();
    until("the change is told", || !told.lock().unwrap().is_empty());
    until("it is healed", || !skills.is_stale());
    assert_eq!(ids(&skills), ["deploy", "mail", "pdf"]);
    for changes in told.lock().unwrap().iter() {
        assert_eq!(changes.changed, ["pdf".into()]);
        assert!(changes.added.is_empty() && changes.removed.is_empty());
    }
}
