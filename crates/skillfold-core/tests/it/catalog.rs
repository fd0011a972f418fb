//! Who wins a name, ids, names or aliases of skills, and what a listing holds.

use std::collections::HashSet;

use proptest::prelude::*;
use skillfold_core::catalog::{Enablement, Filter, Lookup, Precedence, Status, Toggle, Trust};
use skillfold_core::source::Cursor;
use skillfold_core::{
    Catalog, CatalogOptions, Code, Entry, ErrorKind, FsSource, Limits, MemorySource, Root, Scope,
};
use skillfold_testkit::{far_future, files, folder};

/// A root of skills, each written as `folder` or `folder=name`, or as `!folder` for one that is refused.
fn memory(skills: &[&str]) -> MemorySource {
    MemorySource::new(skills.iter().map(|skill| {
        if let Some(folder) = skill.strip_prefix('!') {
            return (format!("{folder}/SKILL.md"), "\0 is not text\n".to_owned());
        }
        let (folder, name) = skill.split_once('=').unwrap_or((skill, skill));
        let text = format!("---\nname: \"{name}\"\ndescription: Does {name} in {folder}\n---\n");
        (format!("{folder}/SKILL.md"), text)
    }))
}

fn root(scope: Scope, label: &str, skills: &[&str]) -> Root {
    Root::new(scope, label, memory(skills))
}

fn plugin(name: &str, skills: &[&str]) -> Root {
    Root::plugin(
        name.parse().unwrap(),
        format!("plugins/{name}"),
        memory(skills),
    )
}

fn catalog(roots: Vec<Root>) -> Catalog {
    Catalog::discover(roots, CatalogOptions::default(), far_future())
}

fn line(entry: &Entry<'_>) -> String {
    let by = entry
        .shadowed_by()
        .map(|winner| format!(" by {}", winner.id()))
        .unwrap_or_default();
    let place = format!("{}/{}", entry.root().label(), entry.skill().folder);
    format!("{} {}{by} {place}\n", entry.id(), entry.status())
}

fn shown(catalog: &Catalog) -> String {
    catalog.entries().map(|entry| line(&entry)).collect()
}

fn notes(catalog: &Catalog) -> String {
    catalog
        .entries()
        .flat_map(|entry| entry.notes())
        .map(|note| format!("{note}\n"))
        .collect()
}

fn leads_to(catalog: &Catalog, id: &str) -> String {
    match catalog.resolve(id) {
        Lookup::Skill(entry) => line(&entry),
        Lookup::Refused(refused) => format!("refused {}\n", refused.diagnostics[0]),
        _ => "nothing\n".to_owned(),
    }
}

