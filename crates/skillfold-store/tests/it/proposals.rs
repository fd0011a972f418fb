//! An agent proposes, a user decides.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use skillfold_core::ErrorKind;
use skillfold_core::load::Digest;
use skillfold_store::{
    Allowance, Approval, ApprovedBy, Author, Event, NewProposal, Proposed, Requirement, SkillPath,
    Store, Verdict, VersionCause,
};
use tempfile::TempDir;

use crate::log::with_record;

const PDF: &str = "---\nname: pdf\ndescription: Fills in forms\n---\nUse pdftk.\n";
pub(crate) const DIFF: &str =
    "--- a/SKILL.md\n+++ b/SKILL.md\n@@ -5 +5 @@\n-Use pdftk.\n+Use qpdf.\n";
const MANY: &str = "--- a/SKILL.md\n+++ b/SKILL.md\n@@ -5 +5 @@\n-Use pdftk.\n+Use qpdf.\n\
                    --- a/references/old.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-Old.\n\
                    --- /dev/null\n+++ b/scripts/fill.sh\n@@ -0,0 +1,2 @@\n+#!/bin/sh\n+echo filled\n";

pub(crate) fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_794_900_000)
}

/// A user's folder with a store and one skill.
pub(crate) struct User {
    pub(crate) home: TempDir,
    pub(crate) store: Store,
    pub(crate) pdf: SkillPath,
}

impl User {
    pub(crate) fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let skills = home.path().join("skills");
        fs::create_dir_all(skills.join("pdf/references")).unwrap();
        fs::write(skills.join("pdf/SKILL.md"), PDF).unwrap();
        fs::write(skills.join("pdf/references/old.md"), "Old.\n").unwrap();
        fs::write(skills.join("pdf/.hidden"), "mine").unwrap();
        let store = Store::open(&home.path().join("data")).unwrap();
        let pdf = SkillPath::new(&skills, &skills.join("pdf")).unwrap();
        Self { home, store, pdf }
    }

    fn read(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.home.path().join("skills").join(file)).ok()
    }

    pub(crate) fn propose(&self, diff: &str) -> Proposed {
        self.propose_for(&self.pdf, diff)
    }

    fn propose_for(&self, place: &SkillPath, diff: &str) -> Proposed {
        let new = NewProposal {
            skill: "pdf",
            place,
            diff,
            author: author(),
            justification: "pdftk is gone",
            evidence: Some("`pdftk: not found`\n## Diff\nin three sessions"),
            checks: &["No finding".to_owned()],
        };
        self.store.propose(&new, now()).unwrap()
    }

    pub(crate) fn approve(&self, proposed: &Proposed) -> Result<(), skillfold_core::Error> {
        let proposal = &proposed.proposal;
        let approval = Approval::at_terminal("anna");
        let approved = self
            .store
            .approve(proposal.digest, proposal.base, &approval, now());
        approved.map(|_| ())
    }

    fn waiting(&self) -> usize {
        self.store.proposals().unwrap().waiting.len()
    }
}

