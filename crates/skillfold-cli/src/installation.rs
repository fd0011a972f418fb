//! How the running program was installed, and how to update it.
//!
//! Only what is beside the program, and the lists of the system's package managers, is looked at. Nothing of what they say is
//! shown; it only decides between the ways that are known here.

use std::fs::OpenOptions;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::Value;
use skillfold::Environment;
use skillfold::view::{OtherProgram, ProgramState};

/// The most bytes of a list that are read. Cargo's names every program that it installed.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// The most names of a folder that are read. An environment may have thousands of packages.
const MAX_NAMES: usize = 50_000;

/// How a program was installed: a word of [`WAYS`], and what to do for an update.
#[derive(Debug)]
struct Installation(&'static str, String);

/// Each way to install, and how a person calls it.
const WAYS: [(&str, &str); 16] = [
    ("build", "built by cargo and not installed"),
    ("bun", "installed by bun"),
    ("cargo", "installed by cargo"),
    ("dpkg", "installed by dpkg"),
    ("homebrew", "installed by Homebrew"),
    ("image", "part of a container image"),
    ("npm", "installed by npm"),
    ("npx", "in the cache of npx"),
    ("pip", "installed by pip"),
    ("pipx", "installed by pipx"),
    ("pnpm", "installed by pnpm"),
    ("rpm", "installed by rpm"),
    ("script", "installed by the install script"),
    ("unknown", "a copy that no package manager knows"),
    ("uv", "installed by uv"),
    ("uvx", "in the cache of uvx"),
];

/// Returns how a person calls a way to install.
pub(crate) fn description(way: &str) -> &'static str {
    let known = WAYS.iter().find(|(word, _)| *word == way);
    known.map_or("", |(_, text)| text)
}

/// Returns how the running program was installed, unless the system does not say which it is.
pub(crate) fn running() -> Option<ProgramState> {
    let program = Environment::real_program().ok()?;
    let Installation(way, update) = installation(&program, Path::new("/"));
    let on_path = Environment::programs_on_path().unwrap_or_default();
    Some(ProgramState {
        path: program.to_string_lossy().into_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        installed_by: way.to_owned(),
        to_update: update,
        others: others(&program, &on_path),
    })
}

/// Returns how a program was installed; `system` is the folder that the system starts at.
fn installation(program: &Path, system: &Path) -> Installation {
    let folder = program.parent().unwrap_or(program);
    // `PREFIX` of `PREFIX/bin/skillfold`.
    let prefix = folder.parent().unwrap_or(folder);
    let found = of_node(program)
        .or_else(|| of_homebrew(program))
        .or_else(|| of_python(program, prefix))
        .or_else(|| of_cargo(program, prefix))
        .or_else(|| of_script(prefix))
        .or_else(|| of_system(program, system))
        .or_else(|| of_build(folder));
    found.unwrap_or_else(|| Installation("unknown", "replace the file".to_owned()))
}

/// npm and the like have the program in `node_modules/@skillfold/SYSTEM`, where a script of `node_modules/skillfold` starts it.
fn of_node(program: &Path) -> Option<Installation> {
    let names = names(program);
    let is_ours = |pair: &[String]| pair == ["node_modules", "@skillfold"];
    if !names.windows(2).any(is_ours) {
        return None;
    }
    let first = names.iter().position(|name| name == "node_modules")?;
    let before = &names[..first];
    let has = |name: &str| before.iter().any(|it| it == name);
    if has("_npx") {
        let update = "run `npx skillfold@latest`".to_owned();
        return Some(Installation("npx", update));
    }
    if has(".bun") && has("global") {
        let update = "run `bun add --global skillfold@latest`".to_owned();
        return Some(Installation("bun", update));
    }
    let manager = if names[first..].iter().any(|name| name == ".pnpm") {
        "pnpm"
    } else {
        "npm"
    };
    let folder: PathBuf = program.components().take(first).collect();
    let is_global = match before.last().map(String::as_str) {
        // `/usr/lib/node_modules`, and `%APPDATA%\npm\node_modules`.
        Some("lib" | "npm") => !folder.join("package.json").is_file(),
        _ => manager == "pnpm" && has("global"),
    };
    let add = if manager == "npm" { "install" } else { "add" };
    let update = if is_global {
        format!("run `{manager} {add} --global skillfold@latest`")
    } else {
        let project = folder.display();
        format!("run `{manager} {add} skillfold@latest` in `{project}`")
    };
    Some(Installation(manager, update))
}

