//! The versions that skills need of programs.

use skillfold_core::catalog::{MismatchPolicy, Status, Versions};
use skillfold_core::{
    Catalog, CatalogOptions, ContextLifetime, LoadOptions, Loader, MemorySource, Policy, Refusal,
    Root, Scope, SessionState,
};
use skillfold_testkit::far_future;

use crate::show::{check, findings};

fn with(fields: &str) -> String {
    check(&format!("---\nname: a\ndescription: b\n{fields}\n---\n"))
}

#[test]
fn required_versions_are_read_as_a_mapping_or_string() {
    insta::assert_snapshot!(with("engines:\n  skillfold: '>=0.2'\n  claude-code: 2.1"), @r#"
    a: "b"
      engines = skillfold ">=0.2", claude-code "2.1"
    "#);
    insta::assert_snapshot!(with("engines: { skillfold: '>=0.2' }"), @r#"
    a: "b"
      engines = skillfold ">=0.2"
    "#);
    insta::assert_snapshot!(with("engines: claude-code >=2.0, <3, skillfold ^0.2"), @r#"
    a: "b"
      engines = claude-code ">=2.0, <3", skillfold "^0.2"
    "#);
    insta::assert_snapshot!(with("metadata:\n  engines: 'claude-code>=2.0'"), @r#"
    a: "b"
      engines = claude-code ">=2.0"
      metadata = {engines: Text("claude-code>=2.0")}
    "#);
    insta::assert_snapshot!(with("metadata:\n  engines: { openclaw: '>=2026.2' }"), @r#"
    a: "b"
      engines = openclaw ">=2026.2"
      metadata = {engines: {openclaw: Text(">=2026.2")}}
    "#);
    insta::assert_snapshot!(with("engines:"), @r#"a: "b""#);
}

#[test]
fn versions_in_a_compatibility_mapping_are_read() {
    insta::assert_snapshot!(with("compatibility:\n  openclaw: '>=0.10'\n  system: linux"), @r#"
    a: "b"
      engines = openclaw ">=0.10"
      other = {compatibility: {openclaw: Text(">=0.10"), system: Text("linux")}}
    5:3-6:16 warning[SF201]: Field `compatibility` has an unexpected value
    "#);
    insta::assert_snapshot!(with("compatibility:\n  openclaw: '>=0.10'\nengines: { openclaw: '>=0.11' }"), @r#"
    a: "b"
      engines = openclaw ">=0.11"
      other = {compatibility: {openclaw: Text(">=0.10")}}
    5:3-5:21 warning[SF201]: Field `compatibility` has an unexpected value
    "#);
    insta::assert_snapshot!(with("compatibility: Needs claude-code >=2.0"), @r#"
    a: "b"
      compatibility = "Needs claude-code >=2.0"
    "#);
}

#[test]
fn invalid_versions_are_reported_and_kept() {
    insta::assert_snapshot!(with("engines: { claude-code: latest, codex: '>=1' }"), @r#"
    a: "b"
      engines = claude-code "latest", codex ">=1"
    4:25-4:31 warning[SF208]: Versions of `claude-code` under `engines` cannot be read: `latest`
    "#);
    insta::assert_snapshot!(with("metadata:\n  engines: claude-code"), @r#"
    a: "b"
      engines = claude-code ""
      metadata = {engines: Text("claude-code")}
    5:12-5:23 warning[SF208]: Versions of `claude-code` under `engines` cannot be read: ``
    "#);
    insta::assert_snapshot!(with("engines: [a, b]"), @r#"
    a: "b"
      other = {engines: [Text("a"), Text("b")]}
    4:11-4:15 warning[SF201]: Field `engines` has an unexpected value
    "#);
    insta::assert_snapshot!(with("engines: { a: { b: c } }"), @r#"
    a: "b"
      other = {engines: {a: {b: Text("c")}}}
    4:12-4:21 warning[SF201]: Field `engines` has an unexpected value
    "#);
    assert_eq!(
        findings("---\nname: a\ndescription: b\nmetadata: { engines: [2] }\n---\n"),
        ""
    );
}

fn catalog(engines: &str, versions: Versions, policy: MismatchPolicy) -> Catalog {
    let file =
        format!("---\nname: pdf\ndescription: Fills in forms\nengines: {engines}\n---\nFill in.\n");
    let mine = MemorySource::new([("pdf/SKILL.md", file)]);
    let other = MemorySource::new([(
        "pdf/SKILL.md",
        "---\nname: pdf\ndescription: Another\n---\n",
    )]);
    let roots = vec![
        Root::new(Scope::Project, "ours", mine),
        Root::new(Scope::User, "mine", other),
    ];
    let options = CatalogOptions::default()
        .with_versions(versions)
        .with_version_mismatch(policy);
    Catalog::discover(roots, options, far_future())
}

/// Returns the skills with their status, and what is said about them.
fn listed(catalog: &Catalog) -> String {
    let lines = catalog.entries().map(|entry| {
        let notes = entry.notes();
        let notes: Vec<_> = notes.iter().map(ToString::to_string).collect();
        format!("{} {}: {}\n", entry.id(), entry.status(), notes.join("; "))
    });
    lines.collect()
}

#[test]
fn version_mismatch_is_reported_and_hides_the_skill_only_if_configured() {
    let old = || Versions::default().with("claude-code", "1.0.58");
    let warned = catalog("{ claude-code: '>=2.0' }", old(), MismatchPolicy::Warn);
    insta::assert_snapshot!(listed(&warned), @r"
    pdf active: warning[SF607]: Skill `pdf` does not fit: it needs `claude-code` `>=2.0`, and this is 1.0.58
    user:pdf shadowed: warning[SF601]: Skill `user:pdf` is shadowed by `pdf` of `ours`
    ");
    assert!(warned.resolve_for_model("pdf").unwrap().is_visible());
    let hidden = catalog("{ claude-code: '>=2.0' }", old(), MismatchPolicy::Hide);
    // What may not be used wins no name.
    insta::assert_snapshot!(listed(&hidden), @r"
    pdf active: 
    project:pdf incompatible: warning[SF601]: Skill `project:pdf` is shadowed by `pdf` of `mine`; warning[SF607]: Skill `project:pdf` does not fit: it needs `claude-code` `>=2.0`, and this is 1.0.58
    ");
    let id = "project:pdf";
    assert_eq!(hidden.get(id).unwrap().status(), Status::Incompatible);
    let error = hidden.resolve_for_model(id).unwrap_err();
    assert_eq!(error.to_string(), "There is no skill `project:pdf`");
    let error = hidden.resolve_for_user(id).unwrap_err();
    assert_eq!(error.refusal(), Some(Refusal::Incompatible));
    insta::assert_snapshot!(error.hint(), @"The skill needs another version of a program, which `skillfold show` names; to use it all the same, set `version_mismatch` to `warn`");
    let fitting = Versions::default().with("Claude_Code", "v2.1.3-beta");
    let fits = catalog("{ claude-code: '>=2.0' }", fitting, MismatchPolicy::Hide);
    assert_eq!(fits.get("pdf").unwrap().status(), Status::Active);
    assert!(fits.get("pdf").unwrap().notes().is_empty());
}

#[test]
fn engine_knows_its_own_version() {
    let status = |engines: &str| {
        let catalog = catalog(engines, Versions::default(), MismatchPolicy::Hide);
        let entries = catalog.entries();
        let hidden = entries.filter(|entry| entry.status() == Status::Incompatible);
        hidden.count()
    };
    assert_eq!(status("{ skillfold: '>=0.1' }"), 0);
    assert_eq!(status("{ skillfold: '>=1000' }"), 1);
    assert_eq!(status("skillfold <0.1"), 1);
}

#[test]
fn unknown_host_version_is_not_a_mismatch() {
    for engines in [
        "{ openclaw: '>=2026.2' }",
        "{ claude-code: latest }",
        "{ claude-code: '' }",
    ] {
        let versions = Versions::default()
            .with("claude-code", "1.0")
            .with("openclaw", "unknown");
        let catalog = catalog(engines, versions, MismatchPolicy::Hide);
        let pdf = catalog.get("pdf").unwrap();
        assert_eq!(pdf.manifest().description(), "Fills in forms", "{engines}");
        assert!(pdf.version_mismatches().is_empty(), "{engines}");
    }
}

#[test]
fn version_change_is_a_change_even_if_no_file_changed() {
    let file = "---\nname: pdf\ndescription: b\nengines: { host: '>=2' }\n---\n";
    let roots = || {
        let source = MemorySource::new([("pdf/SKILL.md", file)]);
        vec![Root::new(Scope::User, "mine", source)]
    };
    let options = |version| {
        CatalogOptions::default()
            .with_versions(Versions::default().with("host", version))
            .with_version_mismatch(MismatchPolicy::Hide)
    };
    let old = Catalog::discover(roots(), options("1.9"), far_future());
    assert_eq!(old.get("pdf").unwrap().status(), Status::Incompatible);
    let new = old.refresh(roots(), options("2.0"), far_future());
    assert_eq!(new.changes.changed, ["pdf".into()]);
    assert_eq!(new.catalog.get("pdf").unwrap().status(), Status::Active);
}

#[test]
fn conversation_does_not_get_skills_hidden_from_it() {
    let catalog = catalog("skillfold *", Versions::default(), MismatchPolicy::Warn);
    let loader = Loader::new(LoadOptions::default(), far_future);
    let mut session = SessionState::new(ContextLifetime::History).without(["pdf".into()]);
    assert!(session.is_restricted());
    let policy = Policy::default();
    assert!(!session.listing(&catalog, &policy).text.contains("pdf"));
    let error = session
        .load(&catalog, &loader, &policy, "pdf", "")
        .unwrap_err();
    assert_eq!(error.to_string(), "There is no skill `pdf`");
    assert!(session.child(&catalog, ["pdf"]).is_err());
    let saved = serde_json::to_string(&session).unwrap();
    let resumed: SessionState = serde_json::from_str(&saved).unwrap();
    assert_eq!(resumed.hidden().collect::<Vec<_>>(), ["pdf"]);
    // A conversation of an earlier version has none.
    let earlier = saved.replace(",\"hidden\":[\"pdf\"]", "");
    assert_ne!(earlier, saved);
    let earlier: SessionState = serde_json::from_str(&earlier).unwrap();
    assert!(!earlier.is_restricted());
}
