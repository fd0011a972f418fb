//! The command's human-readable output, on a pipe and on a terminal.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use skillfold::core::diagnostic::visible;

/// The command, for some root.
pub(super) struct Terminal {
    program: PathBuf,
    root: PathBuf,
    home: PathBuf,
}

#[expect(
    clippy::disallowed_methods,
    reason = "the command is run as people run it"
)]
impl Terminal {
    pub(super) fn new(
        named: Option<&Path>,
        root: &Path,
        home: &Path,
    ) -> Result<Self, Box<dyn Error>> {
        let beside = std::env::current_exe()?.with_file_name("skillfold");
        let program = named.unwrap_or(&beside).to_owned();
        if !program.exists() {
            let hint = "build it: cargo build --profile smoke -p skillfold-cli";
            return Err(format!("there is no `{}`; {hint}", program.display()).into());
        }
        Ok(Self {
            program,
            root: root.to_owned(),
            home: home.to_owned(),
        })
    }

    /// Runs the command and returns what is wrong with its output.
    pub(super) fn print(&self, arguments: &[&str]) -> Result<(), String> {
        let mut command = Command::new(&self.program);
        command.args(arguments).arg("--root").arg(&self.root);
        self.printed(&mut command)
    }

    /// Runs the command on a terminal created by `script` and returns what is wrong with its output.
    pub(super) fn show(&self, arguments: &[&str]) -> Result<(), String> {
        let mut line = self.program.display().to_string();
        let root = self.root.display().to_string();
        for argument in arguments.iter().chain(&["--root", &root]) {
            line.push_str(" '");
            line.push_str(&argument.replace('\'', "'\\''"));
            line.push('\'');
        }
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]);
        self.printed(&mut command)
    }

    fn printed(&self, command: &mut Command) -> Result<(), String> {
        let output = command
            .current_dir(&self.home)
            .env("HOME", &self.home)
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .output()
            .map_err(|error| error.to_string())?;
        // 101 is a panic; other codes mean that problems were found or something was refused.
        if output.status.code().is_none_or(|code| code == 101) {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{}: {}", output.status, visible(said.trim_end())));
        }
        harmless(&output.stdout).and_then(|()| harmless(&output.stderr))
    }
}

/// Fails at the first control or invisible character.
fn harmless(bytes: &[u8]) -> Result<(), String> {
    let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
    for line in text.split('\n') {
        // A terminal ends lines with both.
        let line = line.strip_suffix('\r').unwrap_or(line).replace('\t', " ");
        let is_odd = line.contains(char::is_control) || visible(&line) != line;
        if is_odd {
            return Err(format!("printed {}", visible(&line)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::harmless;

    #[test]
    fn terminal_control_characters_are_detected() {
        assert!(harmless("a b\tc\r\nd\n".as_bytes()).is_ok());
        for odd in ["\u{1b}[31m", "\u{9b}", "a\rb", "\u{202e}", "\u{7f}"] {
            assert!(harmless(odd.as_bytes()).is_err(), "{odd:?}");
        }
        assert!(harmless(b"\xff").is_err());
    }
}
