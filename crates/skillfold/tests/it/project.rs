//! Scripts work on the user's project, if the user lets them.
#![expect(
    clippy::disallowed_methods,
    reason = "tests look at the disk behind the store's back"
)]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use skillfold::core::name::ResourcePath;
use skillfold::scripts::{ProjectAccess, RunnableSkill, ScriptError, ScriptLimits};
use skillfold::store::Approval;
use skillfold::{Environment, Host, Skills};
use tempfile::TempDir;

struct User {
    _folder: TempDir,
    home: PathBuf,
}

impl User {
    /// A user with a skill that asks for something, and two projects.
    fn new(permissions: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let user = Self {
            _folder: folder,
            home,
        };
        user.write(
            ".agents/skills/words/SKILL.md",
            &format!("---\nname: words\ndescription: d\npermissions: {permissions}\n---\n"),
        );
        user.write(".agents/skills/words/run.sh", "eval \"$1\"");
        for project in ["app", "other"] {
            user.write(&format!("{project}/docs/a.txt"), "one two\n");
            let open = fs::Permissions::from_mode(0o777);
            fs::set_permissions(user.home.join(project), open).unwrap();
        }
        user
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The skills of a host that works in a folder.
    fn at(&self, folder: &str) -> Skills {
        let environment = Environment::new(self.home.join(folder)).home(&self.home);
        Host::new(environment).discover().unwrap().skills
    }

    fn hide(&self, text: &str) -> String {
        text.replace(&*self.home.to_string_lossy(), "HOME")
    }

    /// What a run of shell commands prints, or why there is none.
    fn run(&self, folder: &str, commands: &str) -> String {
        let skills = self.at(folder);
        let told = run(&skills.runnable("words").unwrap(), commands);
        self.hide(&told)
    }

    fn allow(&self, folder: &str) {
        let skills = self.at(folder);
        allow(&skills, &skills.runnable("words").unwrap());
    }
}

fn allow(skills: &Skills, skill: &RunnableSkill) {
    skills.allow(skill, &Approval::by_host("anna")).unwrap();
}

fn run(skill: &RunnableSkill, commands: &str) -> String {
    let script: ResourcePath = "run.sh".parse().unwrap();
    let arguments = vec![commands.to_owned()];
    let run = || -> Result<_, ScriptError> {
        let run = skill.run(&script)?.with_arguments(arguments.clone());
        Ok(run.run()?)
    };
    match run() {
        Ok(outcome) => {
            let notes = skill.explain(&arguments, &outcome);
            let notes: String = notes.iter().map(|note| format!("note: {note}\n")).collect();
            let errors = outcome.stderr_text().replace("/skill/run.sh: ", "");
            format!("{}{errors}{notes}", outcome.stdout_text())
        }
        Err(error) => format!("refused: {error}\n{}\n", error.hint()),
    }
}

#[test]
fn script_reads_the_file_that_the_user_names() {
    needs_sandbox!();
    let user = User::new("{ project: read }");
    user.allow("app");
    assert_eq!(
        user.run("app", "cat docs/a.txt; pwd"),
        "one two\nHOME/app\n"
    );
    // In a folder of the project, relative paths start there.
    assert_eq!(
        user.run("app/docs", "cat a.txt; cat ../docs/a.txt"),
        "one two\none two\n"
    );
    let wrote = user.run("app", "echo evil > new.txt");
    assert!(wrote.contains("Read-only file system"), "{wrote}");
}

#[test]
fn allowance_is_for_one_project() {
    needs_sandbox!();
    let user = User::new("{ project: read }");
    user.allow("app");
    insta::assert_snapshot!(user.run("other", "cat docs/a.txt"), @"
    refused: Refused to run `words`: it is not allowed in ~/other yet: `skillfold allow words`
    It asks for the project, and an allowance is for one project; in a terminal, in this folder, this command asks the user
    ");
    user.allow("other");
    for project in ["app", "other"] {
        assert_eq!(user.run(project, "cat docs/a.txt"), "one two\n");
    }
    // A new version of the skill is allowed nowhere.
    user.write(".agents/skills/words/more.txt", "");
    user.allow("other");
    assert!(
        user.run("app", "cat docs/a.txt")
            .contains("not allowed in ~/app")
    );
}

#[test]
fn user_decides_whatever_the_skill_asks() {
    needs_sandbox!();
    let user = User::new("{ project: write }");
    let skills = user.at("app");
    let skill = skills.runnable("words").unwrap();
    insta::assert_snapshot!(skill.permission_lines().join("\n"), @"asks for write access to the project ~/app (`.git`, client settings and skills in it stay read-only)");
    let skill = skill.with_project(ProjectAccess::None);
    insta::assert_snapshot!(skill.permission_lines().join("\n"), @"gets no access to the project ~/app; it asks for write access");
    allow(&skills, &skill);
    insta::assert_snapshot!(user.run("app", "cat docs/a.txt"), @r"
    cat: docs/a.txt: No such file or directory
    note: `docs/a.txt` is in your project, which this skill may not read: `skillfold allow words --project read`
    ");
    let silent = User::new("{}");
    let skills = silent.at("app");
    let skill = skills.runnable("words").unwrap();
    assert!(skill.permission_lines().is_empty());
    let skill = skill.with_project(ProjectAccess::Write);
    insta::assert_snapshot!(skill.permission_lines().join("\n"), @"gets write access to the project ~/app (`.git`, client settings and skills in it stay read-only)");
    assert!(skill.allowed().is_none());
    allow(&skills, &skill);
    assert_eq!(
        silent.run("app", "echo new > new.txt && cat new.txt"),
        "new\n"
    );
}

#[test]
fn every_project_is_a_decision_of_its_own() {
    needs_sandbox!();
    let user = User::new("{ project: read }");
    let skills = user.at("app");
    let skill = skills.runnable("words").unwrap().with_every_project();
    insta::assert_snapshot!(skill.permission_lines().join("\n"), @"
    asks for read access to the project ~/app
    gets read access to every project in which you use it
    ");
    allow(&skills, &skill);
    assert_eq!(user.run("other", "cat docs/a.txt"), "one two\n");
    // No project is one, however many there are.
    let told = user.run("", "cat app/docs/a.txt");
    assert!(told.contains("No such file"), "{told}");
    let skills = user.at("other");
    let skill = skills.runnable("words").unwrap();
    allow(&skills, &skill.with_project(ProjectAccess::None));
    assert!(user.run("other", "cat docs/a.txt").contains("No such file"));
    assert_eq!(user.run("app", "cat docs/a.txt"), "one two\n");
}

#[test]
fn home_and_folders_around_what_is_protected_are_no_projects() {
    needs_sandbox!();
    let user = User::new("{ project: read }");
    user.write(".config/nvim/init.lua", "");
    for folder in ["", ".config", ".ssh", ".local"] {
        fs::create_dir_all(user.home.join(folder)).unwrap();
        let skills = user.at(folder);
        let skill = skills.runnable("words").unwrap();
        assert!(skill.permission_lines().is_empty(), "{folder}");
        let chosen = skill.with_project(ProjectAccess::Read);
        let refused = chosen.check_grants().unwrap_err();
        assert!(
            refused.to_string().starts_with("Not a project"),
            "{refused}"
        );
    }
    user.allow("");
    insta::assert_snapshot!(user.run("", "cat app/docs/a.txt"), @"
    cat: app/docs/a.txt: No such file or directory
    note: `app/docs/a.txt` exists, but this skill does not see it: `--read app/docs/a.txt` shows it to one `skillfold run`
    note: Not a project, it is or contains your home: `HOME`. Work in a folder of its own, such as `~/projects/app`
    ");
}

#[test]
fn folder_in_one_that_no_skill_writes_is_a_project_to_read() {
    needs_sandbox!();
    let user = User::new("{ project: write }");
    user.write(".config/nvim/lua/a.lua", "return {}\n");
    let lua = ".config/nvim/lua";
    // As in a home, a skill that asks to write runs without a project, and a failure says why.
    user.allow(lua);
    assert_eq!(user.run(lua, "pwd"), "/skill\n");
    insta::assert_snapshot!(user.run(lua, "cat a.lua"), @"
    cat: a.lua: No such file or directory
    note: `a.lua` is in your project, which this skill may not read: `skillfold allow words --project read`
    note: Not a project to write, because of `HOME/.config/nvim`: `HOME/.config/nvim/lua`. Work in a folder of its own, such as `~/projects/app`
    ");
    insta::assert_snapshot!(user.run(lua, "echo new > docs.lua"), @"
    1: eval: cannot create docs.lua: Read-only file system
    note: `docs.lua` would be in a folder that this skill does not see
    note: Not a project to write, because of `HOME/.config/nvim`: `HOME/.config/nvim/lua`. Work in a folder of its own, such as `~/projects/app`
    ");
    let skills = user.at(lua);
    let chosen = skills.runnable("words").unwrap();
    let chosen = chosen.with_project(ProjectAccess::Write);
    let refused = chosen.check_grants().unwrap_err();
    assert!(
        refused.to_string().starts_with("Not a project"),
        "{refused}"
    );
    let chosen = skills.runnable("words").unwrap();
    allow(&skills, &chosen.with_project(ProjectAccess::Read));
    assert_eq!(user.run(lua, "cat a.lua"), "return {}\n");
    insta::assert_snapshot!(user.run(lua, "echo new > docs.lua"), @"
    1: eval: cannot create docs.lua: Read-only file system
    note: `docs.lua` stays read-only for every skill: repositories, client settings and skills are not written by scripts
    ");
}

#[test]
fn another_folder_in_the_place_of_the_project_is_refused() {
    let user = User::new("{ project: read }");
    user.allow("app");
    fs::rename(user.home.join("app"), user.home.join("old")).unwrap();
    user.write("app/docs/a.txt", "secret\n");
    insta::assert_snapshot!(user.run("app", "cat docs/a.txt"), @"
    refused: Refused to run `words`: Granted folder was replaced by another one: `HOME/app`; if that is right: `skillfold allow words`
    Check who changed it; in a terminal, this command shows what it is now, and asks the user
    ");
}

#[test]
fn project_that_was_replaced_can_be_allowed_again() {
    needs_sandbox!();
    let user = User::new("{ project: read }");
    user.allow("app");
    fs::rename(user.home.join("app"), user.home.join("old")).unwrap();
    user.write("app/docs/a.txt", "mine again\n");
    user.allow("app");
    assert_eq!(user.run("app", "cat docs/a.txt"), "mine again\n");
    // It is looked at again: a link to what is protected is no project.
    fs::rename(user.home.join("app"), user.home.join("older")).unwrap();
    user.write(".ssh/id_rsa", "secret");
    symlink(user.home.join(".ssh"), user.home.join("app")).unwrap();
    let skill = user.at("app").runnable("words").unwrap();
    assert!(skill.allowed().is_none() && skill.check_grants().is_err());
}

#[test]
fn allowing_again_what_was_replaced_keeps_the_other_decisions() {
    let user = User::new("{ project: read, read: [~/notes], network: [git.example.com] }");
    user.write("notes/a.txt", "");
    let allow_in = |folder: &str, access| {
        let skills = user.at(folder);
        let skill = skills.runnable("words").unwrap().with_project(access);
        allow(&skills, &skill);
    };
    let skills = user.at("app");
    let skill = skills.runnable("words").unwrap().with_every_project();
    let skill = skill.with_private_host("git.example.com").unwrap();
    let skill = skill.with_interpreter(Path::new("/bin/sh")).unwrap();
    allow(&skills, &skill);
    allow_in("other", ProjectAccess::None);
    let lines = |folder: &str| {
        let skill = user.at(folder).runnable("words").unwrap();
        let is_allowed = skill.allowed().is_some();
        (is_allowed, user.hide(&skill.permission_lines().join("\n")))
    };
    let before = lines("app");
    assert!(before.0);
    insta::assert_snapshot!(before.1, @"
    asks for network access to git.example.com (private)
    asks for read access to ~/notes
    asks for the program /usr/bin/dash, with /usr/lib, /usr/lib64, /usr/libexec
    asks for read access to the project ~/app
    gets read access to every project in which you use it
    ");

    fs::rename(user.home.join("notes"), user.home.join("old")).unwrap();
    user.write("notes/a.txt", "");
    assert_eq!(lines("app"), (false, before.1.clone()));
    allow_in("app", ProjectAccess::Read);
    assert_eq!(lines("app"), before);
    let skill = user.at("other").runnable("words").unwrap();
    assert!(skill.allowed().is_some());
    assert_eq!(skill.project_access(), ProjectAccess::None);

    // An entry for other bytes decides nothing.
    user.write(".agents/skills/words/more.txt", "");
    let changed = lines("app").1;
    assert!(
        !changed.contains("every project") && !changed.contains("private"),
        "{changed}"
    );
}

#[test]
fn repository_settings_and_skills_of_the_project_stay_read_only() {
    needs_sandbox!();
    let user = User::new("{ project: write }");
    user.write("app/.git/config", "");
    user.write(
        "app/.claude/skills/x/SKILL.md",
        "---\nname: x\ndescription: d\n---\n",
    );
    for path in ["app/.git", "app/.claude/skills/x"] {
        let open = fs::Permissions::from_mode(0o777);
        fs::set_permissions(user.home.join(path), open).unwrap();
    }
    user.allow("app");
    insta::assert_snapshot!(user.run("app", "
        echo evil > .git/hook; echo evil > .claude/skills/x/SKILL.md; mkdir .vscode; echo fine > b.txt; false
    "), @"
    2: eval: cannot create .git/hook: Read-only file system
    2: eval: cannot create .claude/skills/x/SKILL.md: Read-only file system
    note: The script created `HOME/app/.vscode`, which no skill may; it is now `HOME/app/.vscode.removed-by-skillfold`
    note: `.git/hook` stays read-only for every skill: repositories, client settings and skills are not written by scripts
    note: `.claude/skills/x/SKILL.md` stays read-only for every skill: repositories, client settings and skills are not written by scripts
    ");
    assert!(user.home.join("app/b.txt").exists());
}

#[test]
fn folder_that_is_to_hold_skills_is_not_created_by_a_script() {
    needs_sandbox!();
    let user = User::new("{ project: write }");
    user.write(
        ".config/skillfold/config.toml",
        "roots = [\"~/app/more\"]\n",
    );
    user.allow("app");
    insta::assert_snapshot!(user.run("app", "mkdir -p more/evil"), @"note: The script created `HOME/app/more`, which no skill may; it is now `HOME/app/more.removed-by-skillfold`");
    assert!(!user.home.join("app/more").exists());
}

#[test]
fn write_access_to_what_stays_read_only_is_refused() {
    for path in ["app/.git/hooks", "app/.claude/skills", "app/.zed"] {
        let user = User::new(&format!("{{ write: [~/{path}] }}"));
        fs::create_dir_all(user.home.join(path)).unwrap();
        let skills = user.at("other");
        let skill = skills.runnable("words").unwrap();
        let error = skill.check_grants().unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("Path cannot be granted to be written"),
            "{error}"
        );
    }
}

#[test]
fn failure_that_the_sandbox_caused_is_explained() {
    needs_sandbox!();
    let user = User::new("{}");
    user.allow("app");
    user.write("notes.txt", "mine");
    user.write(".ssh/id_rsa", "secret");
    let told = |commands: &str| {
        let told = user.run("app", commands);
        let notes = told.lines().filter(|line| line.starts_with("note: "));
        notes.map(|note| format!("{note}\n")).collect::<String>()
    };
    insta::assert_snapshot!(told("cat docs/a.txt"), @"note: `docs/a.txt` is in your project, which this skill may not read: `skillfold allow words --project read`");
    insta::assert_snapshot!(told("python3 -c 'open(\"out.csv\", \"w\")'"), @"note: `out.csv` is in your project, which this skill may not write: `skillfold allow words --project write`");
    insta::assert_snapshot!(told("cat ../notes.txt"), @"note: `~/notes.txt` exists, but this skill does not see it: `--read ~/notes.txt` shows it to one `skillfold run`");
    // Nobody learns whether a key exists.
    assert_eq!(
        told(&format!("cat {}/.ssh/id_rsa", user.home.display())),
        ""
    );
    // What failed for another reason has no explanation.
    assert_eq!(told("echo broken >&2; exit 3"), "");
    assert_eq!(told("cat docs/missing-folder/b.txt"), "");
    let skills = user.at("app");
    let skill = skills.runnable("words").unwrap();
    allow(&skills, &skill.with_project(ProjectAccess::Read));
    insta::assert_snapshot!(told("echo x > docs/b.txt"), @"note: `docs/b.txt` is in your project, which this skill may read but not write: `skillfold allow words --project write`");
    assert_eq!(told("cat docs/a.txt; exit 3"), "");
}

#[test]
fn host_without_a_project_runs_without_one() {
    needs_sandbox!();
    let user = User::new("{ project: read }");
    user.allow("app");
    let skills = user.at("app");
    let skill = skills.runnable_in("words", None).unwrap();
    assert_eq!(
        run(&skill, "pwd; cat docs/a.txt 2>/dev/null || echo hidden"),
        "/skill\nhidden\n"
    );
    let other = user.home.join("other");
    let skill = skills.runnable_in("words", Some(&other)).unwrap();
    assert!(skill.allowed().is_none());
    assert_eq!(Path::new("/"), other.ancestors().last().unwrap());
}

#[test]
fn unknown_words_for_the_project_are_granted_to_nobody() {
    for (asked, unknown) in [
        ("{ project: all }", "project: all"),
        ("{ project: [read, write] }", "project: read, write"),
        ("{ project: { read: x } }", "project: a mapping"),
        ("{ project: none }", ""),
    ] {
        let user = User::new(asked);
        let skills = user.at("app");
        let skill = skills.runnable("words").unwrap();
        assert_eq!(skill.project_access(), ProjectAccess::None, "{asked}");
        assert_eq!(skill.asked().unknown.join("; "), unknown, "{asked}");
    }
}

#[test]
fn limits_are_those_of_the_settings_or_lower() {
    needs_sandbox!();
    let user = User::new("{}");
    let environment = Environment::new(user.home.join("app")).home(&user.home);
    let host = Host::new(environment).set("script_seconds", "1");
    let skills = host.set("script_output_kb", "1").discover().unwrap().skills;
    allow(&skills, &skills.runnable("words").unwrap());
    let script: ResourcePath = "run.sh".parse().unwrap();
    let end = |skill: &RunnableSkill, commands: &str| {
        let run = skill.run(&script).unwrap().with_arguments([commands]);
        run.run().unwrap().end.code()
    };
    let skill = skills.runnable("words").unwrap();
    assert_eq!(end(&skill, "sleep 30"), "timeout");
    assert_eq!(end(&skill, "head -c 1025 /dev/zero"), "output_too_large");
    assert_eq!(end(&skill, "head -c 1024 /dev/zero"), "exited");
    let more = ScriptLimits::default().with_seconds(2);
    let refused = skill.clone().with_limits(more).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "Limit is higher than the setting `script_seconds`: 2, not 1"
    );
    // The user may.
    assert_eq!(
        end(&skill.clone().with_limits_of_user(more), "sleep 1.2"),
        "exited"
    );
    let few = ScriptLimits::default().with_processes(1);
    let skill = skill.with_limits(few).unwrap();
    assert_eq!(skill.options().limits().processes, 1);
}
