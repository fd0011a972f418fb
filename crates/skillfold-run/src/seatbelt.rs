//! Seatbelt: the sandbox of macOS, which refuses by path what a profile does not allow.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::permissions::Network;
use crate::request::{Mount, MountAccess};

/// What every profile begins with. Paths, services and values that system libraries need at their start.
const BASE: &str = include_str!("seatbelt/base.sb");

/// What a profile with the whole network has too: name resolution, and the check of certificates.
const NETWORK: &str = include_str!("seatbelt/network.sb");

/// A profile's parts.
#[derive(Debug)]
struct Profile<'a> {
    mounts: &'a [Mount],
    skill: &'a Path,
    scratch: &'a Path,
    /// Names that no run may create or change, wherever they are.
    names: &'a [String],
    network: &'a Network,
}

impl Profile<'_> {
    /// Returns its text. The last rule that fits an operation counts.
    fn text(&self) -> Result<String, PathBuf> {
        let mut text = BASE.to_owned();
        let mut seen: Vec<&Path> = vec![self.skill, self.scratch];
        seen.extend(self.mounts.iter().map(|mount| &*mount.source));
        for folder in seen.iter().flat_map(|path| path.ancestors().skip(1)) {
            // Programs resolve links name by name.
            let rule = rule("allow file-read-metadata", "literal", folder)?;
            if !text.contains(&rule) {
                text.push_str(&rule);
            }
        }
        let read = "allow file-read* file-map-executable process-exec";
        text.push_str(&rule(read, "subpath", self.skill)?);
        for mount in self.mounts.iter().filter(|mount| !mount.is_part) {
            let what = match mount.access {
                MountAccess::Device => continue,
                MountAccess::Read | MountAccess::Write => read,
            };
            text.push_str(&rule(what, "subpath", &mount.source)?);
            if mount.access == MountAccess::Write {
                text.push_str(&rule("allow file-write*", "subpath", &mount.source)?);
            }
        }
        for name in self.names {
            let _ = writeln!(
                text,
                "(deny file-write* (regex #\"/{}(/|$)\"))",
                escaped(name)
            );
        }
        for mount in self.mounts.iter().filter(|mount| mount.is_part) {
            text.push_str(&rule("deny file-write*", "subpath", &mount.source)?);
        }
        // Modes and attributes would stay on files that a run leaves behind.
        text.push_str(
            "(deny file-write-setugid file-write-xattr file-write-flags file-write-acl)\n",
        );
        text.push_str(&rule(
            &format!("{read} file-write*"),
            "subpath",
            self.scratch,
        )?);
        if matches!(self.network, Network::Host) {
            text.push_str(NETWORK);
        }
        Ok(text)
    }
}

/// Returns a rule for a path, or the path if it cannot be written in one.
fn rule(what: &str, kind: &str, path: &Path) -> Result<String, PathBuf> {
    let text = path
        .to_str()
        .filter(|text| !text.contains(char::is_control));
    let text = text.ok_or_else(|| path.to_owned())?;
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    Ok(format!("({what} ({kind} \"{text}\"))\n"))
}

/// Returns a name as a regular expression that fits it in any case, as file systems of macOS do.
fn escaped(name: &str) -> String {
    let one = |character: char| match character {
        'a'..='z' | 'A'..='Z' => {
            let (lower, upper) = (
                character.to_ascii_lowercase(),
                character.to_ascii_uppercase(),
            );
            format!("[{lower}{upper}]")
        }
        _ if character.is_ascii_punctuation() => format!("[{character}]"),
        _ => character.to_string(),
    };
    name.chars().map(one).collect()
}

#[cfg(target_os = "macos")]
pub use self::start::Seatbelt;

#[cfg(target_os = "macos")]
mod start {
    use std::io;
    use std::path::Path;
    use std::process::Command;
    use std::time::Duration;

    use super::Profile;
    use crate::error::{RunError, RunErrorKind};
    use crate::layers::{Layer, SandboxReport};
    use crate::limits::RunLimits;
    use crate::permissions::Network;
    use crate::process::Process;
    use crate::process_group::{self, Leader};
    use crate::request::RunRequest;
    use crate::sandbox::Sandbox;
    use crate::skill_folder::{Readers, SkillFolder};

    const PROGRAM: &str = "/usr/bin/sandbox-exec";

    /// Lowers the limits, and becomes the program.
    const LIMIT: &str = "ulimit -c 0; ulimit -t \"$1\" && ulimit -f \"$2\" && ulimit -n \"$3\" && shift 3 && exec \"$@\"";

    /// Seatbelt, by `sandbox-exec`.
    #[derive(Clone, Copy, Debug, Default)]
    #[expect(clippy::exhaustive_structs, reason = "there is nothing to configure")]
    pub struct Seatbelt;