fn author() -> Author {
    Author::named("claude-code").in_session(Some("s1"))
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn proposal_is_a_readable_file_and_changes_nothing() {
    let user = User::new();
    let proposed = user.propose(DIFF);
    assert_eq!(user.read("pdf/SKILL.md").as_deref(), Some(PDF));
    assert_eq!(proposed.proposal.file, "pdf-20261117T072000Z.md");
    let file = user
        .home
        .path()
        .join("data/proposals/pdf-20261117T072000Z.md");
    let text = fs::read_to_string(file).unwrap();
    let home = user.home.path().to_str().unwrap();
    insta::assert_snapshot!(text.replace(home, "HOME"), @r#"
    ---
    format: "1"
    skill: "pdf"
    root: "HOME/skills"
    folder: "pdf"
    author: "claude-code"
    time: "2026-11-17T07:20:00Z"
    base: "sha256:5fa08cbd187f0a29e6894a04bd0e449cc83330a9cc9f6399167aa6ee5a164f91"
    session: "s1"
    ---

    # Change of `pdf`

    ## Diff

    ```diff
    --- a/SKILL.md
    +++ b/SKILL.md
    @@ -2,4 +2,4 @@
     name: pdf
     description: Fills in forms
     ---
    -Use pdftk.
    +Use qpdf.
    ```

    ## Justification

    > pdftk is gone

    ## Evidence

    > `pdftk: not found`
    > ## Diff
    > in three sessions

    ## Checks

    - No finding
    "#);
    let waiting = user.store.proposals().unwrap().waiting;
    assert_eq!(waiting[0].proposal, proposed.proposal);
    assert!(waiting[0].is_recorded);
}

#[test]
fn versions_have_the_golden_digest_and_include_hidden_files() {
    let user = User::new();
    let skills = user.home.path().join("skills");
    let golden = skillfold_testkit::write_golden_skill(&skills);
    let place = SkillPath::new(&skills, &skills.join("golden")).unwrap();
    let diff = "--- a/refs/guide.md\n+++ b/refs/guide.md\n@@ -1 +1 @@\n-guide\n\\ No newline at end of file\n+Guide\n";
    let proposed = user.propose_for(&place, diff);
    assert_eq!(proposed.proposal.base.unwrap().to_string(), golden);
    user.approve(&proposed).unwrap();
    let versions = user.store.history(&place, now()).unwrap();
    let found = versions[0].digest.unwrap();
    assert_eq!(found.to_string(), golden);
    fs::remove_file(skills.join("golden/.hidden")).unwrap();
    let current = place.read().unwrap().map(|files| files.digest());
    let approval = Approval::at_terminal("anna");
    let store = &user.store;
    store
        .roll_back(&place, current, found, &approval, "hidden", now())
        .unwrap();
    let current = place.read().unwrap().map(|files| files.digest());
    assert_eq!(current.unwrap().to_string(), golden);
    assert_eq!(user.read("golden/.hidden").as_deref(), Some("hidden"));
    assert_eq!(user.read("golden/.git/config").as_deref(), Some("[core]"));
}

#[test]
fn approval_applies_exactly_what_was_proposed() {
    let user = User::new();
    let proposed = user.propose(DIFF);
    user.approve(&proposed).unwrap();
    assert_eq!(
        user.read("pdf/SKILL.md").unwrap(),
        PDF.replace("pdftk", "qpdf")
    );
    assert_eq!(user.waiting(), 0);
    let error = user.approve(&proposed).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[test]
fn change_of_several_files_is_atomic_and_leaves_the_rest() {
    let user = User::new();
    let folder = user.home.path().join("skills");
    fs::create_dir_all(folder.join("pdf/assets/deep")).unwrap();
    fs::write(folder.join("pdf/assets/deep/form.txt"), "form").unwrap();
    let proposed = user.propose(MANY);
    user.approve(&proposed).unwrap();
    assert_eq!(
        user.read("pdf/SKILL.md").unwrap(),
        PDF.replace("pdftk", "qpdf")
    );
    assert_eq!(user.read("pdf/references/old.md"), None);
    assert_eq!(
        user.read("pdf/scripts/fill.sh").unwrap(),
        "#!/bin/sh\necho filled\n"
    );
    assert_eq!(user.read("pdf/.hidden").unwrap(), "mine");
    assert_eq!(user.read("pdf/assets/deep/form.txt").unwrap(), "form");
    assert_eq!(names(&folder), ["pdf"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;

        let script = folder.join("pdf/scripts/fill.sh");
        assert_eq!(
            fs::metadata(script).unwrap().permissions().mode() & 0o100,
            0o100
        );
    }
}

#[test]
fn new_skill_is_not_written_until_approved() {
    let user = User::new();
    let skills = user.home.path().join("skills");
    let csv = SkillPath::new(&skills, &skills.join("csv")).unwrap();
    let diff = "--- /dev/null\n+++ b/SKILL.md\n@@ -0,0 +1,4 @@\n+---\n+name: csv\n+description: Reads tables\n+---\n";
    let proposed = user.propose_for(&csv, diff);
    assert_eq!(proposed.proposal.base, None);
    assert_eq!(names(&skills), ["pdf"]);
    user.approve(&proposed).unwrap();
    assert_eq!(names(&skills), ["csv", "pdf"]);
    assert_eq!(
        user.read("csv/SKILL.md").unwrap(),
        "---\nname: csv\ndescription: Reads tables\n---\n"
    );
    let again = user.store.history(&csv, now()).unwrap();
    assert_eq!(again.len(), 1);
}

#[test]
fn changed_skill_is_not_overwritten_and_the_proposal_can_be_merged() {
    let user = User::new();
    let proposed = user.propose(DIFF);
    let file = user.home.path().join("skills/pdf/SKILL.md");
    let edited = PDF.replace("Fills in forms", "Fills in PDF forms");
    fs::write(&file, &edited).unwrap();
    let error = user.approve(&proposed).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert_eq!(user.read("pdf/SKILL.md").as_deref(), Some(&*edited));
    assert_eq!(user.waiting(), 1);

    let (edits, conflicts) = user.store.merged(&proposed.proposal).unwrap();
    assert_eq!(conflicts, [""; 0]);
    let new = edits[0].new.as_deref().unwrap();
    assert_eq!(
        str::from_utf8(new).unwrap(),
        edited.replace("pdftk", "qpdf")
    );

    fs::write(&file, PDF.replace("pdftk", "mutool")).unwrap();
    let (_, conflicts) = user.store.merged(&proposed.proposal).unwrap();
    assert_eq!(conflicts, ["SKILL.md"]);
}

#[test]
fn proposal_changed_after_review_is_not_approved() {
    let user = User::new();
    let proposed = user.propose(DIFF);
    let file = user
        .home
        .path()
        .join("data/proposals")
        .join(&proposed.proposal.file);
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("qpdf", "evil")).unwrap();
    let error = user.approve(&proposed).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(user.read("pdf/SKILL.md").as_deref(), Some(PDF));
    let waiting = user.store.proposals().unwrap().waiting;
    assert!(!waiting[0].is_recorded, "it is not what the store wrote");
}

#[test]
fn duplicate_change_is_one_proposal() {
    let user = User::new();
    let first = user.propose(DIFF);
    let second = user.propose(DIFF);
    assert!(second.is_repeated && !first.is_repeated);
    assert_eq!(first.proposal, second.proposal);
    assert_eq!(user.store.proposals().unwrap().waiting[0].repeated, 1);
    user.propose(MANY);
    assert_eq!(user.waiting(), 2);
}

#[test]
fn repeated_proposals_do_not_fill_the_log() {
    let user = User::new();
    let name = "n".repeat(900_000);
    for _ in 0..100 {
        let new = NewProposal {
            skill: "pdf",
            place: &user.pdf,
            diff: DIFF,
            author: Author::named(&*name).in_session(Some(&*name)),
            justification: &"\u{1}".repeat(8192),
            evidence: None,
            checks: &[],
        };
        user.store.propose(&new, now()).unwrap();
    }
    assert_eq!(user.store.proposals().unwrap().waiting[0].repeated, 9);
    let log = user.home.path().join("data/audit.jsonl");
    let size = fs::metadata(log).unwrap().len();
    assert!(size < 100_000, "{size}");
}

#[test]
fn too_many_proposals_are_refused() {
    let user = User::new();
    for number in 0..10 {
        user.propose(&DIFF.replace("qpdf", &format!("qpdf{number}")));
    }
    let new = NewProposal {
        skill: "pdf",
        place: &user.pdf,
        diff: DIFF,
        author: author(),
        justification: "one more",
        evidence: None,
        checks: &[],
    };
    let error = user.store.propose(&new, now()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
}

#[test]
fn rejected_proposal_is_removed_and_its_reason_logged() {
    let user = User::new();
    let proposed = user.propose(DIFF);
    let digest = proposed.proposal.digest;
    let store = &user.store;
    store
        .recommend(digest, "reviewer", Verdict::Reject, "still there", now())
        .unwrap();
    assert_eq!(
        store.proposals().unwrap().waiting[0].recommendations.len(),
        1
    );
    store
        .reject(digest, "anna", "pdftk is fine", now())
        .unwrap();
    assert_eq!(user.waiting(), 0);
    let log = store.log().unwrap();
    assert!(log.records.iter().any(|record| matches!(
        &record.event,
        Event::Rejected { reason, .. } if reason == "pdftk is fine"
    )));
}

#[test]
fn versions_are_kept_and_can_be_restored() {
    let user = User::new();
    user.approve(&user.propose(MANY)).unwrap();
    let file = user.home.path().join("skills/pdf/SKILL.md");
    fs::write(&file, PDF.replace("pdftk", "vim")).unwrap();
    let versions = user.store.history(&user.pdf, now()).unwrap();
    let causes: Vec<_> = versions.iter().map(|version| &version.cause).collect();
    assert!(matches!(
        causes[..],
        [
            VersionCause::Found,
            VersionCause::Approved { .. },
            VersionCause::Edited
        ]
    ));
    assert!(versions.iter().all(|version| version.is_kept));

    let (first, last) = (versions[0].digest, versions[2].digest);
    let approval = Approval::at_terminal("anna");
    let store = &user.store;
    store
        .roll_back(
            &user.pdf,
            last,
            first.unwrap(),
            &approval,
            "it was better",
            now(),
        )
        .unwrap();
    assert_eq!(user.read("pdf/SKILL.md").as_deref(), Some(PDF));
    assert_eq!(
        user.read("pdf/references/old.md").as_deref(),
        Some("Old.\n")
    );
    assert_eq!(user.read("pdf/scripts/fill.sh"), None);
    let versions = store.history(&user.pdf, now()).unwrap();
    assert_eq!(versions.len(), 4);
    assert!(matches!(versions[3].cause, VersionCause::RolledBack { .. }));
}

#[test]
fn old_versions_are_pruned_and_stay_in_the_history() {
    let user = User::new();
    let store = Store::open(&user.home.path().join("data"))
        .unwrap()
        .keep_versions(2);
    let user = User { store, ..user };
    let mut text = "pdftk".to_owned();
    for number in 0..5 {
        let next = format!("tool{number}");
        let diff = DIFF.replace("pdftk", &text).replace("qpdf", &next);
        user.approve(&user.propose(&diff)).unwrap();
        text = next;
    }
    let versions = user.store.history(&user.pdf, now()).unwrap();
    let kept: Vec<bool> = versions.iter().map(|version| version.is_kept).collect();
    assert_eq!(kept, [false, false, false, false, true, true]);
}

#[test]
fn required_passphrase_is_checked_and_signs_approvals() {
    let user = User::new();
    let store = Store::open(&user.home.path().join("data"))
        .unwrap()
        .require(Requirement::Passphrase);
    let proposed = user.propose(DIFF).proposal;
    let approve =
        |approval: Approval| store.approve(proposed.digest, proposed.base, &approval, now());
    let refused = |approval| approve(approval).unwrap_err().hint().to_owned();
    let terminal = || Approval::at_terminal("anna");
    assert!(refused(terminal()).contains("require the passphrase"));
    assert!(refused(Approval::by_host("ci")).contains("require the passphrase"));
    assert!(refused(terminal().with_passphrase("correct horse")).contains("No passphrase"));
    store.set_passphrase("correct horse", None, now()).unwrap();
    assert!(refused(terminal().with_passphrase("wrong horse")).contains("Wrong passphrase"));
    assert_eq!(user.read("pdf/SKILL.md").as_deref(), Some(PDF));
    store
        .set_passphrase("another horse", Some("wrong horse"), now())
        .unwrap_err();
    approve(terminal().with_passphrase("correct horse")).unwrap();
    let versions = store.history(&user.pdf, now()).unwrap();
    let VersionCause::Approved { approval, .. } = &versions[1].cause else {
        panic!("{versions:?}");
    };
    assert_eq!(approval.how, ApprovedBy::Passphrase);
    assert!(approval.proof.is_some());

    store.check_proofs("wrong horse").unwrap_err();
    let checked = store.check_proofs("correct horse").unwrap();
    assert_eq!((checked.right.len(), checked.wrong.len()), (1, 0));
    // Correct hashes do not make up for a missing passphrase.
    let open = Store::open(&user.home.path().join("data")).unwrap();
    let approval = Approval::at_terminal("anna");
    open.roll_back(
        &user.pdf,
        versions[1].digest,
        versions[0].digest.unwrap(),
        &approval,
        "",
        now(),
    )
    .unwrap();
    let checked = store.check_proofs("correct horse").unwrap();
    assert_eq!((checked.right.len(), checked.without.len()), (1, 1));
    open.set_passphrase("another horse", Some("correct horse"), now())
        .unwrap();
    let checked = store.check_proofs("another horse").unwrap();
    assert_eq!((checked.right.len(), checked.earlier), (0, 2));
}

#[test]
fn forged_allowance_counts_for_nothing_if_a_passphrase_is_required() {
    let user = User::new();
    let data = user.home.path().join("data");
    let store = Store::open(&data).unwrap().require(Requirement::Passphrase);
    store.set_passphrase("correct horse", None, now()).unwrap();
    let allowance = Allowance::new(
        "/skills/pdf",
        Digest::sha256(b"skill"),
        Digest::sha256(b"entry"),
    )
    .with_granted(vec!["the network".to_owned()]);
    let approval = Approval::at_terminal("anna").with_passphrase("correct horse");
    let approval = store.check_allowance(&allowance, &approval).unwrap();
    let log = fs::read_to_string(data.join("audit.jsonl")).unwrap();
    // Whoever can write files can write the log, with hashes that fit.
    let is_allowed = |allowance: &Allowance, proof: &str| {
        let started = serde_json::json!({
            "format": 2, "number": 3, "time": "2027-01-01T00:00:00Z", "event": "started", "act": "allow",
            "folder": allowance.folder, "digest": allowance.digest, "granted": allowance.granted,
            "entry": allowance.entry, "approval": {"by": "anna", "how": "passphrase", "proof": proof},
            "target": {"file": "/list"}, "before": null, "after": null,
        });
        let finished = r#"{"format":2,"number":4,"time":"2027-01-01T00:00:00Z","event":"finished","started":3,"outcome":"done"}"#;
        let text = with_record(&with_record(&log, &started.to_string()), finished);
        fs::write(data.join("audit.jsonl"), text).unwrap();
        store.has_allowance(allowance).unwrap()
    };
    let proof = approval.proof.unwrap();
    assert!(is_allowed(&allowance, &proof));
    assert!(!is_allowed(&allowance, &"0".repeat(128)));
    assert!(!is_allowed(&allowance, ""));
    // A proof is for one folder, one digest, one list of permissions and one entry.
    let mut others: [Allowance; 4] = std::array::from_fn(|_| allowance.clone());
    others[0].folder = "/skills/other".into();
    others[1].digest = Digest::sha256(b"other");
    others[2]
        .granted
        .push("write access to ~/Reports".to_owned());
    others[3].entry = Digest::sha256(b"other");
    for other in others {
        assert!(!is_allowed(&other, &proof), "{other:?}");
    }
    // A new passphrase ends what the old one allowed.
    assert!(is_allowed(&allowance, &proof));
    store
        .set_passphrase("another horse", Some("correct horse"), now())
        .unwrap();
    assert!(!store.has_allowance(&allowance).unwrap());
}

#[test]
fn host_reviewer_cannot_approve_their_own_proposal() {
    let user = User::new();
    let proposed = user.propose(DIFF).proposal;
    let approve = |name| {
        let approval = Approval::by_host(name);
        user.store
            .approve(proposed.digest, proposed.base, &approval, now())
    };
    assert_eq!(
        approve("claude-code").unwrap_err().kind(),
        ErrorKind::Refused
    );
    approve("reviewer").unwrap();
}

#[test]
fn tampered_log_is_detected_and_stops_writing() {
    let user = User::new();
    user.approve(&user.propose(DIFF)).unwrap();
    let log = user.home.path().join("data/audit.jsonl");
    let text = fs::read_to_string(&log).unwrap();
    assert_eq!(user.store.log().unwrap().damage, None);

    fs::write(&log, text.replace("anna", "otto")).unwrap();
    let read = user.store.log().unwrap();
    assert_eq!(read.damage.unwrap().line, 2);
    let new = NewProposal {
        skill: "pdf",
        place: &user.pdf,
        diff: "--- a/SKILL.md\n+++ b/SKILL.md\n@@ -5 +5 @@\n-Use qpdf.\n+Use mutool.\n",
        author: author(),
        justification: "again",
        evidence: None,
        checks: &[],
    };
    assert_eq!(
        user.store.propose(&new, now()).unwrap_err().kind(),
        ErrorKind::Refused
    );

    // A partial last line was never acknowledged.
    let whole = text.len();
    fs::write(&log, format!("{text}{{\"number\":4,\"ti")).unwrap();
    user.store.propose(&new, now()).unwrap();
    let read = fs::read_to_string(&log).unwrap();
    assert!(read.starts_with(&text) && read.len() > whole);
    assert_eq!(user.store.log().unwrap().incomplete, 0);
}
