//! What nobody trusted costs little: it is searched within one small budget, leads nowhere else, and is not followed.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;

use skillfold::core::Code;
use skillfold::core::catalog::{Status, Trust};
use skillfold::{Skills, discovery::RootStatus};

use crate::world::{World, skill, tree};

/// A project that names 32 roots, each with something in it, and a skill of the person.
fn world(inside: impl Fn(&World, usize)) -> World {
    let world = World::new(&tree(&["person/.agents/skills/mine"]));
    let mut settings = String::from("roots = [");
    for number in 0..32 {
        fs::create_dir_all(world.path(&format!("person/app/r{number}"))).unwrap();
        inside(&world, number);
        write!(settings, "\"r{number}\", ").unwrap();
    }
    settings.push_str("]\n");
    world.write(&format!(
        "//- person/app/.skillfold/config.toml\n{settings}"
    ));
    world
}

/// A large tree outside of the project, and roots that link to it.
fn linking() -> World {
    let world = world(|world, number| {
        let link = world.path(&format!("person/app/r{number}/all"));
        symlink(world.path("outside"), link).unwrap();
    });
    let skills: String = (0..300)
        .map(|number| skill(&format!("outside/{}/deep/s{number}", number % 20)))
        .collect();
    world.write(&skills);
    world
}

fn found(skills: &Skills, status: Status) -> usize {
    let catalog = skills.catalog();
    let entries = catalog.entries();
    entries.filter(|entry| entry.status() == status).count()
}

/// Returns how often something was found about roots that nobody trusted.
fn findings(skills: &Skills, code: Code) -> usize {
    let catalog = skills.catalog();
    let findings = catalog.findings().iter().filter(|finding| {
        let root = &catalog.roots()[finding.source];
        root.trust() == Trust::Untrusted && finding.finding.diagnostic.code == code
    });
    findings.count()
}

#[test]
fn links_in_an_untrusted_project_are_not_followed_and_reported() {
    let world = linking();
    let skills = world.skills();
    assert_eq!(found(&skills, Status::Active), 1);
    assert_eq!(found(&skills, Status::Untrusted), 0);
    assert_eq!(findings(&skills, Code::LinkNotFollowed), 32);
    let trusted = world
        .host()
        .set("trust_project", "true")
        .discover()
        .unwrap()
        .skills;
    assert_eq!(found(&trusted, Status::Active), 301);
}

#[test]
fn default_root_escaping_an_untrusted_project_is_not_searched() {
    let world = World::new(&tree(&["outside/a", "person/.agents/skills/mine"]));
    fs::create_dir_all(world.path("person/app/.agents")).unwrap();
    symlink(
        world.path("outside"),
        world.path("person/app/.agents/skills"),
    )
    .unwrap();
    let skills = world.skills();
    assert_eq!(skills.catalog().len(), 1);
    let report = skills.report();
    let said = report.roots.iter().find_map(|root| match &root.status {
        RootStatus::Missing(diagnostic) => Some(diagnostic.to_string()),
        _ => None,
    });
    assert_eq!(
        said.unwrap(),
        "warning[SF705]: Root is outside the project, which is not trusted: `.agents/skills`"
    );
    let trusted = world
        .host()
        .set("trust_project", "true")
        .discover()
        .unwrap()
        .skills;
    assert_eq!(trusted.catalog().len(), 2);
}

#[test]
fn all_roots_of_an_untrusted_project_share_one_budget() {
    let skills_of_each = world(|world, number| {
        let names = (0..40).map(|name| format!("person/app/r{number}/s{number}-{name}"));
        world.write(&names.map(|path| skill(&path)).collect::<String>());
    });
    let skills = skills_of_each.skills();
    assert_eq!(found(&skills, Status::Untrusted), 1_000);
    assert_eq!(
        found(&skills, Status::Active),
        1,
        "the person's are all there"
    );
    assert!(findings(&skills, Code::BoundReached) > 0);
    // Each look has the whole budget again, and finds the same.
    skills.refresh().unwrap();
    assert_eq!(found(&skills, Status::Untrusted), 1_000);

    let folders_of_each = world(|world, number| {
        for name in 0..50 {
            let folder = world.path(&format!("person/app/r{number}/f{name}/below"));
            fs::create_dir_all(folder).unwrap();
        }
        world.write(&skill(&format!("person/app/r{number}/last/z{number}")));
    });
    let skills = folders_of_each.skills();
    // Each root has 101 folders without a skill, and the one with a skill comes last; 1,000 are searched.
    let seen = found(&skills, Status::Untrusted);
    assert!((9..=10).contains(&seen), "{seen}");
    assert!(findings(&skills, Code::BoundReached) > 0);
    let trusted = folders_of_each.host().set("trust_project", "true");
    assert_eq!(
        found(&trusted.discover().unwrap().skills, Status::Active),
        33
    );
}

#[cfg(feature = "watch")]
#[test]
fn untrusted_project_is_not_watched() {
    use std::time::{Duration, Instant};

    let world = world(|world, number| {
        for name in 0..50 {
            let folder = world.path(&format!("person/app/r{number}/f{name}"));
            fs::create_dir_all(folder).unwrap();
        }
        world.write(&skill(&format!("person/app/r{number}/z{number}")));
    });
    let watched = |skills: &Skills| {
        let watching = skills.watch(|_| {}).unwrap();
        let start = Instant::now();
        while !watching.status().is_complete {
            assert!(start.elapsed() < Duration::from_secs(60));
            std::thread::yield_now();
        }
        watching.status().folders
    };
    let untrusted = watched(&world.skills());
    assert!(untrusted < 40, "{untrusted} folders");
    let trusted = world
        .host()
        .set("trust_project", "true")
        .discover()
        .unwrap()
        .skills;
    assert!(watched(&trusted) > 32 * 50);
}
