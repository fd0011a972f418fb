//! The store's operations, each with its initial state.

use std::fs;

use skillfold_core::load::Digest;
use skillfold_core::{Error, ErrorKind};
use skillfold_store::{
    Access, Approval, Author, Event, KEPT_VERSIONS, Operation, Proposal, ProposedVersion,
    SkillFiles, SkillPath, Target, WriteTarget,
};

use crate::home::{Home, ONE, SEVERAL, approve, now};

const TWO: &str = "--- a/SKILL.md\n+++ b/SKILL.md\n@@ -5 +5 @@\n-Use qpdf.\n+Use mutool.\n";
const CSV: &str = "--- /dev/null\n+++ b/SKILL.md\n@@ -0,0 +1,4 @@\n+---\n+name: csv\n+description: Reads tables\n+---\n\
                   --- /dev/null\n+++ b/references/more.md\n@@ -0,0 +1 @@\n+More.\n";

/// Larger than any list.
const LIMIT: u64 = 1 << 20;

pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    /// Sets up the initial state.
    pub(crate) before: fn(&Home),
    pub(crate) act: fn(&Home, &Subject) -> Result<(), Error>,
    /// Why repeating it is refused once it is done; `None` if it is not refused.
    pub(crate) again: Option<ErrorKind>,
    /// How many versions of a skill are kept.
    pub(crate) kept: usize,
}

/// What the operation works on, found beforehand.
#[derive(Default)]
pub(crate) struct Subject {
    /// The pending proposal.
    pub(crate) proposal: Option<Proposal>,
    /// The skill's current version.
    current: Option<Digest>,
    /// The first version in the log.
    first: Option<Digest>,
}

impl Subject {
    pub(crate) fn find(home: &Home) -> Self {
        if !home.data().exists() {
            return Self::default();
        }
        let log = home.store().log().unwrap();
        let mut done = log.done().filter_map(|record| match &record.event {
            Event::Started {
                target: Target::Skill(..),
                before,
                ..
            } => *before,
            _ => None,
        });
        Self {
            proposal: home.waiting(),
            current: home.pdf().read().unwrap().map(|files| files.digest()),
            first: done.next(),
        }
    }

    fn proposal(&self) -> &Proposal {
        self.proposal.as_ref().unwrap()
    }
}