fn of_homebrew(program: &Path) -> Option<Installation> {
    let names = names(program);
    let is_ours = |pair: &[String]| pair == ["Cellar", "skillfold"];
    let update = "run `brew upgrade skillfold`".to_owned();
    let is_found = names.windows(2).any(is_ours);
    is_found.then_some(Installation("homebrew", update))
}

/// A wheel puts the program into an environment's `bin`, and says in `skillfold-VERSION.dist-info` what installed it.
fn of_python(program: &Path, prefix: &Path) -> Option<Installation> {
    let metadata = metadata_of_wheel(prefix)?;
    let environment = prefix.display();
    let tool = prefix.file_name()?.to_string_lossy();
    if prefix.join("uv-receipt.toml").is_file() {
        let update = format!("run `uv tool upgrade {tool}`");
        return Some(Installation("uv", update));
    }
    if prefix.join("pipx_metadata.json").is_file() {
        return Some(Installation("pipx", format!("run `pipx upgrade {tool}`")));
    }
    let names = names(program);
    let is_cached = |pair: &[String]| {
        let is_cache = pair[1].starts_with("archive-v") || pair[1].starts_with("environments-v");
        pair[0] == "uv" && is_cache
    };
    if names.windows(2).any(is_cached) {
        let update = "run `uvx skillfold@latest`".to_owned();
        return Some(Installation("uvx", update));
    }
    let installer = read(&metadata.join("INSTALLER")).unwrap_or_default();
    let (way, command) = match installer.trim() {
        "uv" => ("uv", "uv pip install --upgrade skillfold"),
        _ => ("pip", "python -m pip install --upgrade skillfold"),
    };
    let update = if prefix.join("pyvenv.cfg").is_file() {
        format!("run `{command}` in the environment `{environment}`")
    } else {
        format!("run `{command}`")
    };
    Some(Installation(way, update))
}

/// Returns the folder in which a wheel's metadata is, below the folder that it was installed in.
fn metadata_of_wheel(prefix: &Path) -> Option<PathBuf> {
    let library = prefix.join("lib");
    let versions = folder_names(&library).into_iter();
    let versions = versions.filter(|name| name.starts_with("python3"));
    let packages = versions.flat_map(|version| {
        let version = library.join(version);
        ["site-packages", "dist-packages"].map(|name| version.join(name))
    });
    // On Windows.
    let packages = packages.chain([prefix.join("Lib").join("site-packages")]);
    packages.into_iter().find_map(|folder| {
        let mut names = folder_names(&folder).into_iter();
        let is_ours =
            |name: &String| name.starts_with("skillfold-") && name.ends_with(".dist-info");
        Some(folder.join(names.find(is_ours)?))
    })
}

/// Cargo lists what it installed beside the folder `bin`, with where it came from:
/// `skillfold-cli 0.1.0 (registry+https://…)`.
fn of_cargo(program: &Path, prefix: &Path) -> Option<Installation> {
    let list: Value = serde_json::from_str(&read(&prefix.join(".crates2.json"))?).ok()?;
    let name = program.file_name()?.to_string_lossy();
    let installs = list.get("installs")?.as_object()?;
    let (package, _) = installs.iter().find(|(package, state)| {
        let programs = state.get("bins").and_then(Value::as_array);
        package.starts_with("skillfold-cli ")
            && programs.is_some_and(|it| it.iter().any(|it| *it == *name))
    })?;
    let update = if package.contains("(path+") {
        "run `cargo install --locked --path crates/skillfold-cli` in the checkout"
    } else if package.contains("(git+") {
        "run `cargo install --locked --git` with the same address"
    } else {
        "run `cargo install --locked skillfold-cli`"
    };
    Some(Installation("cargo", update.to_owned()))
}

