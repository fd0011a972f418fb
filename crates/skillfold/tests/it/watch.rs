//! A change of files is seen without a refresh.
#![expect(
    clippy::disallowed_methods,
    reason = "tests change files as editors do"
)]

use std::fs;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use skillfold::core::catalog::Changes;
use skillfold::watch::Watcher;
use skillfold::{Host, Skills};

use crate::world::World;

/// Time after which a test gives up; what is waited for takes a fraction of it.
const PATIENCE: Duration = Duration::from_secs(60);

const WORLD: &str = "
//- person/.agents/skills/mail/SKILL.md
---
name: mail
description: Writes mails
---
//- person/.agents/skills/group/pdf/SKILL.md
---
name: pdf
description: Fills in forms
---
";

/// Skills that are followed, and what is told of them.
struct Followed {
    world: World,
    skills: Skills,
    watching: Watcher,
    news: Receiver<Result<Changes, String>>,
}

impl Followed {
    fn new(tree: &str, with: impl FnOnce(Host) -> Host) -> Self {
        let world = World::new(tree);
        let skills = with(world.host()).discover().unwrap().skills;
        let (sender, news) = channel();
        let watching = skills
            .watch(move |told| {
                let told = told.cloned().map_err(ToString::to_string);
                let _ = sender.send(told);
            })
            .unwrap();
        let followed = Self {
            world,
            skills,
            watching,
            news,
        };
        followed.ready()
    }

    /// Waits for the first look, if there is one.
    fn ready(self) -> Self {
        let report = self.skills.report();
        let (watch, poll) = (&report.settings.watch, &report.settings.poll_seconds);
        if watch.value || poll.value > 0 {
            self.until("the first look", |followed| {
                let status = followed.watching.status();
                status.full_rescans > 0 && status.is_complete == watch.value
            });
        }
        self
    }

    fn told() -> Self {
        Self::new(WORLD, |host| host.set("poll_seconds", "0"))
    }

    fn polled() -> Self {
        Self::new(WORLD, |host| {
            host.set("watch", "off").set("poll_seconds", "1")
        })
    }

