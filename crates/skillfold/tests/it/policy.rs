//! Policies decide which sources skills come from; each can only tighten.

use skillfold::Skills;
use skillfold::core::{Error, ErrorKind};
use skillfold::registry::{
    AddRequest, Address, InstallOptions, InstallScope, InstalledSkill, UpdateResult,
};
use skillfold::store::Approval;

use crate::world::{World, skill};

const PROJECT: &str = "//- person/app/.skillfold/policy.toml\n";
const USER: &str = "//- person/.config/skillfold/policy.toml\n";
const MACHINE: &str = "//- machine/policy.toml\n";

fn world() -> World {
    World::new(
        &[
            skill("person/app/drafts/pdf"),
            skill("person/shared/review"),
        ]
        .concat(),
    )
}

fn skills(world: &World) -> Skills {
    let environment = world.environment("person/app");
    let environment = environment.machine_folder(world.path("machine"));
    let found = skillfold::Host::new(environment).discover();
    found.unwrap().skills
}

fn add(world: &World, source: &str) -> Result<(), Error> {
    let skills = skills(world);
    let registry = skills.registry(InstallScope::Project).unwrap();
    let added = registry.propose(&AddRequest::new(Address::parse(source).unwrap()))?;
    let approval = Approval::by_host("ada");
    for skill in added.skills {
        registry.approve(&skill.proposal.unwrap(), &approval)?;
    }
    Ok(())
}

fn shown(world: &World, result: Result<(), Error>) -> String {
    match result {
        Ok(()) => "added".to_owned(),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Refused);
            world.shown(&error.to_string())
        }
    }
}

#[test]
fn rules_of_machine_user_and_project_all_hold() {
    let world = world();
    world.write(&format!(
        "{MACHINE}format = 1\nallowed-sources = ['./', '~/shared/']\n"
    ));
    world.write(&format!(
        "{PROJECT}format = 1\n\nallowed-sources = ['*']\ndenied-sources = ['./drafts/']\n"
    ));
    insta::assert_snapshot!(shown(&world, add(&world, "./drafts/pdf")), @"The policy refuses `./drafts/pdf`: `denied-sources` has `./drafts/` (/person/app/.skillfold/policy.toml:4)");
    insta::assert_snapshot!(shown(&world, add(&world, "~/elsewhere")), @"The policy refuses `~/elsewhere`: it is not in `allowed-sources` (/machine/policy.toml:2)");
    insta::assert_snapshot!(shown(&world, add(&world, "~/shared/review")), @"added");
    world.write(&format!("{USER}format = 1\nallowed-sources = []\n"));
    insta::assert_snapshot!(shown(&world, add(&world, "~/shared/review")), @"The policy refuses `~/shared/review`: it is not in `allowed-sources` (/person/.config/skillfold/policy.toml:2)");
}

#[test]
fn policy_that_cannot_be_read_allows_nothing() {
    let world = world();
    world.write(&format!("{PROJECT}format = 1\nallowed_sources = ['*']\n"));
    insta::assert_snapshot!(shown(&world, add(&world, "./drafts/pdf")), @"Could not read the policy `/person/app/.skillfold/policy.toml`: line 2: unknown field `allowed_sources`, expected one of `format`, `minimum-age`, `allowed-sources`, `denied-sources`, `signers`");
    world.write(&format!("{PROJECT}format = 1\n"));
    insta::assert_snapshot!(shown(&world, add(&world, "./drafts/pdf")), @"added");
    std::fs::create_dir_all(world.path("machine/policy.toml")).unwrap();
    insta::assert_snapshot!(shown(&world, add(&world, "~/shared/review")), @"Could not read the policy `/machine/policy.toml`: not a regular file");
}

#[cfg(unix)]
#[test]
fn policy_of_the_machine_that_others_can_write_or_that_is_gone_allows_nothing() {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    let world = world();
    world.write(&format!("{MACHINE}format = 1\n"));
    set_permissions(
        world.path("machine/policy.toml"),
        Permissions::from_mode(0o666),
    )
    .unwrap();
    insta::assert_snapshot!(shown(&world, add(&world, "./drafts/pdf")), @"Could not read the policy `/machine/policy.toml`: others can write to the file (mode 0666)");
    std::fs::remove_file(world.path("machine/policy.toml")).unwrap();
    symlink("nowhere", world.path("machine/policy.toml")).unwrap();
    insta::assert_snapshot!(shown(&world, add(&world, "./drafts/pdf")), @"Could not read the policy `/machine/policy.toml`: it is a link that leads nowhere");
}

#[cfg(unix)]
#[test]
fn link_to_a_policy_inside_a_project_is_not_followed() {
    let world = world();
    world.write("//- person/app/.skillfold/x\n//- person/policy.toml\nformat = 1\n");
    std::os::unix::fs::symlink(
        "../../policy.toml",
        world.path("person/app/.skillfold/policy.toml"),
    )
    .unwrap();
    insta::assert_snapshot!(shown(&world, add(&world, "./drafts/pdf")), @"Could not read the policy `/person/app/.skillfold/policy.toml`: Skillfold does not write through links; name the link's target instead");
}

#[test]
fn lock_is_restored_and_updated_only_from_allowed_sources() {
    let world = world();
    add(&world, "./drafts/pdf").unwrap();
    add(&world, "~/shared/review").unwrap();
    world.write(&format!(
        "{PROJECT}format = 1\ndenied-sources = ['~/shared/']\n"
    ));
    let skills = skills(&world);
    let registry = skills.registry(InstallScope::Project).unwrap();
    let mut frozen = InstallOptions::default();
    frozen.frozen = true;
    let report = registry.install(frozen).unwrap();
    let installed = report.skills.iter().map(|(name, skill)| match skill {
        InstalledSkill::Failed(error) => format!("{name}: {error}\n"),
        _ => format!("{name}\n"),
    });
    insta::assert_snapshot!(world.shown(&installed.collect::<String>()), @"
    pdf
    review: The policy refuses `~/shared/review`: `denied-sources` has `~/shared/` (/person/app/.skillfold/policy.toml:2)
    ");
    let updated = registry.update(&[]).unwrap();
    let updated = updated.iter().map(|skill| match &skill.result {
        UpdateResult::Failed(error) => format!("{}: {error}\n", skill.name),
        result => format!("{}: {result:?}\n", skill.name),
    });
    insta::assert_snapshot!(world.shown(&updated.collect::<String>()), @"
    pdf: Current
    review: The policy refuses `~/shared/review`: `denied-sources` has `~/shared/` (/person/app/.skillfold/policy.toml:2)
    ");
    let outdated = registry.outdated().unwrap();
    assert_eq!(outdated.failed.len(), 1);
    assert!(registry.verify().unwrap().problems().next().is_none());
    registry.remove("review", false).unwrap();
}

#[test]
fn proposal_is_approved_only_if_the_policy_allows_it_then() {
    let world = world();
    let skills = skills(&world);
    let registry = skills.registry(InstallScope::Project).unwrap();
    let added = registry.propose(&AddRequest::new(Address::parse("./drafts/pdf").unwrap()));
    let added = added.unwrap().skills.remove(0).proposal.unwrap();
    world.write(&format!("{USER}format = 1\ndenied-sources = ['./']\n"));
    let approved = registry.approve(&added, &Approval::by_host("ada"));
    insta::assert_snapshot!(shown(&world, approved.map(drop)), @"The policy refuses `./drafts/pdf`: `denied-sources` has `./` (/person/.config/skillfold/policy.toml:2)");
}