    impl Sandbox for Seatbelt {
        fn report(&self) -> SandboxReport {
            let report = SandboxReport::new("Seatbelt", [Layer::Seatbelt, Layer::ResourceLimits]);
            if Path::new(PROGRAM).exists() {
                return report;
            }
            let why = format!("`{PROGRAM}` is missing");
            report.without(Layer::Seatbelt, &why)
        }

        fn start(&self, request: &RunRequest<'_>) -> Result<Process, RunError> {
            if matches!(request.network(), Network::Hosts(_)) {
                let message = "On macOS the network cannot be limited to hosts";
                let hint = "Run it on Linux, or ask for the whole network (`network: true`)";
                return Err(RunError::new(RunErrorKind::BoxUnavailable, message, hint));
            }
            start(request).map_err(|error| {
                let message = format!("Could not start `{}` in Seatbelt", request.script());
                RunError::failed_to_start(message, error)
            })
        }
    }

    fn start(request: &RunRequest<'_>) -> io::Result<Process> {
        let folder = SkillFolder::create(request, Readers::Owner)?.with_scratch(request)?;
        let (skill, scratch) = (folder.skill(), folder.scratch());
        let (skill, scratch) = (skill.canonicalize()?, scratch.canonicalize()?);
        let (skill_text, scratch_text) = (skill.to_string_lossy(), scratch.to_string_lossy());
        // The files beside the skill too.
        let beside = skill.parent().unwrap_or(&skill);
        let profile = Profile {
            mounts: &request.mounts(&skill)?,
            skill: beside,
            scratch: &scratch,
            names: request.permissions.protected().read_only_names(),
            network: request.network(),
        };
        let text = profile.text().map_err(|path| {
            let why = format!("path cannot be named in a profile: `{}`", path.display());
            io::Error::other(why)
        })?;
        let words = request.command_line(&skill_text);
        #[expect(clippy::disallowed_methods, reason = "this is the runner")]
        let mut command = Command::new(PROGRAM);
        command
            .args(["-p", &text, "/bin/sh", "-c", LIMIT, "sh"])
            .args(limits(request.limits()))
            .arg(request.program())
            .args(words.iter().skip(1))
            .env_clear()
            .envs(request.variables(&scratch_text, &skill_text))
            .current_dir(request.directory().unwrap_or(&skill));
        process_group::start(command, Leader::Host, request.input(), folder)
    }

    /// Returns the limits in the units of the shell.
    fn limits(limits: &RunLimits) -> [String; 3] {
        let seconds = match limits.cpu_time {
            Duration::MAX => "unlimited".to_owned(),
            time => time.as_secs().max(1).to_string(),
        };
        let blocks = limits.file_bytes / 512;
        [seconds, blocks.to_string(), limits.open_files.to_string()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(path: &str, access: MountAccess) -> Mount {
        Mount::for_tests(path, access)
    }

    #[test]
    fn profile_allows_what_the_run_may_and_nothing_else() {
        let mut part = mount("/Users/ada/project/.git", MountAccess::Read);
        part.is_part = true;
        let mounts = [
            mount("/usr", MountAccess::Read),
            mount("/dev/null", MountAccess::Device),
            mount("/Users/ada/a \"quoted\" \\ name", MountAccess::Read),
            mount("/Users/ada/project", MountAccess::Write),
            part,
        ];
        let profile = Profile {
            mounts: &mounts,
            skill: Path::new("/private/var/run-1"),
            scratch: Path::new("/private/var/run-1/tmp"),
            names: &[".git".to_owned(), ".mcp.json".to_owned()],
            network: &Network::None,
        };
        insta::assert_snapshot!(profile.text().unwrap());
    }

    #[test]
    fn whole_network_is_allowed_only_if_it_was_granted() {
        let profile = |network| Profile {
            mounts: &[],
            skill: Path::new("/skill"),
            scratch: Path::new("/tmp"),
            names: &[],
            network,
        };
        let (none, host) = (profile(&Network::None), profile(&Network::Host));
        let (none, host) = (none.text().unwrap(), host.text().unwrap());
        assert!(!none.contains("network"), "{none}");
        assert_eq!(host.strip_prefix(&none), Some(NETWORK));
    }

    #[test]
    fn path_that_would_end_its_rule_is_refused() {
        for path in ["/a\nb", "/a\u{0}b", "/a\u{7f}"] {
            rule("allow file-read*", "subpath", Path::new(path)).unwrap_err();
        }
        let rule = rule(
            "allow file-read*",
            "literal",
            Path::new("/\")) (allow default"),
        );
        insta::assert_snapshot!(rule.unwrap(), @r#"(allow file-read* (literal "/\")) (allow default"))"#);
    }
}