    #[track_caller]
    fn until(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let start = Instant::now();
        while !is_so(self) {
            assert!(
                start.elapsed() < PATIENCE,
                "{what} never happens: {:?}",
                self.watching
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn description(&self, id: &str) -> Option<String> {
        let catalog = self.skills.catalog();
        Some(catalog.get(id)?.manifest().description().to_owned())
    }

    #[track_caller]
    fn until_described(&self, id: &str, description: Option<&str>) {
        self.until(&format!("{id} is {description:?}"), |followed| {
            followed.description(id).as_deref() == description
        });
    }

    fn write(&self, path: &str, name: &str, description: &str) {
        write(&self.world.path(path), name, description);
    }
}

fn write(folder: &Path, name: &str, description: &str) {
    fs::create_dir_all(folder).unwrap();
    let text = format!("---\nname: {name}\ndescription: {description}\n---\n");
    fs::write(folder.join("SKILL.md"), text).unwrap();
}

#[test]
fn changes_additions_and_removals_are_noticed_and_announced() {
    for followed in [Followed::told(), Followed::polled()] {
        followed.write("person/.agents/skills/mail", "mail", "Reads mails");
        followed.until_described("mail", Some("Reads mails"));
        let told = followed.news.recv_timeout(PATIENCE).unwrap().unwrap();
        assert_eq!(told.changed, ["mail".into()]);
        followed.write("person/.agents/skills/new/er/sheet", "sheet", "Adds up");
        followed.until_described("sheet", Some("Adds up"));
        fs::remove_dir_all(followed.world.path("person/.agents/skills/group")).unwrap();
        followed.until_described("pdf", None);
        fs::rename(
            followed.world.path("person/.agents/skills/new/er"),
            followed.world.path("person/.agents/skills/group"),
        )
        .unwrap();
        followed.write("person/.agents/skills/group/sheet", "sheet", "Counts");
        followed.until_described("sheet", Some("Counts"));
    }
}

#[test]
fn change_is_noticed_within_ten_seconds_with_and_without_a_watcher() {
    for watch in ["on", "off"] {
        let followed = Followed::new(WORLD, |host| host.set("watch", watch));
        assert_eq!(followed.skills.report().settings.poll_seconds.value, 5);
        let start = Instant::now();
        followed.write("person/.agents/skills/mail", "mail", "Reads mails");
        followed.write("person/.agents/skills/sheet", "sheet", "Adds up");
        fs::remove_dir_all(followed.world.path("person/.agents/skills/group")).unwrap();
        followed.until_described("mail", Some("Reads mails"));
        followed.until_described("sheet", Some("Adds up"));
        followed.until_described("pdf", None);
        let seen = start.elapsed();
        assert!(seen < Duration::from_secs(10), "watch {watch}: {seen:?}");
        assert!(followed.skills.load("sheet", "").is_ok());
    }
}

#[test]
fn one_change_causes_no_full_rescan() {
    let followed = Followed::told();
    let everything = followed.watching.status().full_rescans;
    for number in 0..5 {
        let description = format!("Number {number}");
        followed.write("person/.agents/skills/mail", "mail", &description);
        followed.until_described("mail", Some(&description));
    }
    assert_eq!(followed.watching.status().full_rescans, everything);
}

#[test]
fn changed_skill_loads_without_clearing_a_cache() {
    let followed = Followed::told();
    let file = followed.world.path("person/.agents/skills/mail/SKILL.md");
    for number in 0..3 {
        let text = format!("---\nname: mail\ndescription: Says {number}\n---\nSay {number}.\n");
        fs::write(&file, text).unwrap();
        followed.until_described("mail", Some(&format!("Says {number}")));
        let loaded = followed.skills.load("mail", "").unwrap();
        assert_eq!(loaded.body(), format!("Say {number}.\n"));
        assert!(loaded.notes().is_empty(), "{:?}", loaded.notes());
    }
}

#[test]
fn root_created_later_is_found() {
    let followed = Followed::new("", |host| {
        host.set("poll_seconds", "0").set("trust_project", "true")
    });
    followed.write("person/.claude/skills/mail", "mail", "Writes mails");
    followed.until_described("mail", Some("Writes mails"));
    followed.write("person/app/.agents/skills/mail", "mail", "Writes ours");
    followed.until_described("mail", Some("Writes ours"));
    followed.write("person/app/.agents/skills/mail", "mail", "Writes theirs");
    followed.until_described("mail", Some("Writes theirs"));
}

#[test]
fn replaced_root_is_watched() {
    let followed = Followed::told();
    write(
        &followed.world.path("person/.next/skills/mail"),
        "mail",
        "Another",
    );
    fs::rename(
        followed.world.path("person/.agents"),
        followed.world.path("person/.last"),
    )
    .unwrap();
    followed.until_described("mail", None);
    fs::rename(
        followed.world.path("person/.next"),
        followed.world.path("person/.agents"),
    )
    .unwrap();
    followed.until_described("mail", Some("Another"));
    followed.write("person/.agents/skills/mail", "mail", "Changed");
    followed.until_described("mail", Some("Changed"));
}

#[cfg(unix)]
#[test]
fn linked_roots_and_skills_are_watched() {
    use std::os::unix::fs::symlink;
    let world = World::new("");
    write(&world.path("elsewhere/one/mail"), "mail", "One");
    write(&world.path("elsewhere/two/mail"), "mail", "Two");
    write(&world.path("elsewhere/three/pdf"), "pdf", "Three");
    fs::create_dir_all(world.path("person/.agents")).unwrap();
    symlink(
        world.path("elsewhere/one"),
        world.path("person/.agents/skills"),
    )
    .unwrap();
    symlink(
        world.path("elsewhere/three/pdf"),
        world.path("elsewhere/two/pdf"),
    )
    .unwrap();
    let skills = world
        .host()
        .set("poll_seconds", "0")
        .discover()
        .unwrap()
        .skills;
    let watching = skills.watch(|_| {}).unwrap();
    let (_, news) = channel();
    let followed = Followed {
        world,
        skills,
        watching,
        news,
    };
    let followed = followed.ready();
    write(
        &followed.world.path("elsewhere/one/mail"),
        "mail",
        "One more",
    );
    followed.until_described("mail", Some("One more"));
    // The link leads elsewhere from one moment to the next.
    symlink(
        followed.world.path("elsewhere/two"),
        followed.world.path("person/.agents/new"),
    )
    .unwrap();
    fs::rename(
        followed.world.path("person/.agents/new"),
        followed.world.path("person/.agents/skills"),
    )
    .unwrap();
    followed.until_described("mail", Some("Two"));
    followed.until_described("pdf", Some("Three"));
    write(
        &followed.world.path("elsewhere/three/pdf"),
        "pdf",
        "Three more",
    );
    followed.until_described("pdf", Some("Three more"));
}

#[test]
fn settings_are_watched_and_a_broken_one_is_reported_once() {
    let followed = Followed::told();
    let settings = followed.world.path("person/.config/skillfold/config.toml");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    // A file that is written in place is empty for a moment, which would be followed too.
    let put = |text: &str| {
        let new = settings.with_extension("new");
        fs::write(&new, text).unwrap();
        fs::rename(&new, &settings).unwrap();
    };
    put("disable = ['mail']\n");
    let status = |followed: &Followed| {
        let catalog = followed.skills.catalog();
        catalog.get("mail").unwrap().status().to_string()
    };
    followed.until("mail is off", |followed| status(followed) == "disabled");
    put("disable = ['mail'\n");
    // News of the change before may still be under way.
    while followed.news.recv_timeout(PATIENCE).unwrap().is_ok() {}
    assert_eq!(status(&followed), "disabled", "what was off stays off");
    put("");
    followed.until("mail is on", |followed| status(followed) == "active");
    assert!(followed.news.try_iter().all(|told| told.is_ok()));
}

#[test]
fn file_written_in_two_halves_is_never_shown_broken() {
    use std::io::Write as _;
    for followed in [Followed::told(), Followed::polled()] {
        let path = followed.world.path("person/.agents/skills/mail/SKILL.md");
        // A writer that keeps the file open, and one that closes it between the halves.
        for (number, closes) in [(1, false), (2, true)] {
            let start = Instant::now();
            let mut file = fs::File::create(&path).unwrap();
            file.write_all(b"---\nname: mail\ndescr").unwrap();
            if closes {
                drop(file);
                file = fs::File::options().append(true).open(&path).unwrap();
            }
            while start.elapsed() < Duration::from_millis(1_500) {
                let seen = followed.description("mail");
                // A file that is left alone for two seconds is as it is.
                let is_held = start.elapsed() < Duration::from_millis(1_900);
                assert!(
                    seen.as_deref().is_some_and(|it| it != "mail") || !is_held,
                    "half a file took the skill or its description away"
                );
                std::thread::sleep(Duration::from_millis(5));
            }
            write!(file, "iption: Whole {number}\n---\n").unwrap();
            drop(file);
            followed.until_described("mail", Some(&format!("Whole {number}")));
        }
        // What stays broken is shown as it is, in the end: without a description it has its name.
        fs::write(&path, "---\nname: mail\ndescr").unwrap();
        followed.until_described("mail", Some("mail"));
    }
}

#[test]
fn many_edits_of_the_same_size_leave_nothing_stale() {
    let followed = Followed::told();
    for number in 1_000..2_000 {
        followed.write("person/.agents/skills/mail", "mail", &number.to_string());
        followed.write(
            "person/.agents/skills/group/pdf",
            "pdf",
            &number.to_string(),
        );
    }
    followed.until_described("mail", Some("1999"));
    followed.until_described("pdf", Some("1999"));
}

#[test]
fn many_new_skills_at_once_are_all_found() {
    let followed = Followed::told();
    for number in 0..2_000 {
        let name = format!("made-{number}");
        followed.write(&format!("person/.agents/skills/{name}"), &name, "Made");
    }
    followed.until("all are found", |followed| {
        followed.skills.catalog().len() == 2_002
    });
    // Each of them is followed.
    followed.write("person/.agents/skills/made-1999", "made-1999", "Changed");
    followed.until_described("made-1999", Some("Changed"));
    fs::remove_dir_all(followed.world.path("person/.agents/skills")).unwrap();
    followed.until("all are gone", |followed| {
        followed.skills.catalog().is_empty()
    });
}

#[test]
fn nothing_is_followed_with_watching_and_polling_off() {
    let followed = Followed::new(WORLD, |host| {
        host.set("watch", "off").set("poll_seconds", "0")
    });
    let status = followed.watching.status();
    assert_eq!((status.folders, status.poll), (0, None));
    followed.write("person/.agents/skills/mail", "mail", "Reads mails");
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(
        followed.description("mail").as_deref(),
        Some("Writes mails")
    );
    followed.watching.rescan();
    followed.until_described("mail", Some("Reads mails"));
}

#[test]
fn dropping_the_guard_stops_the_thread() {
    let followed = Followed::told();
    let Followed {
        world,
        skills,
        watching,
        news,
    } = followed;
    drop(watching);
    // The other end is gone with the thread.
    assert!(matches!(
        news.recv_timeout(PATIENCE),
        Err(std::sync::mpsc::RecvTimeoutError::Disconnected)
    ));
    write(
        &world.path("person/.agents/skills/mail"),
        "mail",
        "Reads mails",
    );
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(
        skills
            .catalog()
            .get("mail")
            .unwrap()
            .manifest()
            .description(),
        "Writes mails"
    );
}

#[test]
fn revoked_trust_is_announced_with_watching_and_polling_off() {
    let tree = format!(
        "{WORLD}\n//- person/app/.agents/skills/own/SKILL.md\n---\nname: own\ndescription: d\n---\n"
    );
    let followed = Followed::new(&tree, |host| {
        host.set("watch", "off").set("poll_seconds", "0")
    });
    let (world, own) = (&followed.world, "own".into());
    let (environment, app) = (world.environment("person/app"), world.path("person/app"));
    skillfold::trust::trust_folder(&environment, &app).unwrap();
    let told = followed.news.recv_timeout(PATIENCE).unwrap().unwrap();
    assert_eq!(told.changed, [own]);
    skillfold::trust::distrust_folder(&environment, &app).unwrap();
    // A request that sees it first does not swallow the news.
    let is_seen = || followed.skills.load("own", "").is_err();
    followed.until("it is not given any more", |_| is_seen());
    let told = followed.news.recv_timeout(PATIENCE).unwrap().unwrap();
    assert_eq!(told.changed, ["own".into()]);
}
