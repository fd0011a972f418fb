use std::path::Path;

use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::{Bases, SourcePolicy, place_name};
use crate::address::Address;

fn policy(text: &str) -> SourcePolicy {
    SourcePolicy::parse("/etc/skillfold/policy.toml", &format!("format = 1\n{text}")).unwrap()
}

/// Returns for each source whether a policy allows it, and why not.
fn check(policy: &SourcePolicy, sources: &[&str]) -> String {
    let bases = Bases {
        base: Path::new("/people/ada/app"),
        home: Some(Path::new("/people/ada")),
    };
    let lines = sources.iter().map(|source| {
        let address = Address::parse(source).unwrap();
        match policy.check(&address, bases) {
            Ok(()) => format!("{source}\n"),
            Err(error) => format!("{source} - {error}\n"),
        }
    });
    lines.collect()
}

fn unreadable(text: &str) -> String {
    let error = SourcePolicy::parse("policy.toml", text).unwrap_err();
    format!("{:?}: {error}", error.kind())
}

#[test]
fn source_is_compared_where_it_is_and_not_as_it_was_typed() {
    let policy = policy("allowed-sources = ['github.com/our-org/*']");
    insta::assert_snapshot!(check(&policy, &[
        "our-org/skills",
        "our-org/skills/folder@v1",
        "https://GitHub.com/our-org/skills.git",
        "https://github.com.:443/our-org/skills",
        "git@github.com:our-org/skills.git",
        "ssh://git@github.com:22/our-org/skills",
        "https://github.com/our-org/skills/tree/main/pdf",
        "https://github.com/our-org/skills/archive/v1.tar.gz",
    ]), @"
    our-org/skills
    our-org/skills/folder@v1
    https://GitHub.com/our-org/skills.git
    https://github.com.:443/our-org/skills
    git@github.com:our-org/skills.git
    ssh://git@github.com:22/our-org/skills
    https://github.com/our-org/skills/tree/main/pdf
    https://github.com/our-org/skills/archive/v1.tar.gz
    ");
}

#[test]
fn what_is_only_like_an_allowed_source_is_refused() {
    let policy = policy("allowed-sources = ['github.com/our-org/*']");
    insta::assert_snapshot!(check(&policy, &[
        "our-org-evil/skills",
        "gitlab:our-org/skills",
        "https://github.com.evil.example/our-org/skills",
        "https://evil.example/github.com/our-org/skills",
        "https://github.com:8443/our-org/skills",
        "evil@github.com:our-org/skills",
        "https://github.com/our-org/../evil/a.zip",
        "https://github.com/our-org/%2e%2e/evil/a.zip",
        "https://github.com//our-org/a.zip",
        "https://github.com/evil/a.zip?/our-org/",
        "https://ｇithub.com/our-org/skills",
        "./our-org/skills",
        "file:///github.com/our-org/skills",
    ]), @"
    our-org-evil/skills - The policy refuses `our-org-evil/skills`: it is not in `allowed-sources` (/etc/skillfold/policy.toml:2)
    gitlab:our-org/skills - The policy refuses `gitlab:our-org/skills`: it is not in `allowed-sources` (/etc/skillfold/policy.toml:2)
    https://github.com.evil.example/our-org/skills - The policy refuses `https://github.com.evil.example/our-org/skills`: it is not in `allowed-sources` (/etc/skillfold/policy.toml:2)
    https://evil.example/github.com/our-org/skills - The policy refuses `https://evil.example/github.com/our-org/skills`: it is not in `allowed-sources` (/etc/skillfold/policy.toml:2)
    https://github.com:8443/our-org/skills - The policy refuses `https://github.com:8443/our-org/skills`: it is not in `allowed-sources` (/etc/skillfold/policy.toml:2)
    evil@github.com:our-org/skills - The policy refuses `evil@github.com:our-org/skills`: it is not in `allowed-sources` (/etc/skillfold/policy.toml:2)
    https://github.com/our-org/../evil/a.zip - The policy refuses `https://github.com/our-org/../evil/a.zip`: it cannot be compared with `allowed-sources`, since programs could read a host or name in it differently (/etc/skillfold/policy.toml:2)
    https://github.com/our-org/%2e%2e/evil/a.zip - The policy refuses `https://github.com/our-org/%2e%2e/evil/a.zip`: it cannot be compared with `allowed-sources`, since programs could read a host or name in it differently (/etc/skillfold/policy.toml:2)
    https://github.com//our-org/a.zip - The policy refuses `https://github.com//our-org/a.zip`: it cannot be compared with `allowed-sources`, since programs could read a host or name in it differently (/etc/skillfold/policy.toml:2)
    https://github.com/evil/a.zip?/our-org/ - The policy refuses `https://github.com/evil/a.zip?/our-org/`: it is not in `allowed-sources` (/etc/skillfold/policy.toml:2)
    https://ｇithub.com/our-org/skills - The policy refuses `https://ｇithub.com/our-org/skills`: it cannot be compared with `allowed-sources`, since programs could read a host or name in it differently (/etc/skillfold/policy.toml:2)
    ./our-org/skills - The policy refuses `./our-org/skills`: it is not in `allowed-sources` (/etc/skillfold/policy.toml:2)
    file:///github.com/our-org/skills - The policy refuses `file:///github.com/our-org/skills`: it is not in `allowed-sources` (/etc/skillfold/policy.toml:2)
    ");
}

#[test]
fn denied_source_is_denied_however_it_is_written() {
    let policy = policy("denied-sources = ['https://github.com/evil/', './bad']");
    insta::assert_snapshot!(check(&policy, &[
        "EVIL/skills",
        "git@github.com:evil/skills",
        "root@github.com:/evil/skills.git",
        "ssh://github.com:2222/evil/skills",
        "https://github.com/ev%69l/a.zip",
        "./bad/pdf",
        "/people/ada/app/bad",
        "~/app/bad",
        "file:///people/ada/app/bad/repository",
        "./good/../bad",
        "evilish/skills",
        "./badge",
    ]), @"
    EVIL/skills - The policy refuses `EVIL/skills`: `denied-sources` has `https://github.com/evil/` (/etc/skillfold/policy.toml:2)
    git@github.com:evil/skills - The policy refuses `git@github.com:evil/skills`: `denied-sources` has `https://github.com/evil/` (/etc/skillfold/policy.toml:2)
    root@github.com:/evil/skills.git - The policy refuses `root@github.com:/evil/skills.git`: `denied-sources` has `https://github.com/evil/` (/etc/skillfold/policy.toml:2)
    ssh://github.com:2222/evil/skills - The policy refuses `ssh://github.com:2222/evil/skills`: `denied-sources` has `https://github.com/evil/` (/etc/skillfold/policy.toml:2)
    https://github.com/ev%69l/a.zip - The policy refuses `https://github.com/ev%69l/a.zip`: it cannot be compared with `denied-sources`, since programs could read a host or name in it differently (/etc/skillfold/policy.toml:2)
    ./bad/pdf - The policy refuses `./bad/pdf`: `denied-sources` has `./bad` (/etc/skillfold/policy.toml:2)
    /people/ada/app/bad - The policy refuses `/people/ada/app/bad`: `denied-sources` has `./bad` (/etc/skillfold/policy.toml:2)
    ~/app/bad - The policy refuses `~/app/bad`: `denied-sources` has `./bad` (/etc/skillfold/policy.toml:2)
    file:///people/ada/app/bad/repository - The policy refuses `file:///people/ada/app/bad/repository`: `denied-sources` has `./bad` (/etc/skillfold/policy.toml:2)
    ./good/../bad - The policy refuses `./good/../bad`: it cannot be compared with `denied-sources`, since `..` follows a folder in it (/etc/skillfold/policy.toml:2)
    evilish/skills
    ./badge
    ");
}

#[test]
fn folders_are_below_the_folder_of_the_lock() {
    let policy = policy("allowed-sources = ['./', '~/shared/*', 'https://git.example.com/team/']");
    insta::assert_snapshot!(check(&policy, &[
        ".",
        "./pdf",
        "/people/ada/app/pdf",
        "../app/pdf",
        "~/shared/pdf",
        "https://git.example.com/team/skills.git",
        "../other/pdf",
        "./../app-evil",
        "~/pdf",
        "ssh://git.example.com/team/skills.git",
        "https://git.example.com/teams/skills.git",
    ]), @"
    .
    ./pdf
    /people/ada/app/pdf
    ../app/pdf
    ~/shared/pdf
    https://git.example.com/team/skills.git
    ../other/pdf - The policy refuses `../other/pdf`: it is not in `allowed-sources` (/etc/skillfold/policy.toml:2)
    ./../app-evil - The policy refuses `./../app-evil`: it is not in `allowed-sources` (/etc/skillfold/policy.toml:2)
    ~/pdf - The policy refuses `~/pdf`: it is not in `allowed-sources` (/etc/skillfold/policy.toml:2)
    ssh://git.example.com/team/skills.git - The policy refuses `ssh://git.example.com/team/skills.git`: it is not in `allowed-sources` (/etc/skillfold/policy.toml:2)
    https://git.example.com/teams/skills.git - The policy refuses `https://git.example.com/teams/skills.git`: it is not in `allowed-sources` (/etc/skillfold/policy.toml:2)
    ");
}

#[test]
fn repository_on_this_machine_is_the_same_with_and_without_its_ending() {
    let allowed = policy("allowed-sources = ['/srv/skills']");
    let denied = policy("denied-sources = ['/srv/skills.git']");
    let sources = [
        "file:///srv/skills",
        "file:///srv/skills.git",
        "file:///srv/skills.git/folder",
        "/srv/skills.git",
        "/srv/skills",
    ];
    insta::assert_snapshot!(check(&allowed, &sources), @r"
    file:///srv/skills
    file:///srv/skills.git
    file:///srv/skills.git/folder
    /srv/skills.git - The policy refuses `/srv/skills.git`: it is not in `allowed-sources` (/etc/skillfold/policy.toml:2)
    /srv/skills
    ");
    insta::assert_snapshot!(check(&denied, &sources), @r"
    file:///srv/skills - The policy refuses `file:///srv/skills`: `denied-sources` has `/srv/skills.git` (/etc/skillfold/policy.toml:2)
    file:///srv/skills.git - The policy refuses `file:///srv/skills.git`: `denied-sources` has `/srv/skills.git` (/etc/skillfold/policy.toml:2)
    file:///srv/skills.git/folder - The policy refuses `file:///srv/skills.git/folder`: `denied-sources` has `/srv/skills.git` (/etc/skillfold/policy.toml:2)
    /srv/skills.git - The policy refuses `/srv/skills.git`: `denied-sources` has `/srv/skills.git` (/etc/skillfold/policy.toml:2)
    /srv/skills - The policy refuses `/srv/skills`: `denied-sources` has `/srv/skills.git` (/etc/skillfold/policy.toml:2)
    ");
}

#[test]
fn place_has_one_name_however_it_was_typed() {
    let bases = Bases {
        base: Path::new("/people/ada/app"),
        home: None,
    };
    let sources = [
        "Owner/Repo",
        "https://github.com/owner/repo.git",
        "git@github.com:owner/repo",
        "ssh://git@github.com/owner/repo.git/folder",
        "https://example.com:8443/a/b",
        "file:///srv/skills.git",
        "https://example.com/x.zip?token=1",
    ];
    let names = sources.map(|source| place_name(&Address::parse(source).unwrap(), bases));
    insta::assert_snapshot!(names.join("\n"), @r"
    github.com/owner/repo
    github.com/owner/repo
    github.com/owner/repo
    github.com/owner/repo
    example.com:8443/a/b
    /srv/skills
    example.com/x.zip
    ");
}

#[test]
fn source_that_needs_a_signer_is_refused() {
    let policy = policy("[signers]\n'github.com/our-org/*' = 'release@our.org'");
    insta::assert_snapshot!(check(&policy, &["our-org/skills", "Our-Org/skills", "other/skills"]), @"
    our-org/skills - The policy refuses `our-org/skills`: `signers` wants a signature (`github.com/our-org/* = release@our.org`), and this version of Skillfold checks none (/etc/skillfold/policy.toml:3)
    Our-Org/skills - The policy refuses `Our-Org/skills`: `signers` wants a signature (`github.com/our-org/* = release@our.org`), and this version of Skillfold checks none (/etc/skillfold/policy.toml:3)
    other/skills
    ");
}

#[test]
fn empty_list_allows_nothing_and_star_denies_everything() {
    let sources = ["our-org/skills", "./pdf", "file:///srv/skills"];
    insta::assert_snapshot!(check(&policy("allowed-sources = []"), &sources), @"
    our-org/skills - The policy refuses `our-org/skills`: it is not in `allowed-sources` (/etc/skillfold/policy.toml:2)
    ./pdf - The policy refuses `./pdf`: it is not in `allowed-sources` (/etc/skillfold/policy.toml:2)
    file:///srv/skills - The policy refuses `file:///srv/skills`: it is not in `allowed-sources` (/etc/skillfold/policy.toml:2)
    ");
    insta::assert_snapshot!(check(&policy("denied-sources = ['*']"), &sources), @"
    our-org/skills - The policy refuses `our-org/skills`: `denied-sources` has `*` (/etc/skillfold/policy.toml:2)
    ./pdf - The policy refuses `./pdf`: `denied-sources` has `*` (/etc/skillfold/policy.toml:2)
    file:///srv/skills - The policy refuses `file:///srv/skills`: `denied-sources` has `*` (/etc/skillfold/policy.toml:2)
    ");
}

#[test]
fn policy_that_is_not_understood_names_its_line() {
    let check = |text: &str| unreadable(&format!("format = 1\n{text}"));
    insta::assert_snapshot!(unreadable(""), @"Refused: Could not read the policy `policy.toml`: line 1: missing field `format`");
    insta::assert_snapshot!(unreadable("format = 2"), @"Refused: Could not read the policy `policy.toml`: line 1: format 2 is newer than format 1, which skillfold 0.1.0 reads; update skillfold, or move the file aside");
    insta::assert_snapshot!(check("minimum_age = '7 days'"), @"Refused: Could not read the policy `policy.toml`: line 2: unknown field `minimum_age`, expected one of `format`, `minimum-age`, `allowed-sources`, `denied-sources`, `signers`");
    insta::assert_snapshot!(check("minimum-age = '7'"), @"Refused: Could not read the policy `policy.toml`: line 2: `7` is not an age, such as `7 days` or `12 hours`");
    insta::assert_snapshot!(check("minimum-age = '-1 days'"), @"Refused: Could not read the policy `policy.toml`: line 2: `-1 days` is not an age, such as `7 days` or `12 hours`");
    insta::assert_snapshot!(check("minimum-age = '18446744073709551615 weeks'"), @"Refused: Could not read the policy `policy.toml`: line 2: `18446744073709551615 weeks` is not an age, such as `7 days` or `12 hours`");
    insta::assert_snapshot!(check("allowed-sources = ['github.com/a',\n  'our-org/skills']"), @"Refused: Could not read the policy `policy.toml`: line 3: `our-org/skills` is not a source: it starts with neither a host, as `github.com/owner`, nor `./`, `/` or `~/`");
    insta::assert_snapshot!(check("denied-sources = ['github.com/a/b/folder']"), @"Refused: Could not read the policy `policy.toml`: line 2: `github.com/a/b/folder` is not a source: it names a folder in a repository; a policy is for whole repositories");
    insta::assert_snapshot!(check("denied-sources = ['github.com/ev*l']"), @"Refused: Could not read the policy `policy.toml`: line 2: `github.com/ev*l` is not a source: programs could read a host or name in it differently");
    insta::assert_snapshot!(check("denied-sources = ['github.com/a/../b']"), @"Refused: Could not read the policy `policy.toml`: line 2: `github.com/a/../b` is not a source: programs could read a host or name in it differently");
    insta::assert_snapshot!(check("[signers]\n'owner/repo' = 'a'"), @"Refused: Could not read the policy `policy.toml`: line 3: `owner/repo` is not a source: it starts with neither a host, as `github.com/owner`, nor `./`, `/` or `~/`");
    insta::assert_snapshot!(check("allowed-sources = 'github.com'"), @r#"Refused: Could not read the policy `policy.toml`: line 2: invalid type: string "github.com", expected a sequence"#);
}

#[test]
fn longest_age_holds() {
    let age = |text: &str| policy(text).minimum_age().map(|it| it.age.as_secs() / 3600);
    assert_eq!(age("minimum-age = '36 hours'"), Some(36));
    assert_eq!(age("minimum-age = '1 week'"), Some(168));
    assert_eq!(age("minimum-age = '0 days'"), None);
    let both = policy("minimum-age = '1 day'").and(policy("minimum-age = '2 days'"));
    assert_eq!(both.minimum_age().unwrap().rule.value, "2 days");
}

const RULES: [&str; 8] = [
    "allowed-sources = ['github.com/a/*']",
    "allowed-sources = ['github.com/a/one', './']",
    "allowed-sources = ['*']",
    "allowed-sources = []",
    "denied-sources = ['github.com/a/one']",
    "denied-sources = ['ssh://github.com', '~/']",
    "[signers]\n'github.com/b' = 'b'",
    "minimum-age = '7 days'",
];
const SOURCES: [&str; 8] = [
    "a/one",
    "a/two",
    "b/one",
    "git@github.com:a/one",
    "https://github.com/A/one.git",
    "./pdf",
    "~/pdf",
    "https://example.com/a.zip",
];

proptest! {
    #[test]
    fn policies_together_allow_only_what_each_allows(
        rules in subsequence(RULES.to_vec(), 1..=8).prop_shuffle(),
        source in select(SOURCES.to_vec()),
    ) {
        let policies: Vec<_> = rules.iter().map(|rule| policy(rule)).collect();
        let all = policies.iter().cloned().reduce(SourcePolicy::and).unwrap();
        let is_allowed = |policy: &SourcePolicy| !check(policy, &[source]).contains(" - ");
        prop_assert_eq!(is_allowed(&all), policies.iter().all(is_allowed));
        let age = |policy: &SourcePolicy| policy.minimum_age().map(|it| it.age);
        prop_assert_eq!(age(&all), policies.iter().filter_map(age).max());
    }

    #[test]
    fn reading_a_policy_never_panics(text in "(format = 1\n)?[a-z\\-\\[\\]'=/*.@:%~ \n]{0,60}") {
        _ = SourcePolicy::parse("policy.toml", &text);
    }
}