/// The install script lists what it wrote; the container image has a file in the same folder.
fn of_script(prefix: &Path) -> Option<Installation> {
    let ours = prefix.join("share").join("skillfold");
    let receipt = read(&ours.join("installed.txt")).unwrap_or_default();
    if receipt.lines().any(|line| line == "file bin/skillfold") {
        let update = "run the install script of the newer version".to_owned();
        return Some(Installation("script", update));
    }
    let update = "pull a newer image".to_owned();
    let is_image = ours.join("image").is_file();
    is_image.then_some(Installation("image", update))
}

/// dpkg has a list of each package's files. rpm has a database, and no other manager is there.
fn of_system(program: &Path, system: &Path) -> Option<Installation> {
    let inside = Path::new("/").join(program.strip_prefix(system).ok()?);
    let list = read(&system.join("var/lib/dpkg/info/skillfold.list")).unwrap_or_default();
    if list.lines().any(|line| Path::new(line) == inside) {
        let update = "run `apt-get install --only-upgrade skillfold`".to_owned();
        return Some(Installation("dpkg", update));
    }
    let has_rpm = ["usr/lib/sysimage/rpm", "var/lib/rpm"];
    let has_rpm = has_rpm.iter().any(|folder| system.join(folder).is_dir());
    let has_dpkg = system.join("var/lib/dpkg/status").is_file();
    if inside != Path::new("/usr/bin/skillfold") || !has_rpm || has_dpkg {
        return None;
    }
    let update = if system.join("usr/bin/zypper").is_file() {
        "run `zypper update skillfold`"
    } else {
        "run `dnf upgrade skillfold`"
    };
    Some(Installation("rpm", update.to_owned()))
}

fn of_build(folder: &Path) -> Option<Installation> {
    let update = "build it again from the newer sources".to_owned();
    let is_build = folder.join(".fingerprint").is_dir();
    is_build.then_some(Installation("build", update))
}

/// Returns the other programs of those on `PATH`, each once. What starts this one is none: a link, a shim of a version manager,
/// and a script of npm or pnpm.
fn others(program: &Path, on_path: &[PathBuf]) -> Vec<OtherProgram> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let own = real(program);
    let package = node_package(&own);
    let (mut seen, mut others) = (Vec::new(), Vec::new());
    let mut is_first = true;
    for path in on_path {
        let found = real(path);
        let is_shim = path.components().any(|it| it.as_os_str() == "shims");
        let starts_package =
            || read(&found).is_some_and(|it| it.contains("node_modules/skillfold/"));
        let is_launcher =
            package.is_some() && (node_package(&found) == package || starts_package());
        if found == own || is_shim || is_launcher {
            is_first = false;
        } else if !seen.contains(&found) {
            let path = path.to_string_lossy().into_owned();
            others.push(OtherProgram {
                path,
                first: is_first,
            });
            seen.push(found);
            is_first = false;
        }
    }
    others
}

/// Returns the folder whose `node_modules` has a program.
fn node_package(program: &Path) -> Option<PathBuf> {
    let mut names = program.components();
    let index = names.position(|name| name.as_os_str() == "node_modules")?;
    Some(program.components().take(index).collect())
}

/// Returns the names in a path.
fn names(path: &Path) -> Vec<String> {
    let names = path.components();
    names
        .map(|name| name.as_os_str().to_string_lossy().into_owned())
        .collect()
}

/// Returns the text of a small file; nothing if it is not one.
fn read(path: &Path) -> Option<String> {
    // A pipe would wait for its other end.
    let metadata = path.metadata().ok()?;
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return None;
    }
    let file = OpenOptions::new().read(true).open(path).ok()?;
    let mut text = String::new();
    file.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Returns the names in a folder, in order.