pub(crate) const SCENARIOS: [Scenario; 23] = [
    Scenario {
        name: "propose a change, the first ever",
        before: Home::make_skill,
        act: |home, _| home.propose(&home.pdf(), ONE).map(|_| ()),
        again: None,
        kept: KEPT_VERSIONS,
    },
    Scenario {
        name: "propose a new skill",
        before: proposed_one,
        act: |home, _| home.propose(&home.csv(), CSV).map(|_| ()),
        again: None,
        kept: KEPT_VERSIONS,
    },
    Scenario {
        name: "propose the same again",
        before: proposed_one,
        act: |home, _| home.propose(&home.pdf(), ONE).map(|_| ()),
        again: None,
        kept: KEPT_VERSIONS,
    },
    Scenario {
        name: "approve a change of one file",
        before: proposed_one,
        act: |home, subject| approve(&home.open()?, subject.proposal()),
        again: Some(ErrorKind::NotFound),
        kept: KEPT_VERSIONS,
    },
    Scenario {
        name: "approve a change of several files",
        before: proposed_several,
        act: |home, subject| approve(&home.open()?, subject.proposal()),
        again: Some(ErrorKind::NotFound),
        kept: KEPT_VERSIONS,
    },
    Scenario {
        name: "approve a change after an edit",
        before: |home| {
            edited(home);
            let diff = TWO.replace("qpdf", "vim");
            home.propose(&home.pdf(), &diff).unwrap();
        },
        act: |home, subject| approve(&home.open()?, subject.proposal()),
        again: Some(ErrorKind::NotFound),
        kept: KEPT_VERSIONS,
    },
    Scenario {
        name: "approve a new skill",
        before: |home| {
            home.make_skill();
            home.propose(&home.csv(), CSV).unwrap();
        },
        act: |home, subject| approve(&home.open()?, subject.proposal()),
        again: Some(ErrorKind::NotFound),
        kept: KEPT_VERSIONS,
    },
    Scenario {
        name: "approve and keep one version",
        before: |home| {
            approved_one(home);
            home.propose(&home.pdf(), TWO).unwrap();
        },
        act: |home, subject| approve(&home.open()?.keep_versions(1), subject.proposal()),
        again: Some(ErrorKind::NotFound),
        kept: 1,
    },
    Scenario {
        name: "propose a version, in place of another",
        before: |home| {
            home.make_skill();
            propose_version(home, &version(b"\0one")).unwrap();
        },
        act: |home, _| propose_version(home, &version(b"\0two")).map(drop),
        again: None,
        kept: KEPT_VERSIONS,
    },
    Scenario {
        name: "approve a version",
        before: |home| {
            home.make_skill();
            propose_version(home, &version(b"\0one")).unwrap();
        },
        act: |home, subject| approve(&home.open()?, subject.proposal()),
        again: Some(ErrorKind::NotFound),
        kept: KEPT_VERSIONS,
    },
    Scenario {
        name: "install from a lock",
        before: Home::make_skill,
        act: |home, _| install(home, &home.csv(), &SkillFiles::default()),
        again: Some(ErrorKind::Refused),
        kept: KEPT_VERSIONS,
    },
    Scenario {
        name: "install over an older version",
        before: approved_one,
        act: |home, _| {
            let current = home.pdf().read()?.unwrap_or_default();
            match current.get("data.bin") {
                None => install(home, &home.pdf(), &current),
                Some(_) => Ok(()),
            }
        },
        again: None,
        kept: KEPT_VERSIONS,
    },
    Scenario {
        name: "remove",
        before: |home| {
            home.make_skill();
            install(home, &home.csv(), &SkillFiles::default()).unwrap();
        },
        act: |home, _| {
            let installed = version(b"\0one");
            home.open()?
                .remove(&home.csv(), &installed, "unused", now())
        },
        again: Some(ErrorKind::Refused),
        kept: KEPT_VERSIONS,
    },
    Scenario {
        name: "keep what a lock needs",
        before: approved_one,
        act: |home, subject| {
            let lock = home.list();
            let needed = subject.current.into_iter().collect();
            home.open()?.keep_for(&lock, needed, now())
        },
        again: None,
        kept: KEPT_VERSIONS,
    },
    Scenario {
        name: "reject",
        before: proposed_one,
        act: |home, subject| {
            let digest = subject.proposal().digest;
            home.open()?.reject(digest, "anna", "no", now())
        },
        again: Some(ErrorKind::NotFound),
        kept: KEPT_VERSIONS,
    },
    Scenario {
        name: "roll back one file",
        before: approved_one,
        act: roll_back,
        again: Some(ErrorKind::Refused),
        kept: KEPT_VERSIONS,
    },
    Scenario {
        name: "roll back several files",
        before: |home| {
            proposed_several(home);
            approve(&home.store(), &home.waiting().unwrap()).unwrap();
        },
        act: roll_back,
        again: Some(ErrorKind::Refused),
        kept: KEPT_VERSIONS,
    },
    Scenario {
        name: "roll back an edit",
        before: edited,
        act: roll_back,
        again: Some(ErrorKind::Refused),
        kept: KEPT_VERSIONS,
    },
    Scenario {
        name: "record an edit in the history",
        before: edited,
        act: record_edit,
        again: None,
        kept: KEPT_VERSIONS,
    },
    Scenario {
        name: "trust, the first folder",
        before: Home::make_skill,
        act: |home, _| trust(home, Some("/projects\n")),
        again: None,
        kept: KEPT_VERSIONS,
    },
    Scenario {
        name: "trust, one more folder",
        before: trusted,
        act: |home, _| trust(home, Some("/projects\n/more\n")),
        again: None,
        kept: KEPT_VERSIONS,
    },
    Scenario {
        name: "trust no folder",
        before: trusted,
        act: |home, _| trust(home, None),
        again: None,
        kept: KEPT_VERSIONS,
    },
    Scenario {
        name: "set a passphrase",
        before: proposed_one,
        act: |home, _| home.open()?.set_passphrase("correct horse", None, now()),
        again: Some(ErrorKind::Refused),
        kept: KEPT_VERSIONS,
    },
];

