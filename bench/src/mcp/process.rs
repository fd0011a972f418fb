//! A server in its own process.

use std::error::Error;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A server process, killed on drop.
pub(crate) struct Process {
    child: Child,
    pub(crate) address: SocketAddr,
}

/// What both servers print before the address.
pub(crate) const LISTENING: &str = "Listening on http://";

#[expect(
    clippy::disallowed_methods,
    reason = "a bench starts what it measures, and asks the system what it took"
)]
impl Process {
    /// Starts the command with some skills.
    pub(crate) fn skillfold(
        named: Option<&Path>,
        home: &Path,
        skills: &Path,
    ) -> Result<Self, Box<dyn Error>> {
        let beside = std::env::current_exe()?.with_file_name("skillfold");
        let path = named.unwrap_or(&beside);
        if !path.exists() {
            let hint = "build it: cargo build --release -p skillfold-cli";
            return Err(format!("there is no `{}`; {hint}", path.display()).into());
        }
        let mut command = Command::new(path);
        command.args(["serve", "--http", "0", "--no-token", "--root"]);
        command
            .arg(skills)
            .current_dir(home)
            .env_clear()
            .env("HOME", home);
        Self::start(command.stdin(Stdio::null()).stderr(Stdio::piped()))
    }

    /// Starts this program as the bare server, with responses of these sizes.
    pub(crate) fn bare(sizes: &[String]) -> Result<Self, Box<dyn Error>> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["mcp", "--bare"]);
        for size in sizes {
            command.args(["--size", size]);
        }
        Self::start(command.stdin(Stdio::null()).stderr(Stdio::piped()))
    }

    fn start(command: &mut Command) -> Result<Self, Box<dyn Error>> {
        let mut child = command.spawn()?;
        let talk = child.stderr.take().ok_or("stderr is piped")?;
        let mut lines = BufReader::new(talk).lines();
        let address = loop {
            let line = lines.next().ok_or("the server said nothing")??;
            if let Some(address) = line.strip_prefix(LISTENING) {
                break address.trim_end_matches("/mcp").parse()?;
            }
        };
        // Drains its later output, so that it never blocks.
        std::thread::spawn(move || lines.for_each(drop));
        Ok(Self { child, address })
    }

    /// Returns the CPU seconds used so far.
    pub(crate) fn cpu(&self) -> Result<f64, Box<dyn Error>> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let (_, fields) = stat.rsplit_once(')').ok_or("no stat")?;
        let ticks = fields.split_whitespace().skip(11).take(2);
        let ticks: Result<Vec<u32>, _> = ticks.map(str::parse).collect();
        // A tick is a hundredth of a second on every Linux.
        Ok(f64::from(ticks?.iter().sum::<u32>()) / 100.0)
    }

    /// Returns its private memory in bytes.
    pub(crate) fn memory(&self) -> Result<u64, Box<dyn Error>> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let held = status
            .lines()
            .find_map(|line| line.strip_prefix("RssAnon:"));
        let held = held.ok_or("no RssAnon")?.trim().trim_end_matches(" kB");
        Ok(held.parse::<u64>()? * 1024)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may already have exited.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