fn folder_names(folder: &Path) -> Vec<String> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let names = entries.take(MAX_NAMES).map(|entry| entry.file_name());
    let mut names: Vec<_> = names.filter_map(|name| name.into_string().ok()).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use skillfold_testkit::folder;

    use super::{Installation, WAYS, description, installation, others};

    const PROGRAM: &str = "ELF";

    /// Returns how a program in a tree was installed, where the tree is the whole system.
    fn check(program: &str, tree: &str) -> String {
        let system = folder(&format!("//- {program}\n{PROGRAM}\n{tree}"));
        let Installation(way, update) = installation(&system.path().join(program), system.path());
        let system = system.path().to_string_lossy();
        format!("{}; to update, {}", description(way), update).replace(&*system, "")
    }

    #[test]
    fn cargo_is_known_by_its_list() {
        let list = |source: &str, package: &str| {
            let tree = format!(
                "//- home/user/.cargo/.crates2.json\n{{\"installs\":{{\"ripgrep 14.1.0 (registry+https://x)\":{{\"bins\":[\"rg\"]}},\
                 \"{package} 0.1.0 ({source})\":{{\"bins\":[\"skillfold\"]}}}}}}\n"
            );
            check("home/user/.cargo/bin/skillfold", &tree)
        };
        insta::assert_snapshot!(list("registry+https://github.com/rust-lang/crates.io-index", "skillfold-cli"), @"installed by cargo; to update, run `cargo install --locked skillfold-cli`");
        insta::assert_snapshot!(list("path+file:///home/user/skillfold/crates/skillfold-cli", "skillfold-cli"), @"installed by cargo; to update, run `cargo install --locked --path crates/skillfold-cli` in the checkout");
        insta::assert_snapshot!(list("git+https://example.com/skillfold#0123abc", "skillfold-cli"), @"installed by cargo; to update, run `cargo install --locked --git` with the same address");
        insta::assert_snapshot!(list("registry+https://x", "skillfold-client"), @"a copy that no package manager knows; to update, replace the file");
        insta::assert_snapshot!(check("home/user/.cargo/bin/skillfold", "//- home/user/.cargo/.crates2.json\n{ broken\n"), @"a copy that no package manager knows; to update, replace the file");
    }

    #[test]
    fn environments_of_python_say_what_made_them() {
        let wheel = |prefix: &str, installer: &str| {
            format!(
                "//- {prefix}/lib/python3.12/site-packages/skillfold-0.1.0.dist-info/INSTALLER\n{installer}\n"
            )
        };
        let venv =
            wheel("srv/app/.venv", "pip") + "//- srv/app/.venv/pyvenv.cfg\nhome = /usr/bin\n";
        insta::assert_snapshot!(check("srv/app/.venv/bin/skillfold", &venv), @"installed by pip; to update, run `python -m pip install --upgrade skillfold` in the environment `/srv/app/.venv`");
        let venv = wheel("srv/app/.venv", "uv") + "//- srv/app/.venv/pyvenv.cfg\nuv = 0.8\n";
        insta::assert_snapshot!(check("srv/app/.venv/bin/skillfold", &venv), @"installed by uv; to update, run `uv pip install --upgrade skillfold` in the environment `/srv/app/.venv`");
        let tool = wheel("data/uv/tools/skillfold", "uv")
            + "//- data/uv/tools/skillfold/uv-receipt.toml\n[tool]\n";
        insta::assert_snapshot!(check("data/uv/tools/skillfold/bin/skillfold", &tool), @"installed by uv; to update, run `uv tool upgrade skillfold`");
        insta::assert_snapshot!(check("cache/uv/archive-v0/0Ab/bin/skillfold", &wheel("cache/uv/archive-v0/0Ab", "uv")), @"in the cache of uvx; to update, run `uvx skillfold@latest`");
        let pipx = wheel("pipx/venvs/skillfold", "pip")
            + "//- pipx/venvs/skillfold/pipx_metadata.json\n{}\n";
        insta::assert_snapshot!(check("pipx/venvs/skillfold/bin/skillfold", &pipx), @"installed by pipx; to update, run `pipx upgrade skillfold`");
        insta::assert_snapshot!(check("home/user/.local/bin/skillfold", &wheel("home/user/.local", "pip")), @"installed by pip; to update, run `python -m pip install --upgrade skillfold`");
        let debian =
            "//- usr/local/lib/python3.11/dist-packages/skillfold-0.1.0.dist-info/INSTALLER\npip\n";
        insta::assert_snapshot!(check("usr/local/bin/skillfold", debian), @"installed by pip; to update, run `python -m pip install --upgrade skillfold`");
        let other = "//- srv/app/.venv/lib/python3.12/site-packages/skillfold_extra-0.1.0.dist-info/INSTALLER\npip\n";
        insta::assert_snapshot!(check("srv/app/.venv/bin/skillfold", other), @"a copy that no package manager knows; to update, replace the file");
    }

    #[test]
    fn packages_of_node_are_known_by_their_folder() {
        let native = "node_modules/@skillfold/linux-x64-gnu/skillfold";
        let at = |folder: &str| check(&format!("{folder}/{native}"), "");
        insta::assert_snapshot!(at("usr/lib/node_modules/skillfold"), @"installed by npm; to update, run `npm install --global skillfold@latest`");
        insta::assert_snapshot!(at("home/user/.nvm/versions/node/v24.0.0/lib"), @"installed by npm; to update, run `npm install --global skillfold@latest`");
        insta::assert_snapshot!(at("home/user/app"), @"installed by npm; to update, run `npm install skillfold@latest` in `/home/user/app`");
        insta::assert_snapshot!(check(&format!("home/user/lib/{native}"), "//- home/user/lib/package.json\n{}\n"), @"installed by npm; to update, run `npm install skillfold@latest` in `/home/user/lib`");
        insta::assert_snapshot!(at("home/user/.npm/_npx/0a1b"), @"in the cache of npx; to update, run `npx skillfold@latest`");
        insta::assert_snapshot!(at("home/user/app/node_modules/.pnpm/@skillfold+linux-x64-gnu@0.1.0"), @"installed by pnpm; to update, run `pnpm add skillfold@latest` in `/home/user/app`");
        insta::assert_snapshot!(at("home/user/.local/share/pnpm/global/5/node_modules/.pnpm/@skillfold+linux-x64-gnu@0.1.0"), @"installed by pnpm; to update, run `pnpm add --global skillfold@latest`");
        insta::assert_snapshot!(at("home/user/.bun/install/global"), @"installed by bun; to update, run `bun add --global skillfold@latest`");
    }

    #[test]
    fn packages_of_the_system_are_known_by_its_lists() {
        let dpkg = "//- var/lib/dpkg/status\n\n//- var/lib/dpkg/info/skillfold.list\n/.\n/usr/bin\n/usr/bin/skillfold\n";
        insta::assert_snapshot!(check("usr/bin/skillfold", dpkg), @"installed by dpkg; to update, run `apt-get install --only-upgrade skillfold`");
        insta::assert_snapshot!(check("usr/local/bin/skillfold", dpkg), @"a copy that no package manager knows; to update, replace the file");
        insta::assert_snapshot!(check("usr/bin/skillfold", "//- usr/lib/sysimage/rpm/rpmdb.sqlite\n\n"), @"installed by rpm; to update, run `dnf upgrade skillfold`");
        insta::assert_snapshot!(check("usr/bin/skillfold", "//- var/lib/rpm/Packages\n\n//- usr/bin/zypper\n\n"), @"installed by rpm; to update, run `zypper update skillfold`");
        insta::assert_snapshot!(check("usr/bin/skillfold", "//- var/lib/rpm/Packages\n\n//- var/lib/dpkg/status\n\n"), @"a copy that no package manager knows; to update, replace the file");
        insta::assert_snapshot!(check("opt/homebrew/Cellar/skillfold/0.1.0/bin/skillfold", ""), @"installed by Homebrew; to update, run `brew upgrade skillfold`");
    }

    #[test]
    fn install_script_image_and_build_leave_a_mark() {
        let receipt = "//- home/user/.local/share/skillfold/installed.txt\n# What it wrote\nversion 0.1.0\nfile bin/skillfold\n";
        insta::assert_snapshot!(check("home/user/.local/bin/skillfold", receipt), @"installed by the install script; to update, run the install script of the newer version");
        let other = receipt.replace("file bin/skillfold", "file bin/other");
        insta::assert_snapshot!(check("home/user/.local/bin/skillfold", &other), @"a copy that no package manager knows; to update, replace the file");
        insta::assert_snapshot!(check("usr/local/bin/skillfold", "//- usr/local/share/skillfold/image\n\n"), @"part of a container image; to update, pull a newer image");
        insta::assert_snapshot!(check("srv/app/target/debug/skillfold", "//- srv/app/target/debug/.fingerprint/x/y\n\n"), @"built by cargo and not installed; to update, build it again from the newer sources");
        insta::assert_snapshot!(check("opt/skillfold", ""), @"a copy that no package manager knows; to update, replace the file");
    }

    #[test]
    fn every_way_has_its_words_once() {
        assert!(WAYS.is_sorted());
        assert_eq!(description("else"), "");
    }

    /// Returns the others on `PATH`, which are the folders `a`, `b` and so on of a tree.
    #[cfg(unix)]
    fn check_path(program: &str, tree: &str, links: &[(&str, &str)]) -> String {
        let system = folder(&format!("//- {program}\n{PROGRAM}\n{tree}"));
        let at = |path: &str| system.path().join(path);
        for (link, target) in links {
            std::fs::create_dir_all(at(link).parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(at(target), at(link)).unwrap();
        }
        let on_path = ["a", "b", "c", "shims"].map(|name| at(name).join("skillfold"));
        let on_path: Vec<_> = on_path.into_iter().filter(|path| path.is_file()).collect();
        let found = others(&at(program), &on_path).into_iter();
        let shown = found.map(|it| {
            let path = Path::new(&it.path)
                .strip_prefix(system.path())
                .unwrap()
                .to_owned();
            format!("{}{}", path.display(), if it.first { " first" } else { "" })
        });
        shown.collect::<Vec<_>>().join(", ")
    }

    #[cfg(unix)]
    #[test]
    fn other_programs_on_path_are_named_with_the_one_that_starts() {
        let other = |folder: &str| format!("//- {folder}/skillfold\nother {folder}\n");
        assert_eq!(check_path("b/skillfold", "", &[]), "");
        assert_eq!(check_path("b/skillfold", &other("c"), &[]), "c/skillfold");
        let both = other("a") + &other("c");
        assert_eq!(
            check_path("b/skillfold", &both, &[]),
            "a/skillfold first, c/skillfold"
        );
        assert_eq!(
            check_path("elsewhere/skillfold", &both, &[]),
            "a/skillfold first, c/skillfold"
        );
        let links = [
            ("a/skillfold", "c/skillfold"),
            ("b/skillfold", "c/skillfold"),
        ];
        assert_eq!(check_path("c/skillfold", "", &links), "");
        assert_eq!(
            check_path("elsewhere/skillfold", &other("c"), &links),
            "a/skillfold first"
        );
        assert_eq!(check_path("c/skillfold", &other("shims"), &[]), "");
    }

    #[cfg(unix)]
    #[test]
    fn scripts_that_start_the_package_are_not_others() {
        let native = "lib/node_modules/skillfold/node_modules/@skillfold/linux-x64-gnu/skillfold";
        let script = "//- lib/node_modules/skillfold/bin/skillfold.js\n#!/usr/bin/env node\n";
        let links = [("a/skillfold", "lib/node_modules/skillfold/bin/skillfold.js")];
        assert_eq!(check_path(native, script, &links), "");
        let shim = "//- a/skillfold\nexec node global/5/node_modules/skillfold/bin/skillfold.js\n//- b/skillfold\nother\n";
        assert_eq!(check_path(native, shim, &[]), "b/skillfold");
    }
}
