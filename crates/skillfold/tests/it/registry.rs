//! Skills from sources: what is installed, locked and approved, and what is left alone.
#![expect(
    clippy::disallowed_methods,
    reason = "a person edits files, and looks at them"
)]

use std::fs;
use std::path::Path;

use skillfold::Skills;
use skillfold::core::{Error, ErrorKind};
use skillfold::registry::{
    AddRequest, AddedSkill, Address, InstallOptions, InstallScope, InstalledSkill, Registry,
    UpdateResult, VerifyState,
};
use skillfold::store::Approval;

use crate::world::{World, skill};

const LOCK: &str = "person/app/skills.lock";
const WANTED: &str = "person/app/skills.toml";
const INSTALLED: &str = "person/app/.agents/skills/pdf/SKILL.md";
const SOURCE: &str = "person/app/drafts/pdf/SKILL.md";

fn world() -> World {
    World::new(&skill("person/app/drafts/pdf"))
}

fn registry(skills: &Skills) -> Registry<'_> {
    skills.registry(InstallScope::Project).unwrap()
}

fn propose(registry: &Registry<'_>, clients: &[&str]) -> Result<Vec<AddedSkill>, Error> {
    let mut request = AddRequest::new(Address::parse("./drafts/pdf")?);
    request.clients = clients.iter().map(ToString::to_string).collect();
    Ok(registry.propose(&request)?.skills)
}

fn approve(registry: &Registry<'_>, added: &[AddedSkill]) -> Result<(), Error> {
    for skill in added {
        let proposal = skill.proposal.as_ref().unwrap();
        registry.approve(proposal, &Approval::by_host("ada"))?;
    }
    Ok(())
}

fn add(registry: &Registry<'_>, clients: &[&str]) -> Result<(), Error> {
    approve(registry, &propose(registry, clients)?)
}

/// Returns what an update proposes.
fn updated(registry: &Registry<'_>) -> Vec<AddedSkill> {
    let updated = registry.update(&[]).unwrap().into_iter();
    let added = updated.filter_map(|it| match it.result {
        UpdateResult::Proposed(added) => Some(*added),
        UpdateResult::Failed(error) => panic!("{error}"),
        _ => None,
    });
    added.collect()
}

fn read(world: &World, path: &str) -> String {
    fs::read_to_string(world.path(path)).unwrap()
}

fn append(world: &World, path: &str, text: &str) {
    let text = read(world, path) + text;
    fs::write(world.path(path), text).unwrap();
}

fn replace(world: &World, path: &str, old: &str, new: &str) {
    let text = read(world, path);
    assert!(text.contains(old), "{text}");
    fs::write(world.path(path), text.replace(old, new)).unwrap();
}

fn state(registry: &Registry<'_>) -> VerifyState {
    registry.verify().unwrap().skills[0].state
}

#[test]
fn approval_changes_nothing_if_the_lock_cannot_be_read() {
    let world = world();
    let skills = world.skills();
    let registry = registry(&skills);
    add(&registry, &[]).unwrap();
    append(&world, SOURCE, "New.\n");
    let update = updated(&registry);
    append(&world, LOCK, "<<<<<<< HEAD\n");
    let refused = approve(&registry, &update).unwrap_err();
    insta::assert_snapshot!(world.shown(&refused.to_string()), @"Could not read the lock `/person/app/skills.lock`: line 11: key with no value, expected `=`");
    assert!(!read(&world, INSTALLED).contains("New."));

    replace(&world, LOCK, "<<<<<<< HEAD\n", "");
    approve(&registry, &update).unwrap();
    assert!(read(&world, INSTALLED).contains("New."));
    assert_eq!(state(&registry), VerifyState::Equal);
}