/// A version of a skill with a file that no diff has.
fn version(content: &[u8]) -> SkillFiles {
    let text = b"---\nname: pdf\ndescription: Fills in forms\n---\nUse mutool.\n";
    let files = [("SKILL.md", &text[..]), ("data.bin", content)];
    let files = files.map(|(path, bytes)| (path.parse().unwrap(), bytes.to_vec()));
    files.into_iter().collect()
}

fn propose_version(home: &Home, after: &SkillFiles) -> Result<(), Error> {
    let place = home.pdf();
    let new = ProposedVersion {
        skill: "pdf",
        place: &place,
        before: &place.read()?.unwrap_or_default(),
        after,
        origin: [("source".to_owned(), "owner/repo".to_owned())].into(),
        author: Author::named("anna"),
        justification: "newer",
        evidence: None,
        checks: &[],
    };
    home.open()?.propose_version(&new, now()).map(|_| ())
}

fn install(home: &Home, place: &SkillPath, before: &SkillFiles) -> Result<(), Error> {
    let skill = (place.clone(), before.clone(), version(b"\0one"));
    let done = home.open()?.install(&home.list(), [skill], now())?;
    done.into_iter().try_for_each(|done| done.map(|_| ()))
}

fn proposed_one(home: &Home) {
    home.make_skill();
    home.propose(&home.pdf(), ONE).unwrap();
}

fn proposed_several(home: &Home) {
    home.make_skill();
    home.propose(&home.pdf(), SEVERAL).unwrap();
}

fn approved_one(home: &Home) {
    proposed_one(home);
    approve(&home.store(), &home.waiting().unwrap()).unwrap();
}

fn edited(home: &Home) {
    approved_one(home);
    let file = home.pdf().path().join("SKILL.md");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(file, text.replace("qpdf", "vim")).unwrap();
}

fn trusted(home: &Home) {
    home.make_skill();
    trust(home, Some("/projects\n")).unwrap();
}

fn roll_back(home: &Home, subject: &Subject) -> Result<(), Error> {
    let approval = Approval::at_terminal("anna");
    let (place, first) = (home.pdf(), subject.first.unwrap());
    home.open()?
        .roll_back(&place, subject.current, first, &approval, "worse", now())
        .map(|_| ())
}

/// Rolls back to the current version, which is refused once the edit is recorded.
fn record_edit(home: &Home, subject: &Subject) -> Result<(), Error> {
    let (current, approval) = (subject.current, Approval::at_terminal("anna"));
    let version = current.unwrap();
    let rolled_back = home
        .open()?
        .roll_back(&home.pdf(), current, version, &approval, "", now());
    match rolled_back {
        Err(error) if error.kind() == ErrorKind::Invalid => Ok(()),
        rolled_back => rolled_back.map(|_| ()),
    }
}

/// Writes the list of trusted folders, or removes it.
fn trust(home: &Home, content: Option<&str>) -> Result<(), Error> {
    let file = home.list();
    let target = WriteTarget::for_user(&file)?;
    let bytes = content.map(str::as_bytes);
    let act = Operation::Trust {
        folder: "/projects".into(),
    };
    home.open()?.record_change(act, &file, bytes, now(), || {
        let old = target.read(LIMIT)?;
        match (bytes, old) {
            (Some(bytes), old) => target.write(old.as_ref(), bytes, Access::Private),
            (None, Some(old)) => target.remove(&old),
            (None, None) => Ok(()),
        }
    })
}
