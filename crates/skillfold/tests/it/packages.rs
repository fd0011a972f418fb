//! Packages are named by what names them, shared by skills, and checked before a run.
#![expect(
    clippy::disallowed_methods,
    reason = "tests look at the disk behind the store's back"
)]

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skillfold::core::Refusal;
use skillfold::core::load::Digest;
use skillfold::run::{Installer, Packages, Prepare, SkillCopy};
use skillfold::scripts::{AllowedSkills, disallow_skill};
use skillfold::store::Approval;
use skillfold::{Environment, Host, Skills};
use tempfile::TempDir;

const SCRIPT: &str = "scripts/fill.py";

struct User {
    home: TempDir,
}

impl User {
    /// Creates a home with skills whose script imports `six`.
    fn new(skills: &[&str]) -> Self {
        let user = Self {
            home: tempfile::tempdir().unwrap(),
        };
        for skill in skills {
            user.edit(skill, "Fills in forms.");
            user.name_packages(skill, "six", "import six; print(six.__name__)");
        }
        user
    }

    fn edit(&self, skill: &str, prose: &str) {
        let text = format!("---\nname: {skill}\ndescription: Fills in forms\n---\n{prose}\n");
        self.write(skill, "SKILL.md", &text);
    }

    fn name_packages(&self, skill: &str, package: &str, rest: &str) {
        let text = format!("# /// script\n# dependencies = ['{package}']\n# ///\n{rest}\n");
        self.write(skill, SCRIPT, &text);
    }

    fn write(&self, skill: &str, path: &str, text: &str) {
        let file = self.home.path().join(".agents/skills").join(skill);
        let file = file.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    /// The variables of the registries, and the folder with `uv`, are those of the test.
    fn environment(&self) -> Environment {
        let work = self.home.path().join("work");
        fs::create_dir_all(&work).unwrap();
        let path = std::env::var("PACKAGES_FOLDER").unwrap_or_default();
        let environment = Environment::new(work)
            .home(self.home.path())
            .variable("USER", "anna")
            .variable("PATH", path);
        let known = Prepare::variables().iter();
        let variables = known.filter_map(|name| Some((*name, std::env::var(name).ok()?)));
        variables.fold(environment, |environment, (name, value)| {
            environment.variable(name, value)
        })
    }

    fn skills(&self) -> Skills {
        let host = Host::new(self.environment()).set("scripts", "on");
        host.discover().unwrap().skills
    }

    /// Creates the packages that a skill's script names, as `--prepare` would, and returns their folder and entry.
    fn packages(&self, skill: &str) -> (PathBuf, Value) {
        let file = self.home.path().join(".agents/skills").join(skill);
        let bytes = fs::read(file.join(SCRIPT)).unwrap();
        let copy = SkillCopy::new([(SCRIPT.parse().unwrap(), bytes)]).unwrap();
        let wanted = skillfold::run::dependencies(&copy, copy.paths()).unwrap();
        let digest = Prepare::new(&copy, &wanted[0]).digest().unwrap();
        let digest = digest.to_string();
        let data = self.environment().data_folder().unwrap();
        let folder = data.join("packages");
        let folder = folder.join(digest.trim_start_matches("sha256:"));
        fs::create_dir_all(folder.join("packages")).unwrap();
        fs::write(folder.join("packages/six.py"), "").unwrap();
        fs::write(folder.join("lock.txt"), "six==1.17.0\n").unwrap();
        let packages = Packages::new(SCRIPT.parse().unwrap(), Installer::Uv, &folder);
        let entry = json!([{
            "file": SCRIPT, "installer": "uv", "folder": folder, "installed": ["six 1.17.0"],
            "tree": packages.read_tree().unwrap(), "lock": Digest::sha256(b"six==1.17.0\n"),
        }]);
        (folder, entry)
    }

    /// Adds packages to the entry that was added last to the list of allowed skills.
    fn add_to_last_entry(&self, packages: &Value) {
        let file = self.environment().allowed_skills().unwrap();
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, format!("{text}packages = '{packages}'\n")).unwrap();
    }

    fn disallow(&self, skill: &str) {
        let folder = self.home.path().join(".agents/skills").join(skill);
        let folder = folder.canonicalize().unwrap();
        disallow_skill(&self.environment(), &folder).unwrap();
    }
}

fn allow(skills: &Skills, id: &str) {
    let skill = skills.runnable(id).unwrap();
    skills.allow(&skill, &Approval::by_host("anna")).unwrap();
}

/// Installs a skill's packages and allows it, and returns what the installer said.
fn prepare(skills: &Skills, id: &str) -> String {
    let skill = skills.runnable(id).unwrap();
    let mut said = String::new();
    let observer = |line: &str| said.push_str(line);
    let approval = Approval::by_host("anna");
    skills
        .allow_with_packages(&skill, &approval, observer)
        .unwrap();
    said
}

/// Runs a skill's script and returns its output, or why it does not run.
fn run(skills: &Skills, id: &str) -> String {
    let (skill, script) = (skills.runnable(id).unwrap(), SCRIPT.parse().unwrap());
    match skill.run(&script).unwrap().run() {
        Ok(outcome) => format!("{}{}", outcome.stdout_text(), outcome.stderr_text()),
        Err(error) => format!("{error}\n{}", error.hint()),
    }
}