#[test]
fn approval_is_refused_if_the_lock_says_something_else_by_now() {
    let world = world();
    let skills = world.skills();
    let registry = registry(&skills);
    add(&registry, &[]).unwrap();
    append(&world, SOURCE, "New.\n");
    let update = updated(&registry);
    let digest = read(&world, LOCK);
    let digest = digest.split("sha256:").nth(1).unwrap()[..8].to_owned();
    replace(&world, LOCK, &format!("sha256:{digest}"), "sha256:00000000");
    let refused = approve(&registry, &update).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Refused);
    insta::assert_snapshot!(world.shown(&refused.to_string()), @"The entry of `pdf` in `/person/app/skills.lock` changed since this was proposed");
    assert!(!read(&world, INSTALLED).contains("New."));
}

#[test]
fn update_leaves_the_manifest_to_its_author() {
    let world = world();
    let skills = world.skills();
    let registry = registry(&skills);
    add(&registry, &[]).unwrap();
    append(&world, SOURCE, "New.\n");
    let update = updated(&registry);
    let edited = "format = 1\n\n[skills]\npdf = { source = \"./drafts/pdf\", clients = [\"claude-code\"] } # for forms\n";
    fs::write(world.path(WANTED), edited).unwrap();
    approve(&registry, &update).unwrap();
    assert_eq!(read(&world, WANTED), edited);
    assert_eq!(state(&registry), VerifyState::Equal);
    let linked = world.path("person/app/.claude/skills/pdf/SKILL.md");
    assert!(fs::read_to_string(linked).unwrap().contains("New."));
}

#[test]
fn folder_of_a_client_that_has_another_skill_is_left_and_nothing_is_installed() {
    let world = world();
    let other = "person/app/.claude/skills/pdf/SKILL.md";
    world.write(&format!("//- {other}\nmine\n"));
    let skills = world.skills();
    let registry = registry(&skills);
    let refused = add(&registry, &["claude-code"]).unwrap_err();
    insta::assert_snapshot!(world.shown(&refused.to_string()), @"`claude-code` has another `/person/app/.claude/skills/pdf`");
    assert_eq!(read(&world, other), "mine\n");
    assert!(!world.path(INSTALLED).exists());

    fs::remove_dir_all(world.path("person/app/.claude/skills/pdf")).unwrap();
    add(&registry, &["claude-code"]).unwrap();
    assert_eq!(read(&world, other), read(&world, INSTALLED));
}

#[cfg(unix)]
#[test]
fn folder_of_a_client_may_be_a_link_to_ours_or_elsewhere() {
    for target in ["../.agents/skills", "../dotfiles"] {
        let world = world();
        fs::create_dir_all(world.path("person/app/.claude")).unwrap();
        fs::create_dir_all(world.path("person/app/dotfiles")).unwrap();
        let link = world.path("person/app/.claude/skills");
        std::os::unix::fs::symlink(target, &link).unwrap();
        let skills = world.skills();
        let registry = registry(&skills);
        let clients: &[&str] = match target {
            "../dotfiles" => &[],
            _ => &["claude-code"],
        };
        add(&registry, clients).unwrap();
        assert_eq!(registry.verify().unwrap().problems().count(), 0);
        registry.remove("pdf", false).unwrap();
        assert!(!world.path(INSTALLED).exists());
        assert_eq!(fs::read_link(&link).unwrap(), Path::new(target));
        add(&registry, clients).unwrap();
    }
}

