//! What a skill is granted is what the user was shown, and some things no skill gets.
#![expect(
    clippy::disallowed_methods,
    reason = "tests look at the disk behind the store's back"
)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use skillfold::core::Refusal;
use skillfold::run::RunErrorKind;
use skillfold::store::Approval;
use skillfold::{
    Environment, Host, Skills,
    scripts::{AllowedSkills, RunnableSkill, ScriptError, disallow_skill},
};
use tempfile::TempDir;

struct User {
    _folder: TempDir,
    home: PathBuf,
}

impl User {
    fn new(permissions: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let user = Self {
            _folder: folder,
            home,
        };
        user.ask(permissions);
        user
    }

    /// Writes a skill that asks for something.
    fn ask(&self, permissions: &str) {
        let skill = self.home.join(".agents/skills/pdf");
        fs::create_dir_all(&skill).unwrap();
        let text = format!("---\nname: pdf\ndescription: d\npermissions: {permissions}\n---\n");
        fs::write(skill.join("SKILL.md"), text).unwrap();
        fs::write(skill.join("run.sh"), "echo ran").unwrap();
    }

    fn folder(&self, path: &str) -> PathBuf {
        let folder = self.home.join(path);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn environment(&self) -> Environment {
        Environment::new(self.folder("work")).home(&self.home)
    }

    fn skills(&self) -> Skills {
        Host::new(self.environment()).discover().unwrap().skills
    }
}

fn allow(skills: &Skills) -> Result<(), ScriptError> {
    let skill = skills.runnable("pdf")?;
    skills.allow(&skill, &Approval::by_host("anna")).map(drop)
}

fn run(skills: &Skills) -> Result<String, ScriptError> {
    let skill = skills.runnable("pdf")?;
    let outcome = skill.run(&"run.sh".parse().unwrap())?.run()?;
    Ok(outcome.stdout_text().into_owned())
}

/// Returns why a skill is not allowed, and what to do.
fn why_not(user: &User, skills: &Skills) -> String {
    let error = skills.runnable("pdf").unwrap().check_allowed().unwrap_err();
    assert_eq!(error.refusal(), Some(Refusal::NotAllowed));
    let text = format!("{error}\n{}", error.hint());
    text.replace(&*user.home.to_string_lossy(), "HOME")
}

fn lines(user: &User, skills: &Skills) -> String {
    let lines = skills.runnable("pdf").unwrap().permission_lines();
    let lines = lines.join("\n");
    lines.replace(&*user.home.to_string_lossy(), "HOME")
}

#[test]
fn run_is_refused_if_a_link_replaced_part_of_an_allowed_path() {
    needs_sandbox!();
    let user = User::new("{read: [~/Reports/site/home]}");
    let reports = user.folder("Reports");
    user.folder("Reports/site/home");
    user.folder("Other/home");
    let skills = user.skills();
    allow(&skills).unwrap();
    assert_eq!(run(&skills).unwrap(), "ran\n");
    let before = skills.runnable("pdf").unwrap();

    fs::rename(reports.join("site"), reports.join("old")).unwrap();
    symlink(user.home.join("Other"), reports.join("site")).unwrap();
    insta::assert_snapshot!(why_not(&user, &skills), @"
    Refused to run `pdf`: Granted path now leads through the link `HOME/Reports/site`: `HOME/Reports/site/home`; if that is right: `skillfold allow pdf`
    Check who changed it; in a terminal, this command shows what it is now, and asks the user
    ");
    // Nor what was looked up before the link was made.
    let late = before.run(&"run.sh".parse().unwrap()).unwrap().run();
    assert_eq!(late.unwrap_err().kind(), RunErrorKind::NotPermitted);

    // The user is shown where it leads, and may allow that.
    insta::assert_snapshot!(lines(&user, &skills), @"asks for read access to ~/Reports/site/home, which leads to HOME/Other/home");
    allow(&skills).unwrap();
    assert_eq!(run(&skills).unwrap(), "ran\n");
}

#[test]
fn run_is_refused_if_another_folder_has_the_name_of_an_allowed_one() {
    needs_sandbox!();
    let user = User::new("{write: [~/Reports/out]}");
    let out = user.folder("Reports/out");
    let private = user.folder("Reports/private");
    let skills = user.skills();
    allow(&skills).unwrap();
    assert_eq!(run(&skills).unwrap(), "ran\n");
    fs::rename(&out, user.home.join("Reports/old")).unwrap();
    fs::rename(private, &out).unwrap();
    insta::assert_snapshot!(why_not(&user, &skills), @"
    Refused to run `pdf`: Granted folder was replaced by another one: `HOME/Reports/out`; if that is right: `skillfold allow pdf`
    Check who changed it; in a terminal, this command shows what it is now, and asks the user
    ");
    // Allowing it again is for the folder that is there now.
    allow(&skills).unwrap();
    assert_eq!(run(&skills).unwrap(), "ran\n");
}

#[test]
fn path_that_does_not_exist_yet_is_to_be_created_below_the_folder_that_does() {
    needs_sandbox!();
    let user = User::new("{write: [~/new/out], read: [~/later]}");
    user.folder("Other");
    let skills = user.skills();
    insta::assert_snapshot!(lines(&user, &skills), @"
    asks for read access to ~/later, which does not exist yet, below ~
    asks for write access to ~/new/out, to be created as a folder below ~
    ");
    allow(&skills).unwrap();
    user.folder("later");
    assert_eq!(run(&skills).unwrap(), "ran\n");
    assert!(user.home.join("new/out").is_dir());
    fs::remove_dir(user.home.join("later")).unwrap();
    symlink(user.home.join("Other"), user.home.join("later")).unwrap();
    insta::assert_snapshot!(why_not(&user, &skills), @"
    Refused to run `pdf`: Granted path is now a link: `HOME/later`; if that is right: `skillfold allow pdf`
    Check who changed it; in a terminal, this command shows what it is now, and asks the user
    ");
}

#[test]
fn nested_permissions_are_shown_and_granted_as_one() {
    needs_sandbox!();
    let user = User::new("{write: [~/Reports, ~/Reports/site/home], read: [~/Reports/in]}");
    user.folder("Reports/site/home");
    user.folder("Reports/in");
    let skills = user.skills();
    insta::assert_snapshot!(lines(&user, &skills), @"asks for write access to ~/Reports");
    allow(&skills).unwrap();
    // What the skill makes of its own folder is its own affair.
    fs::rename(
        user.home.join("Reports/site"),
        user.home.join("Reports/old"),
    )
    .unwrap();
    symlink("/", user.home.join("Reports/site")).unwrap();
    assert_eq!(run(&skills).unwrap(), "ran\n");
}

#[test]
fn only_absolute_paths_and_those_of_the_home_are_paths() {
    let user =
        User::new("{read: ['~cache', '~root', notes, ./notes, '~/../x', '$HOME/x', /srv/./x]}");
    fs::create_dir_all(user.home.join("work")).unwrap();
    symlink("/", user.home.join("work/~cache")).unwrap();
    let skills = user.skills();
    let skill = skills.runnable("pdf").unwrap();
    assert_eq!(skill.asked().unknown.len(), 7);
    assert!(skill.options().permissions().paths().is_empty());
}

/// Installs a shell under another name, and returns its folder.
fn install(user: &User, prefix: &str, name: &str) -> PathBuf {
    let bin = user.folder(&format!("{prefix}/bin"));
    user.folder(&format!("{prefix}/lib"));
    let sh = Path::new("/bin/sh").canonicalize().unwrap();
    fs::copy(sh, bin.join(name)).unwrap();
    bin
}

/// Writes a script that asks for a program, and returns the skills of a user with this folder in `PATH`.
fn skills_with(user: &User, program: &str, bin: &Path) -> Skills {
    let script = user.folder(".agents/skills/pdf/scripts").join("a");
    fs::write(script, format!("#!/usr/bin/env {program}\necho ran\n")).unwrap();
    let environment = user.environment().variable("PATH", bin.to_str().unwrap());
    Host::new(environment).discover().unwrap().skills
}

fn run_script(skills: &Skills) -> String {
    let (skill, script) = (
        skills.runnable("pdf").unwrap(),
        "scripts/a".parse().unwrap(),
    );
    match skill.run(&script).unwrap().run() {
        Ok(outcome) => outcome.stdout_text().into_owned(),
        Err(error) => format!("{error}\n{}", error.hint()),
    }
}

#[test]
fn version_of_a_known_manager_in_the_home_is_shown() {
    needs_sandbox!();
    let user = User::new("{}");
    let bin = install(&user, ".local/share/mise/installs/fish/4.0", "fish");
    let skills = skills_with(&user, "fish", &bin);
    insta::assert_snapshot!(lines(&user, &skills), @"sees ~/.local/share/mise/installs/fish/4.0, where its interpreter is (read-only)");
    let question = skills.runnable("pdf").unwrap().question().unwrap();
    assert!(question.contains("installs/fish/4.0"), "{question}");
    allow(&skills).unwrap();
    assert_eq!(run_script(&skills), "ran\n");
}

#[test]
fn other_interpreter_in_the_home_must_be_named_and_stay_the_same() {
    needs_sandbox!();
    let user = User::new("{}");
    let bin = install(&user, "apps/mytool", "mytool");
    let skills = skills_with(&user, "mytool", &bin);
    allow(&skills).unwrap();
    insta::assert_snapshot!(run_script(&skills), @"
    Unknown interpreter of `scripts/a`: `mytool`
    If you want it to run the script, allow the skill with `--interpreter` and its path
    ");
    let named = || {
        let skill = skills.runnable("pdf").unwrap();
        skill.with_interpreter(&bin.join("mytool")).unwrap()
    };
    assert!(named().allowed().is_none());
    insta::assert_snapshot!(named().permission_lines().join("\n"), @"asks for the program ~/apps/mytool/bin/mytool, with ~/apps/mytool/lib");
    skills.allow(&named(), &Approval::by_host("anna")).unwrap();
    assert_eq!(run_script(&skills), "ran\n");
    // Naming it again changes nothing.
    assert!(named().allowed().is_some());
    // Another folder around it is another program.
    fs::rename(&bin, user.home.join("apps/old")).unwrap();
    install(&user, "apps/mytool", "mytool");
    insta::assert_snapshot!(why_not(&user, &skills), @"
    Refused to run `pdf`: Folder of the granted path was replaced by another one: `HOME/apps/mytool/bin/mytool`; if that is right: `skillfold allow pdf`
    Check who changed it; in a terminal, this command shows what it is now, and asks the user
    ");
}

#[test]
fn protected_paths_are_never_granted() {
    let user = User::new("{}");
    for folder in [".ssh", ".claude/skills", "Documents"] {
        user.folder(folder);
    }
    symlink(user.home.join(".ssh"), user.home.join("Documents/in")).unwrap();
    let refused = [
        "{read: [~/.ssh]}",
        "{read: [~/.ssh/config]}",
        "{read: [~]}",
        "{read: [~/Documents/in]}",
        "{read: [~/.config]}",
        "{read: [~/.local/state/skillfold]}",
        "{write: [~/.local]}",
        "{write: [~/.local/state]}",
        "{write: [~/.local/share]}",
        "{write: [~/.config/skillfold]}",
        "{write: [~/.cache/skillfold]}",
        "{read: [~/.cache/skillfold]}",
        "{read: [~/.claude/settings.json]}",
        "{read: [~/.bashrc]}",
        "{read: [~/.config/google-chrome/Default]}",
        "{read: [~/.local/share/keyrings]}",
        "{read: [/proc/1]}",
        "{read: [/sys]}",
        "{read: [/dev/shm]}",
        "{read: [/run/user]}",
        "{read: [/home]}",
        "{read: [/root]}",
        "{read: [/home/user/notes]}",
        "{write: [~/.nvm]}",
        "{write: [~/.bashrc]}",
        "{write: [~/.claude/settings.json]}",
        "{write: [~/.agents/skills/pdf]}",
        "{write: [~]}",
    ];
    for permissions in refused {
        user.ask(permissions);
        let skills = user.skills();
        let error = allow(&skills).unwrap_err().failure();
        assert_eq!(error.error, "not_permitted", "{permissions}: {error:?}");
        assert!(skills.runnable("pdf").unwrap().question().is_none());
        // A host that answers for its runs does not grant it either.
        let skill = skills.runnable("pdf").unwrap();
        skill
            .run_as_host(&"run.sh".parse().unwrap())
            .run()
            .unwrap_err();
    }
    for permissions in ["{read: [~/.claude/skills]}", "{write: [~/Documents]}"] {
        user.ask(permissions);
        allow(&user.skills()).unwrap();
    }
}

#[test]
fn protected_paths_are_protected_at_their_moved_locations() {
    let user = User::new("{}");
    user.folder("conf/gh");
    user.folder("dot/config");
    symlink(user.home.join("dot/config"), user.home.join(".config")).unwrap();
    let moved = || {
        let environment = user.environment();
        let environment =
            environment.variable("XDG_CONFIG_HOME", user.home.join("conf").to_str().unwrap());
        Host::new(environment).discover().unwrap().skills
    };
    for permissions in [
        "{read: [~/conf/gh]}",
        "{write: [~/conf/autostart]}",
        // There is no `autostart` in it yet.
        "{write: [~/dot/config]}",
        "{write: [~/dot]}",
    ] {
        user.ask(permissions);
        let error = allow(&moved()).unwrap_err().failure();
        assert_eq!(error.error, "not_permitted", "{permissions}: {error:?}");
    }
}

#[test]
fn grants_too_long_for_a_form_are_not_requested_by_form() {
    needs_sandbox!();
    let user = User::new("{}");
    let question = |permissions: &str| {
        user.ask(permissions);
        user.skills().runnable("pdf").unwrap().question()
    };
    insta::assert_snapshot!(question("{env: [TOKEN], read: [~/notes]}").unwrap(), @"
    Let `pdf` run in a sandbox until it changes?
    It asks for read access to ~/notes, which does not exist yet, below ~;
    asks for the variable TOKEN.
    ");
    let many: Vec<String> = (0..9).map(|number| format!("~/n{number}")).collect();
    assert!(question(&format!("{{read: [{}]}}", many.join(", "))).is_none());
    let wide = format!("{{read: [~/{}]}}", "本".repeat(40));
    assert!(question(&wide).is_none());
    let long = format!(
        "{{network: [{}]}}",
        ["a".repeat(60).as_str()].repeat(4).join(".")
    );
    assert!(question(&long).is_none());
    let long = format!("{{read: [~/{}]}}", "a".repeat(300));
    assert!(question(&long).is_none());
}

#[test]
fn identical_skill_in_another_folder_needs_its_own_permission() {
    let user = User::new("{}");
    let skills = user.skills();
    allow(&skills).unwrap();
    let own = skills.runnable("pdf").unwrap().folder().unwrap().to_owned();
    // The same skill, moved.
    let other = user.folder(".claude/skills").join("pdf");
    fs::rename(&own, &other).unwrap();
    let skills = user.skills();
    assert_eq!(skills.runnable("pdf").unwrap().folder(), Some(&*other));
    assert!(skills.runnable("pdf").unwrap().allowed().is_none());
    allow(&skills).unwrap();
    disallow_skill(&user.environment(), &other).unwrap();
    assert!(skills.runnable("pdf").unwrap().allowed().is_none());
    assert_eq!(AllowedSkills::load(&user.environment()).skills.len(), 1);
}

#[test]
fn entry_without_an_approval_does_not_run_if_a_passphrase_is_required() {
    needs_sandbox!();
    let user = User::new("{}");
    let strict = || {
        let host = Host::new(user.environment()).set("approval_requires", "passphrase");
        host.discover().unwrap().skills
    };
    // As a program of the user's would write it: the list of a time in which a terminal was enough.
    allow(&user.skills()).unwrap();
    let skills = strict();
    let why = |skill: RunnableSkill| skill.check_allowed().unwrap_err().to_string();
    insta::assert_snapshot!(why(skills.runnable("pdf").unwrap()), @"Refused to run `pdf`: it was not allowed with the passphrase that the settings require: `skillfold allow pdf`");
    let list = user.environment().allowed_skills().unwrap();
    let by_hand = fs::read_to_string(&list).unwrap();

    let store = skills.store().unwrap();
    store
        .set_passphrase("correct horse", None, skills.now())
        .unwrap();
    let skill = skills.runnable("pdf").unwrap();
    let approval = Approval::at_terminal("anna").with_passphrase("correct horse");
    skills.allow(&skill, &approval).unwrap();
    assert_eq!(run(&skills).unwrap(), "ran\n");

    // Nor does a line by hand run that has more than was approved.
    let approved = fs::read_to_string(&list).unwrap();
    let widened = approved.replace("granted = []", "granted = [\"the network\"]");
    assert_ne!(widened, approved);
    fs::write(&list, widened).unwrap();
    assert!(strict().runnable("pdf").unwrap().allowed().is_none());
    let tools = approved.replace(
        "tools = \"[]\"",
        r#"tools = '[{"name":"x","toolset":"y","description":"","input_schema":{}}]'"#,
    );
    assert_ne!(tools, approved);
    fs::write(&list, tools).unwrap();
    assert!(strict().runnable("pdf").unwrap().allowed().is_none());

    // Packages that nobody approved end it too.
    let folder = user.folder(".local/share/skillfold/packages/x");
    let packages = format!(
        r#"[{{"file":"run.sh","installer":"uv","folder":"{}","installed":["six 1.17.0"]}}]"#,
        folder.display()
    );
    fs::write(&list, format!("{approved}packages = '{packages}'\n")).unwrap();
    assert!(strict().runnable("pdf").unwrap().allowed().is_none());
    fs::write(&list, approved).unwrap();
    assert!(strict().runnable("pdf").unwrap().allowed().is_some());

    // What was taken back stays taken back.
    disallow_skill(&user.environment(), skill.folder().unwrap()).unwrap();
    fs::write(&list, by_hand).unwrap();
    assert!(strict().runnable("pdf").unwrap().allowed().is_none());
}