#[test]
fn project_wins_over_user_over_plugin_over_bundled() {
    let catalog = catalog(vec![
        root(Scope::Bundled, "bundled", &["pdf"]),
        plugin("acme", &["pdf"]),
        root(Scope::User, "home", &["pdf"]),
        root(Scope::Project, "here", &["pdf"]),
    ]);
    insta::assert_snapshot!(shown(&catalog), @"
    acme:pdf shadowed by pdf plugins/acme/pdf
    bundled:pdf shadowed by pdf bundled/pdf
    pdf active here/pdf
    user:pdf shadowed by pdf home/pdf
    ");
    let winner = catalog.get("pdf").unwrap();
    let losers: Vec<_> = winner.shadows().map(|loser| loser.id()).collect();
    assert_eq!(losers, ["user:pdf", "acme:pdf", "bundled:pdf"]);
    insta::assert_snapshot!(notes(&catalog), @"
    warning[SF601]: Skill `acme:pdf` is shadowed by `pdf` of `here`
    warning[SF601]: Skill `bundled:pdf` is shadowed by `pdf` of `here`
    warning[SF601]: Skill `user:pdf` is shadowed by `pdf` of `here`
    ");
}

#[test]
fn precedence_of_another_client_can_be_chosen() {
    let roots = || {
        vec![
            root(Scope::Project, "here", &["pdf"]),
            root(Scope::User, "home", &["pdf"]),
            plugin("acme", &["pdf"]),
        ]
    };
    let winner = |client: &str| {
        let rules = CatalogOptions::default().with_precedence(Precedence::preset(client).unwrap());
        let catalog = Catalog::discover(roots(), rules, far_future());
        catalog.get("pdf").unwrap().root().label().to_owned()
    };
    assert_eq!(winner("gemini-cli"), "here");
    assert_eq!(winner("claude-code"), "home");
    assert_eq!(winner("agent-harness"), "plugins/acme");
}

#[test]
fn skills_with_the_same_name_and_scope_are_reachable_by_path() {
    let catalog = catalog(vec![
        root(Scope::Project, ".agents/skills", &["pdf", "office/pdf"]),
        root(Scope::Project, ".claude/skills", &["pdf"]),
    ]);
    insta::assert_snapshot!(shown(&catalog), @"
    pdf active .agents/skills/pdf
    project:.agents/skills/office/pdf shadowed by pdf .agents/skills/office/pdf
    project:.claude/skills/pdf shadowed by pdf .claude/skills/pdf
    ");
}

#[test]
fn lookup_accepts_names_in_any_case_and_folder_names() {
    let catalog = catalog(vec![
        root(
            Scope::User,
            "home",
            &["PDF_Tools", "words=docx", "docs=words"],
        ),
        plugin("Acme", &["deploy"]),
    ]);
    for id in [
        "PDF_Tools",
        "pdf-tools",
        "Pdf-TOOLS",
        "user:pdf_tools",
        "personal:PDF-tools",
    ] {
        assert_eq!(
            leads_to(&catalog, id),
            "PDF_Tools active home/PDF_Tools\n",
            "{id}"
        );
    }
    // The folder `words` holds `docx`; the name `words` belongs to another.
    assert_eq!(leads_to(&catalog, "words"), "words active home/docs\n");
    assert_eq!(leads_to(&catalog, "docs"), "words active home/docs\n");
    assert_eq!(catalog.get("words").unwrap().alias(), Some("docs"));
    assert_eq!(catalog.get("docx").unwrap().alias(), None);
    insta::assert_snapshot!(notes(&catalog), @"info[SF603]: Folder name `words` is the name of another skill: `words`");
    assert_eq!(
        leads_to(&catalog, "acme:deploy"),
        "deploy active plugins/Acme/deploy\n"
    );
    assert_eq!(
        leads_to(&catalog, "plugin:deploy"),
        "deploy active plugins/Acme/deploy\n"
    );
    assert_eq!(leads_to(&catalog, "project:deploy"), "nothing\n");
}

#[test]
fn name_cannot_claim_the_id_of_another_skill() {
    let catalog = catalog(vec![
        root(Scope::User, "home", &["pdf"]),
        root(
            Scope::Project,
            "here",
            &["pdf", "evil=user:pdf", "user:pdf"],
        ),
    ]);
    insta::assert_snapshot!(shown(&catalog), @"
    evil active here/evil
    pdf active here/pdf
    project:user:pdf active here/user:pdf
    user:pdf shadowed by pdf home/pdf
    ");
    insta::assert_snapshot!(notes(&catalog), @"
    warning[SF602]: Name `user:pdf` belongs to another skill: `user:pdf`
    warning[SF601]: Skill `user:pdf` is shadowed by `pdf` of `here`
    ");
}

#[test]
fn refused_folder_is_found_by_its_name_with_the_reason() {
    let catalog = catalog(vec![
        root(Scope::Project, "here", &["!pdf", "!notes"]),
        root(Scope::User, "home", &["pdf"]),
    ]);
    insta::assert_snapshot!(leads_to(&catalog, "notes"), @"refused error[SF009]: File is not encoded as UTF-8");
    assert_eq!(leads_to(&catalog, "pdf"), "pdf active home/pdf\n");
    assert!(leads_to(&catalog, "project:pdf").starts_with("refused"));
    assert!(catalog.get("notes").is_none());
    assert_eq!(catalog.refused().len(), 2);
}

#[test]
fn untrusted_skill_is_listed_but_does_not_shadow_a_trusted_one() {
    let project = || root(Scope::Project, "here", &["pdf", "build"]);
    let roots = |project| vec![project, root(Scope::User, "home", &["pdf"])];
    let untrusted = catalog(roots(project().with_trust(Trust::Untrusted)));
    insta::assert_snapshot!(shown(&untrusted), @"
    build untrusted here/build
    pdf active home/pdf
    project:pdf untrusted by pdf here/pdf
    ");
    insta::assert_snapshot!(notes(&untrusted), @"
    info[SF604]: Skill `build` is in a root that is not trusted: `here`
    warning[SF601]: Skill `project:pdf` is shadowed by `pdf` of `home`
    info[SF604]: Skill `project:pdf` is in a root that is not trusted: `here`
    ");
    insta::assert_snapshot!(shown(&catalog(roots(project()))), @"
    build active here/build
    pdf active here/pdf
    user:pdf shadowed by pdf home/pdf
    ");
}

#[test]
fn disabled_skill_is_kept_and_yields_its_name_to_the_next() {
    let off = |patterns: &[(&str, Toggle)]| {
        let mut enablement = Enablement::default();
        for (pattern, choice) in patterns {
            enablement.set(pattern, *choice);
        }
        let rules = CatalogOptions::default().with_enablement(enablement);
        let roots = vec![
            root(Scope::Project, "here", &["pdf"]),
            root(Scope::User, "home", &["pdf", "mail"]),
            plugin("acme", &["mail"]),
        ];
        Catalog::discover(roots, rules, far_future())
    };
    insta::assert_snapshot!(shown(&off(&[("project:pdf", Toggle::Off), ("Mail", Toggle::Off)])), @"
    acme:mail disabled by mail plugins/acme/mail
    mail disabled home/mail
    pdf active home/pdf
    project:pdf disabled by pdf here/pdf
    ");
    let most_specific = off(&[
        ("*", Toggle::Off),
        ("acme:*", Toggle::On),
        ("personal:pdf", Toggle::On),
    ]);
    insta::assert_snapshot!(shown(&most_specific), @"
    mail active plugins/acme/mail
    pdf active home/pdf
    project:pdf disabled by pdf here/pdf
    user:mail disabled by mail home/mail
    ");
    insta::assert_snapshot!(notes(&most_specific), @"
    warning[SF601]: Skill `project:pdf` is shadowed by `pdf` of `home`
    info[SF605]: Skill `project:pdf` is disabled by `*`
    warning[SF601]: Skill `user:mail` is shadowed by `mail` of `plugins/acme`
    info[SF605]: Skill `user:mail` is disabled by `*`
    ");
}

#[test]
fn default_enabled_applies_to_bundled_skills_only() {
    let off = || {
        MemorySource::new(files(
            "
            //- extra/SKILL.md
            ---
            name: extra
            description: Off unless switched on
            default_enabled: false
            ---
            ",
        ))
    };
    let status = |scope, enablement| {
        let rules = CatalogOptions::default().with_enablement(enablement);
        let catalog = Catalog::discover(vec![Root::new(scope, "r", off())], rules, far_future());
        catalog.get("extra").unwrap().status()
    };
    let mut on = Enablement::default();
    on.set("extra", Toggle::On);
    assert_eq!(
        status(Scope::Bundled, Enablement::default()),
        Status::Disabled
    );
    assert_eq!(status(Scope::Bundled, on), Status::Active);
    assert_eq!(status(Scope::User, Enablement::default()), Status::Active);
}

#[test]
fn entry_has_its_location_and_metadata() {
    let folder = folder(
        "
        //- pdf/SKILL.md
        ---
        name: pdf
        description: Fills in forms
        allowed-tools: Read
        version: 1.0.0
        model: some-model
        disable-model-invocation: true
        triggers: [form]
        ---
        Do it.
        ",
    );
    let source = FsSource::open(folder.path()).unwrap();
    let catalog = catalog(vec![Root::plugin("acme".parse().unwrap(), "acme", source)]);
    let entry = catalog.get("pdf").unwrap();
    assert_eq!(entry.base_dir().unwrap(), folder.path().join("pdf"));
    assert_eq!(entry.file().unwrap(), folder.path().join("pdf/SKILL.md"));
    assert_eq!(
        (entry.scope(), entry.plugin().unwrap().as_str()),
        (Scope::Plugin, "acme")
    );
    let manifest = entry.manifest();
    assert_eq!(manifest.allowed_tools(), ["Read".into()]);
    assert_eq!(
        (manifest.version(), manifest.model()),
        (Some("1.0.0"), Some("some-model"))
    );
    assert!(manifest.disable_model_invocation() && manifest.triggers().is_some());
    // The body is where the file is: the catalog knows its place and its length, and reads it when it is wanted.
    assert_eq!(entry.skill().body_bytes(), "Do it.\n".len() as u64);
    let body =
        skillfold_core::load::read_body(entry.root().source(), entry.skill(), &Limits::default());
    assert_eq!(body.unwrap().bytes, b"Do it.\n");
}

#[test]
fn catalog_without_skills_is_empty_and_finds_nothing() {
    for roots in [vec![], vec![root(Scope::User, "home", &[])]] {
        let catalog = catalog(roots);
        assert!(catalog.is_empty());
        assert_eq!(catalog.entries().count(), 0);
        assert_eq!(leads_to(&catalog, "pdf"), "nothing\n");
        assert!(catalog.page(&Filter::default(), None, 10).next.is_none());
    }
}

fn tagged() -> Catalog {
    let source = MemorySource::new(files(
        "
        //- pdf-forms/SKILL.md
        ---
        name: pdf-forms
        description: Fills in Forms of PDF files
        tags: [Office, pdf]
        ---
        //- pdf-merge/SKILL.md
        ---
        name: pdf-merge
        description: Merges files
        ---
        //- mail/SKILL.md
        ---
        name: mail
        description: Sends forms by mail
        metadata:
          tags: office
        ---
        ",
    ));
    catalog(vec![
        Root::new(Scope::User, "home", source),
        root(Scope::Project, "here", &["mail"]),
    ])
}

fn ids(catalog: &Catalog, filter: &Filter) -> String {
    let page = catalog.page(filter, None, 100);
    let ids: Vec<_> = page.entries.iter().map(Entry::id).collect();
    ids.join(" ")
}

#[test]
fn filters_use_metadata_only() {
    let catalog = tagged();
    let filter = Filter::default;
    assert_eq!(
        ids(&catalog, &filter()),
        "mail pdf-forms pdf-merge user:mail"
    );
    assert_eq!(
        ids(&catalog, &filter().scope("personal".parse().unwrap())),
        "pdf-forms pdf-merge user:mail"
    );
    assert_eq!(
        ids(&catalog, &filter().scope(Scope::User).scope(Scope::Project)),
        "mail pdf-forms pdf-merge user:mail"
    );
    assert_eq!(
        ids(&catalog, &filter().name("^pdf-(merge|x)").unwrap()),
        "pdf-merge"
    );
    assert_eq!(ids(&catalog, &filter().words("FORMS pdf")), "pdf-forms");
    assert_eq!(
        ids(&catalog, &filter().tag("office")),
        "pdf-forms user:mail"
    );
    assert_eq!(
        ids(&catalog, &filter().tag("office").words("mail")),
        "user:mail"
    );
    assert_eq!(ids(&catalog, &filter().query("PDF")), "pdf-forms pdf-merge");
    assert_eq!(
        ids(&catalog, &filter().query("offi")),
        "pdf-forms user:mail"
    );
    assert_eq!(
        ids(&catalog, &filter().query(" ")),
        "mail pdf-forms pdf-merge user:mail"
    );
    assert_eq!(
        ids(&catalog, &filter().status(Status::Shadowed)),
        "user:mail"
    );
}

#[test]
fn bad_name_pattern_is_an_error_with_the_reason() {
    let error = Filter::default().name("pdf-(").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    insta::assert_snapshot!(error, @"Invalid `pdf-(`: unclosed group");
    let error = Filter::default()
        .name(&"\\w{1000}".repeat(100))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
}

#[test]
fn pages_contain_every_skill_once_in_order() {
    let catalog = tagged();
    let mut cursor: Option<Cursor> = None;
    let mut pages = String::new();
    loop {
        let page = catalog.page(&Filter::default(), cursor.as_ref(), 3);
        let ids: Vec<_> = page.entries.iter().map(Entry::id).collect();
        pages += &format!("{}\n", ids.join(" "));
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(pages, "mail pdf-forms pdf-merge\nuser:mail\n");
    // A cursor of a skill that is gone goes on after the place where it was.
    let gone = Cursor::after("pdf-later");
    let page = catalog.page(&Filter::default(), Some(&gone), 1);
    assert_eq!(page.entries[0].id(), "pdf-merge");
}

#[test]
fn nearest_suggests_ids_for_typos() {
    let catalog = tagged();
    assert_eq!(catalog.nearest("pdf-from", 1), ["pdf-forms"]);
    assert_eq!(catalog.nearest("plugin:mial", 2), ["mail", "user:mail"]);
    assert!(catalog.nearest("zzz", 3).is_empty());
}

#[test]
fn plugin_qualifier_is_case_insensitive() {
    let catalog = catalog(vec![
        plugin("Acme", &["pdf"]),
        plugin("acme", &["pdf"]),
        root(Scope::Plugin, "unnamed", &["pdf"]),
    ]);
    insta::assert_snapshot!(shown(&catalog), @"
    pdf active plugins/Acme/pdf
    plugin:plugins/acme/pdf shadowed by pdf plugins/acme/pdf
    plugin:unnamed/pdf shadowed by pdf unnamed/pdf
    ");
}

#[test]
fn colliding_path_ids_are_numbered() {
    let catalog = catalog(vec![
        root(Scope::User, "a", &["b/c=x", "y=x"]),
        root(Scope::User, "a/b", &["c=x"]),
    ]);
    insta::assert_snapshot!(shown(&catalog), @"
    user:a/b/c shadowed by x a/b/c
    user:a/b/c~2 shadowed by x a/b/c
    x active a/y
    ");
}

#[test]
fn untrusted_name_does_not_hide_a_trusted_folder_name() {
    let untrusted = root(Scope::Project, "here", &["deploy"]).with_trust(Trust::Untrusted);
    let catalog = catalog(vec![
        untrusted,
        root(Scope::User, "home", &["deploy=deploy-tool"]),
    ]);
    assert_eq!(
        leads_to(&catalog, "deploy"),
        "deploy-tool active home/deploy\n"
    );
    insta::assert_snapshot!(shown(&catalog), @"
    deploy-tool active home/deploy
    project:deploy untrusted here/deploy
    ");
    insta::assert_snapshot!(notes(&catalog), @"
    warning[SF602]: Name `deploy` belongs to another skill: `deploy-tool`
    info[SF604]: Skill `project:deploy` is in a root that is not trusted: `here`
    ");
}

#[cfg(unix)]
#[test]
fn link_in_an_untrusted_root_does_not_claim_a_trusted_skill() {
    let home = folder(
        "
        //- pdf/SKILL.md
        ---
        name: pdf
        description: Mine
        ---
        ",
    );
    let project = folder("//- README.md\n");
    std::os::unix::fs::symlink(home.path().join("pdf"), project.path().join("pdf")).unwrap();
    let open = |path| FsSource::open(path).unwrap();
    let catalog = catalog(vec![
        Root::new(Scope::Project, "here", open(project.path())).with_trust(Trust::Untrusted),
        Root::new(Scope::User, "home", open(home.path())),
    ]);
    assert_eq!(shown(&catalog), "pdf active home/pdf\n");
    assert_eq!(
        catalog.findings()[0].finding.diagnostic.code,
        Code::SameFolder
    );
}

#[test]
fn skill_can_be_disabled_by_any_id_that_resolves_to_it() {
    let status = |pattern: &str| {
        let mut rules = CatalogOptions::default();
        rules.enablement.set(pattern, Toggle::Off);
        let roots = vec![
            root(
                Scope::User,
                "home/Skills",
                &["Folder=pdf", "office/Folder=pdf"],
            ),
            root(Scope::User, "other", &["Σ"]),
        ];
        let catalog = Catalog::discover(roots, rules, far_future());
        catalog
            .entries()
            .filter(|entry| entry.status() == Status::Disabled)
            .count()
    };
    for pattern in ["pdf", "PDF", "folder", "user:Folder", "personal:pdf"] {
        assert_eq!(status(pattern), 2, "{pattern}");
    }
    assert_eq!(status("user:home/Skills/office/Folder"), 1);
    assert_eq!(status("user:Σ"), 1);
    assert_eq!(status("user:*"), 3);
    assert_eq!(status("project:pdf"), 0);
}

#[test]
fn name_that_looks_like_a_pattern_is_matched_literally() {
    let mut rules = CatalogOptions::default();
    rules.enablement.set("project:*", Toggle::Off);
    rules.enablement.set("user:*", Toggle::On);
    rules.enablement.set("user:pdf", Toggle::On);
    let roots = vec![root(
        Scope::Project,
        "here",
        &["a=user:*", "b=user:pdf", "c=*"],
    )];
    let catalog = Catalog::discover(roots, rules, far_future());
    assert!(
        catalog
            .entries()
            .all(|entry| entry.status() == Status::Disabled),
        "{}",
        shown(&catalog)
    );
}

#[test]
fn empty_id_resolves_to_nothing() {
    let source = MemorySource::new([("SKILL.md", "\0 is not text")]);
    let catalog = catalog(vec![Root::new(Scope::User, "r", source)]);
    assert_eq!(catalog.refused().len(), 1);
    for id in ["", "user:", ":", "user:/", "user:r/~2"] {
        assert_eq!(leads_to(&catalog, id), "nothing\n", "{id}");
    }
}

/// Scope, label, whether it is trusted, whether its plugin is in upper case and has a name, and skills as folder and name.
type MadeRoot = (Scope, &'static str, [bool; 3], Vec<(String, String)>);

fn roots() -> impl Strategy<Value = Vec<MadeRoot>> {
    let scope = prop::sample::select(Scope::ALL.to_vec());
    let label = prop::sample::select(vec!["a", "a/b", "b", "~/x", "p0"]);
    let name = "[ab_A]{1,2}|user:a|User:A|project:[ab]|p[0-3]:[ab]|P1:b|user:\\*";
    let skills = prop::collection::vec(("[ab]/[ab]|[ab]{1,2}", name), 0..5);
    prop::collection::vec((scope, label, any::<[bool; 3]>(), skills), 0..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// The one string that the catalog prints leads back to the skill, and no two skills share it. What may not be used has
    /// no name that a usable skill could have.
    #[test]
    fn every_id_resolves_to_exactly_its_skill(roots in roots()) {
        let roots = roots.into_iter().enumerate().map(|(at, (scope, label, [is_trusted, is_upper, is_named], skills))| {
            let skills = skills.into_iter().map(|(folder, name)| {
                (format!("{folder}/SKILL.md"), format!("---\nname: \"{name}\"\ndescription: x\n---\n"))
            });
            let source = MemorySource::new(skills);
            let plugin = if is_upper { format!("P{}", at / 2) } else { format!("p{}", at / 2) };
            let root = match scope {
                Scope::Plugin if is_named => Root::plugin(plugin.parse().unwrap(), label, source),
                _ => Root::new(scope, label, source),
            };
            root.with_trust(if is_trusted { Trust::Trusted } else { Trust::Untrusted })
        });
        let mut rules = CatalogOptions::default();
        rules.enablement.set("a", Toggle::Off);
        rules.enablement.set("user:*", Toggle::On);
        let catalog = Catalog::discover(roots.collect(), rules, far_future());
        let mut seen = HashSet::new();
        for entry in catalog.entries() {
            prop_assert!(seen.insert(entry.id()), "{} twice", entry.id());
            prop_assert_eq!(catalog.get(entry.id()), Some(entry), "{}", entry.id());
            let is_usable = |status| matches!(status, Status::Active | Status::Shadowed);
            if let Some(winner) = entry.shadowed_by() {
                prop_assert!(winner.shadowed_by().is_none());
                prop_assert!(winner.shadows().any(|loser| loser == entry));
                prop_assert!(is_usable(winner.status()) || !is_usable(entry.status()));
            }
        }
        let ids: Vec<_> = catalog.entries().map(|entry| entry.id()).collect();
        prop_assert!(ids.is_sorted());
        prop_assert_eq!(ids.len(), catalog.len());
    }
}