fn without(text: &str, folder: &Path) -> String {
    text.replace(folder.to_str().unwrap(), "FOLDER")
}

#[test]
fn editing_prose_keeps_installed_packages_and_editing_requirements_does_not() {
    let user = User::new(&["pdf"]);
    let skills = user.skills();
    allow(&skills, "pdf");
    let (folder, packages) = user.packages("pdf");
    user.add_to_last_entry(&packages);
    let installed = || skills.runnable("pdf").unwrap().packages().len();
    assert_eq!(installed(), 1);
    // Nobody else names a folder.
    let file = user.environment().allowed_skills().unwrap();
    let listed = fs::read_to_string(&file).unwrap();
    let other = user.home.path().join("other");
    fs::create_dir(&other).unwrap();
    let [from, to] = [&folder, &other].map(|it| it.to_str().unwrap());
    fs::write(&file, listed.replace(from, to)).unwrap();
    let error = skills.runnable("pdf").unwrap_err();
    assert_eq!(error.refusal(), Some(Refusal::NotAllowed), "{error}");
    fs::write(&file, listed).unwrap();
    user.edit("pdf", "More prose.");
    user.name_packages("pdf", "six", "import six, sys");
    assert!(skills.runnable("pdf").unwrap().allowed().is_none());
    assert_eq!(installed(), 1);
    allow(&skills, "pdf");
    assert_eq!(installed(), 1);
    assert!(folder.is_dir());
    user.name_packages("pdf", "seven", "import seven");
    assert_eq!(installed(), 0);
    allow(&skills, "pdf");
    assert!(!folder.exists());
}

#[test]
fn changed_packages_are_refused_and_unchanged_ones_run() {
    needs_sandbox!();
    let user = User::new(&["pdf"]);
    let skills = user.skills();
    allow(&skills, "pdf");
    let (folder, packages) = user.packages("pdf");
    user.add_to_last_entry(&packages);
    let is_unchanged = || {
        let skill = skills.runnable("pdf").unwrap();
        skill.has_unchanged_packages().unwrap()
    };
    assert_eq!(run(&skills, "pdf"), "six\n");
    assert!(is_unchanged());
    fs::write(folder.join("packages/six.py"), "print('other')").unwrap();
    insta::assert_snapshot!(without(&run(&skills, "pdf"), &folder), @"
    Packages of `scripts/fill.py` changed since they were installed, in FOLDER
    Install them again: `skillfold run` with the skill's id and `--prepare`
    ");
    assert!(!is_unchanged());
    fs::write(folder.join("packages/six.py"), "").unwrap();
    assert_eq!(run(&skills, "pdf"), "six\n");
    fs::remove_dir_all(folder.join("packages")).unwrap();
    insta::assert_snapshot!(without(&run(&skills, "pdf"), &folder), @"
    Packages of `scripts/fill.py` are gone from FOLDER
    Install them again: `skillfold run` with the skill's id and `--prepare`
    ");
}

#[test]
fn shared_packages_stay_until_no_allowed_skill_uses_them() {
    needs_sandbox!();
    let user = User::new(&["pdf", "forms"]);
    let skills = user.skills();
    let mut folders = Vec::new();
    for skill in ["pdf", "forms"] {
        allow(&skills, skill);
        let (folder, packages) = user.packages(skill);
        user.add_to_last_entry(&packages);
        folders.push(folder);
    }
    assert_eq!(folders[0], folders[1]);
    assert_eq!(run(&skills, "forms"), "six\n");
    user.disallow("pdf");
    assert_eq!(run(&skills, "forms"), "six\n");
    user.disallow("forms");
    assert!(!folders[0].exists());
}

/// Writes to a file that the sandbox's user owns.
fn change(path: &Path, text: &str) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o666)).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
#[ignore = "installs packages from the registries"]
fn second_preparation_shares_what_is_there_and_follows_its_lock() {
    let user = User::new(&["pdf", "forms"]);
    let skills = user.skills();
    prepare(&skills, "pdf");
    let packages = || {
        let allowed = AllowedSkills::load(&user.environment()).skills;
        allowed[0].packages[0].clone()
    };
    let first = packages();
    let module = first.folder.join("packages/six.py");
    let inode = || fs::metadata(&module).unwrap().ino();
    let before = inode();
    assert_eq!(prepare(&skills, "forms"), "");
    assert_eq!(inode(), before, "it was not installed again");
    assert_eq!(run(&skills, "forms"), "six\n");
    let lock = first.folder.join("lock.txt");
    assert!(
        fs::read_to_string(&lock)
            .unwrap()
            .contains("--hash=sha256:")
    );
    change(&module, "print('changed')");
    assert!(run(&skills, "pdf").contains("changed since they were installed"));
    prepare(&skills, "pdf");
    assert_eq!(packages(), first);
    assert_eq!(run(&skills, "pdf"), "six\n");
    assert_eq!(run(&skills, "forms"), "six\n");
    change(&module, "print('changed')");
    change(&lock, "six==1.16.0\n");
    let said = prepare(&skills, "pdf");
    assert!(
        said.contains("lock file of the packages of `scripts/fill.py`"),
        "{said}"
    );
    assert_eq!(packages().tree, first.tree);
    let left = fs::read_dir(first.folder.parent().unwrap()).unwrap();
    assert_eq!(left.count(), 1);
}