#[test]
fn what_another_project_left_undone_stops_nobody() {
    let world = world();
    let skills = world.skills();
    add(&registry(&skills), &[]).unwrap();
    append(&world, SOURCE, "New.\n");
    approve(&registry(&skills), &updated(&registry(&skills))).unwrap();
    // As if a process had been killed before the lock of another project was written.
    let data = world.environment("person/app").data_folder().unwrap();
    let place = format!(
        r#"{{"base":"{0}","folder":"pdf"}}"#,
        world.path("gone").display()
    );
    let change =
        format!(r#"{{"name":"pdf","place":{place},"after":null,"locked":null,"wanted":null}}"#);
    let lock = world.path("gone/skills.lock");
    let journal = format!(
        r#"{{"format":1,"lock":"{}","changes":[{change}]}}"#,
        lock.display()
    );
    fs::create_dir_all(data.join("installing")).unwrap();
    fs::write(data.join("installing/0123.json"), journal).unwrap();
    registry(&skills).remove("pdf", false).unwrap();
}

#[test]
fn wanted_skill_that_is_not_locked_is_only_removed_from_the_manifest() {
    let world = world();
    world.write(
        "//- person/app/skills.toml\nformat = 1\n[skills]\npdf = { source = \"./drafts/pdf\" }\n",
    );
    world.write(&skill("person/app/.agents/skills/pdf"));
    let skills = world.skills();
    let registry = registry(&skills);
    registry.remove("pdf", false).unwrap();
    assert!(world.path(INSTALLED).exists());
    assert!(!read(&world, WANTED).contains("pdf"));
}

#[test]
fn typed_folder_starts_at_the_working_folder() {
    let world = world();
    fs::create_dir_all(world.path("person/app/docs/guide")).unwrap();
    let environment = world.environment("person/app/docs/guide");
    let found = skillfold::Host::new(environment).discover().unwrap();
    let project = registry(&found.skills);
    let typed = |registry: &Registry<'_>, text: &str| {
        let address = registry.address(text).unwrap();
        world.shown(address.source())
    };
    assert_eq!(typed(&project, "../../drafts/pdf"), "./drafts/pdf");
    assert_eq!(typed(&project, "./pdf"), "./docs/guide/pdf");
    assert_eq!(typed(&project, "../../../lib"), "../lib");
    assert_eq!(typed(&project, "~/shared"), "~/shared");
    assert_eq!(typed(&project, "owner/repo"), "owner/repo");
    let user = found.skills.registry(InstallScope::User).unwrap();
    assert_eq!(typed(&user, "./pdf"), "/person/app/docs/guide/pdf");
}

#[test]
fn verifying_writes_nothing() {
    let world = world();
    world.write("//- person/app/skills.toml\nformat = 1\n");
    let skills = world.skills();
    assert_eq!(registry(&skills).verify().unwrap().skills.len(), 0);
    let data = world.environment("person/app").data_folder().unwrap();
    assert!(!data.exists());
}

#[test]
fn edits_are_merged_where_the_locked_version_was_never_installed() {
    let world = world();
    let text = read(&world, SOURCE) + "One.\nTwo.\nThree.\nFour.\nFive.\n";
    fs::write(world.path(SOURCE), &text).unwrap();
    let skills = world.skills();
    add(&registry(&skills), &[]).unwrap();
    registry(&skills).vendor().unwrap();
    // Another machine, with everything that is committed.
    let data = world.environment("person/app").data_folder().unwrap();
    fs::remove_dir_all(data).unwrap();
    replace(&world, INSTALLED, "One.", "My one.");
    replace(&world, SOURCE, "Five.", "Their five.");
    let skills = world.skills();
    let update = updated(&registry(&skills));
    approve(&registry(&skills), &update).unwrap();
    let merged = read(&world, INSTALLED);
    assert!(
        merged.contains("My one.") && merged.contains("Their five."),
        "{merged}"
    );
}

#[test]
fn one_skill_that_fails_does_not_hide_the_others() {
    let world = world();
    world.write("//- person/app/skills.toml\nformat = 1\n[skills]\ncsv = { source = \"./drafts/csv\" }\npdf = { source = \"./drafts/pdf\" }\n");
    let skills = world.skills();
    let report = registry(&skills)
        .install(InstallOptions::default())
        .unwrap();
    let (name, failed) = &report.skills[0];
    assert_eq!(name, "csv");
    assert!(matches!(failed, InstalledSkill::Failed(_)));
    assert_eq!(report.proposed.len(), 1);
}
