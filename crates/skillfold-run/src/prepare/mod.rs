//! Installs a script's packages, in a sandbox with network access.

mod lock;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use skillfold_core::load::Digest;
use skillfold_core::name::ResourcePath;
use skillfold_core::text::ellipsize;

use self::lock::reduced_lock;
use crate::copy::SkillCopy;
use crate::dependencies::{Dependencies, Installer, python_of, requires_python};
use crate::error::{RunError, RunErrorKind};
use crate::installed::find;
use crate::interpreter::{Interpreter, candidates};
use crate::limits::RunLimits;
use crate::options::RunOptions;
use crate::packages::Packages;
use crate::permissions::Permissions;
use crate::process::LanguageHost;
use crate::run::Run;
use crate::supervise::{End, Observer, Outcome, Stream};

/// Runs `uv` with the script's Python: the one named in its reduced copy.
const PYTHON: LanguageHost = LanguageHost {
    files: &[("prepare.py", include_str!("python.py"))],
    interpreters: &[],
    module: None,
};

const NODE: LanguageHost = LanguageHost {
    files: &[("prepare.cjs", include_str!("node.cjs"))],
    interpreters: &[&["node"]],
    module: None,
};

/// Host variables passed to installers: package indexes and network settings.
const VARIABLES: [&str; 15] = [
    "ALL_PROXY",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NODE_EXTRA_CA_CERTS",
    "NO_PROXY",
    "NPM_CONFIG_REGISTRY",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "UV_DEFAULT_INDEX",
    "UV_EXTRA_INDEX_URL",
    "UV_INDEX",
    "UV_INDEX_URL",
    "http_proxy",
    "https_proxy",
    "npm_config_registry",
];

/// The reduced copy's files: those that name the packages, the hashes they may have, and a lock to follow.
const SCRIPT: &str = "requirements.py";
const HASHES: &str = "hashes.json";
const PACKAGE: &str = "package.json";
const OWN_LOCK: &str = "package-lock.json";
const EARLIER_LOCK: &str = "earlier-lock";

/// Maximum length of the installer's last output in an error.
const MAX_COMPLAINT: usize = 2000;

/// The packages of a skill's file, and everything needed to install them.
///
/// The installer runs in the sandbox: it gets the network, the target folder, and of the skill only the package names.
/// No code from the skill or a package runs: `uv` only takes wheels, `npm` skips package scripts.
pub struct Prepare<'a> {
    copy: &'a SkillCopy,
    dependencies: &'a Dependencies,
    variables: Vec<(String, String)>,
    lock: Option<Vec<u8>>,
    options: RunOptions,
    observer: Option<Observer<'a>>,
}

/// Installed packages.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prepared {
    /// The packages, to [grant](Permissions::with_packages) to runs.
    pub packages: Packages,
    /// Each package with its version, such as `requests 2.32.5`.
    pub installed: Vec<String>,
    /// The digest of everything that was installed: paths, bytes, executable bits and links.
    pub tree: Digest,
}

impl fmt::Debug for Prepare<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Prepare")
            .field("dependencies", &self.dependencies)
            .finish_non_exhaustive()
    }
}

impl<'a> Prepare<'a> {
    /// Creates a preparation.
    pub fn new(copy: &'a SkillCopy, dependencies: &'a Dependencies) -> Self {
        Self {
            copy,
            dependencies,
            variables: Vec::new(),
            lock: None,
            options: RunOptions::default(),
            observer: None,
        }
    }

    /// Returns the names of the variables that an installer may get: proxies, certificates and indexes.
    pub fn variables() -> &'static [&'static str] {
        &VARIABLES
    }

    /// Sets [variables](Self::variables) for the installer; others are ignored.
    #[must_use]
    pub fn with_variables(mut self, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let known = |(name, _): &(String, String)| VARIABLES.contains(&name.as_str());
        self.variables = variables.into_iter().filter(known).collect();
        self
    }

    /// Sets the [lock file](Packages::lock_file) of an earlier installation with the same [digest](Self::digest): its
    /// versions are installed, whatever has been released since.
    #[must_use]
    pub fn with_lock(mut self, lock: Vec<u8>) -> Self {
        self.lock = Some(lock);
        self
    }

    /// Sets the layers that may be missing, the search path and the token; limits and permissions are the installer's
    /// own.
    #[must_use]
    pub fn with_options(mut self, options: RunOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets a function that receives the installer's output, line by line.
    #[must_use]
    pub fn with_observer(mut self, mut observer: impl FnMut(&str) + 'a) -> Self {
        let mut line = Vec::new();
        self.observer = Some(Box::new(move |stream, bytes| {
            if stream != Stream::Stderr {
                return;
            }
            for part in bytes.split_inclusive(|byte| *byte == b'\n') {
                line.extend_from_slice(part);
                if part.ends_with(b"\n") {
                    observer(String::from_utf8_lossy(&line).trim_end());
                    line.clear();
                }
            }
        }));
        self
    }

    /// Returns the digest of everything that determines what is installed: the packages as listed in their file and its
    /// lock file, and the Python that runs the script. The file's name does not matter, nor does the skill.
    ///
    /// # Errors
    ///
    /// Fails with `invalid_dependencies` if the lock file is not understood.
    pub fn digest(&self) -> Result<Digest, RunError> {
        let installer = self.dependencies.installer;
        let files = self.reduced_files()?;
        let mut text = format!("{installer}\0{}\0", self.requires_python());
        if let (Installer::Uv, Some((script, bytes))) = (installer, files.first()) {
            // Packages with compiled parts are for one version of it.
            let (search, permissions) = (&self.options.search, &self.options.permissions);
            let found = find(&candidates(script, bytes), search, permissions, script);
            let python = found.map(|found| found.path).unwrap_or_default();
            text.push_str(&python.to_string_lossy());
        }
        let seen = self.reduced_copy(files)?.content_digest();
        Ok(Digest::sha256(format!("{text}\0{seen}").as_bytes()))
    }

    /// Checks that the installer is available.
    ///
    /// # Errors
    ///
    /// Fails with `interpreter_missing` if it is not.
    pub fn check_installer(&self) -> Result<(), RunError> {
        self.installer().map(|_| ())
    }

    /// Installs the packages in an empty host folder. A sandbox started by root runs as an unprivileged user, so the
    /// folder must be writable for it.
    ///
    /// # Errors
    ///
    /// Fails with `interpreter_missing` without the installer, and with `packages_not_installed` if it fails; the
    /// folder may then contain anything.
    pub fn install(mut self, folder: &Path) -> Result<Prepared, RunError> {
        if cfg!(not(unix)) {
            let message = "Packages cannot be installed on this system";
            let hint = "Install them yourself; scripts run with what the system has";
            return Err(RunError::new(RunErrorKind::NotPermitted, message, hint));
        }
        let observer = self.observer.take();
        let file = &self.dependencies.file;
        let mut files = self.reduced_files()?;
        let script = files.first().map(|(path, _)| path.clone());
        let script = script.unwrap_or_else(|| file.clone());
        if let Some(lock) = &self.lock {
            files.extend(EARLIER_LOCK.parse().ok().map(|path| (path, lock.clone())));
        }
        let copy = self.reduced_copy(files)?;
        let (host, program) = self.installer()?;
        let mut words: Vec<String> = [&*program, folder]
            .map(|path| path.to_string_lossy().into_owned())
            .into();
        if self.dependencies.installer == Installer::Uv {
            words.push(self.requires_python());
        }
        let options = (self.options.clone())
            .with_limits(limits())
            .with_permissions(self.permissions(&program, folder));
        let mut run = Run::new(&copy, &script)
            .with_language_host(host)
            .with_arguments(words)
            .with_options(options);
        if let Some(observer) = observer {
            run = run.with_observer(observer);
        }
        let outcome = run.run()?;
        let installed = self.installed(&outcome)?;
        let packages = Packages::new(file.clone(), self.dependencies.installer, folder);
        let tree = packages.read_tree()?;
        Ok(Prepared {
            packages: packages.with_tree(tree),
            installed,
            tree,
        })
    }

    /// Returns what an installer sees instead of the skill, the file that names the packages first: newly written files
    /// with what the user was shown and nothing else. The skill's own could also name other indexes, URLs and programs.
    fn reduced_files(&self) -> Result<Vec<(ResourcePath, Vec<u8>)>, RunError> {
        let file = &self.dependencies.file;
        let mut files = Vec::new();
        match self.dependencies.installer {
            Installer::Uv => {
                files.push((SCRIPT, self.reduced_script()?));
                if !self.dependencies.hashes.is_empty() {
                    files.push((HASHES, json!(self.dependencies.hashes).to_string()));
                }
            }
            Installer::Npm => {
                let names = self.node_packages();
                files.push((PACKAGE, json!({ "dependencies": names }).to_string()));
                let folder = file.as_str().strip_suffix(PACKAGE);
                let lock = folder.map(|folder| format!("{folder}{OWN_LOCK}"));
                let lock: Option<ResourcePath> = lock.and_then(|lock| lock.parse().ok());
                let bytes = lock.as_ref().and_then(|lock| self.copy.file(lock));
                if let (Some(lock), Some(bytes)) = (&lock, bytes) {
                    files.push((OWN_LOCK, reduced_lock(lock, bytes)?));
                }
            }
        }
        let files = files.into_iter();
        let files = files.filter_map(|(path, text)| Some((path.parse().ok()?, text.into_bytes())));
        Ok(files.collect())
    }

    fn reduced_copy(&self, files: Vec<(ResourcePath, Vec<u8>)>) -> Result<SkillCopy, RunError> {
        SkillCopy::new(files).map_err(|error| {
            let file = &self.dependencies.file;
            let message = format!("Packages of `{file}` cannot be installed: {error}");
            let kind = RunErrorKind::PackagesNotInstalled;
            RunError::new(kind, message, "Correct the file")
        })
    }

    /// Returns a script with only the packages. Its shebang names the interpreter, without arguments: these could be
    /// code.
    fn reduced_script(&self) -> Result<String, RunError> {
        let python = python_of(self.copy, &self.dependencies.file)?;
        // JSON strings are valid TOML strings.
        let names = json!(self.dependencies.requirements);
        Ok(format!(
            "#!/usr/bin/env {python}\n# /// script\n# dependencies = {names}\n# ///\n"
        ))
    }

    /// Returns the Python versions that the script requires.
    fn requires_python(&self) -> String {
        let bytes = self.copy.file(&self.dependencies.file);
        requires_python(bytes.unwrap_or_default())
    }

    /// Returns the packages for npm, with their versions.
    fn node_packages(&self) -> Value {
        let requirements = self.dependencies.requirements.iter();
        let pairs = requirements.filter_map(|text| text.rsplit_once('@'));
        pairs
            .map(|(name, version)| (name.to_owned(), json!(version)))
            .collect()
    }

    fn permissions(&self, program: &Path, folder: &Path) -> Permissions {
        let permissions = self.options.permissions.only_interpreters();
        let mut permissions = permissions.with_network().with_write(folder);
        let npm = program.parent().and_then(Path::parent);
        let read = match (self.dependencies.installer, npm) {
            (Installer::Npm, Some(npm)) if npm.ends_with("npm") => npm,
            _ => program,
        };
        // Every run can read what is in there.
        if !read.starts_with("/usr") {
            permissions = permissions.with_read(read);
        }
        for (name, value) in &self.variables {
            let is_file = name.contains("CERT");
            if is_file && Path::new(value).is_absolute() && Path::new(value).exists() {
                permissions = permissions.with_read(value);
            }
            permissions = permissions.with_variable(name, value);
        }
        // The name differs between uv releases; without it, only uv's bundled certificates count.
        permissions
            .with_variable("UV_SYSTEM_CERTS", "true")
            .with_variable("UV_NATIVE_TLS", "true")
    }

    /// Returns the installer's host and its program.
    fn installer(&self) -> Result<(LanguageHost, PathBuf), RunError> {
        Ok(match self.dependencies.installer {
            Installer::Uv => (PYTHON, self.uv()?),
            Installer::Npm => (NODE, self.npm()?),
        })
    }

    fn uv(&self) -> Result<PathBuf, RunError> {
        let wanted = Interpreter {
            program: "uv".to_owned(),
            arguments: Vec::new(),
        };
        let (search, permissions) = (&self.options.search, &self.options.permissions);
        let found = find(&[wanted], search, permissions, &self.dependencies.file);
        Ok(found.map_err(|_| self.missing())?.path)
    }

    /// Returns the npm program, which is a Node script.
    fn npm(&self) -> Result<PathBuf, RunError> {
        let absolute = self
            .options
            .search
            .iter()
            .filter(|folder| folder.is_absolute());
        let mut real = absolute.filter_map(|folder| folder.join("npm").canonicalize().ok());
        real.find(|path| path.extension().is_some_and(|extension| extension == "js"))
            .ok_or_else(|| self.missing())
    }

    fn missing(&self) -> RunError {
        let installer = self.dependencies.installer;
        let file = &self.dependencies.file;
        let message =
            format!("`{installer}` is not installed; it installs the packages of `{file}`");
        let hint = match installer {
            Installer::Uv => "Install it, or add its folder to PATH: https://docs.astral.sh/uv/",
            Installer::Npm => "Install Node with npm, or add its folder to PATH",
        };
        RunError::new(RunErrorKind::InterpreterMissing, message, hint)
    }

    /// Returns what was installed, as reported by this crate's program.
    fn installed(&self, outcome: &Outcome) -> Result<Vec<String>, RunError> {
        let file = &self.dependencies.file;
        let failed = |why: &str, hint| {
            let message = format!("Packages of `{file}` were not installed: {why}");
            Err(RunError::new(
                RunErrorKind::PackagesNotInstalled,
                message,
                hint,
            ))
        };
        match outcome.end {
            End::Exited(0) => match serde_json::from_slice(&outcome.stdout) {
                Ok(installed) => Ok(installed),
                Err(error) => failed(&error.to_string(), "Try again"),
            },
            End::Exited(_) => {
                let text = outcome.stderr_text();
                let lines: Vec<&str> = text.lines().map(str::trim).collect();
                let text = lines.join(" ");
                let text = text.trim();
                let last = text.len().saturating_sub(MAX_COMPLAINT);
                let from = (last..text.len()).find(|at| text.is_char_boundary(*at));
                let hint = match self.lock {
                    None => {
                        "See the installer's output; a package without a wheel or with an install script cannot be used"
                    }
                    Some(_) => {
                        "See the installer's output; it follows the lock of the first installation, and `skillfold allow` with the skill's id and `--remove` removes that"
                    }
                };
                failed(&ellipsize(&text[from.unwrap_or(0)..], MAX_COMPLAINT), hint)
            }
            end => failed(end.code(), "Try again, or with fewer packages"),
        }
    }
}

fn limits() -> RunLimits {
    const GIB: u64 = 1024 * 1024 * 1024;
    let time = Duration::from_secs(600);
    RunLimits::default()
        .with_wall_time(time)
        .with_cpu_time(time)
        .with_memory_bytes(4 * GIB)
        .with_processes(256)
        .with_open_files(4096)
        .with_file_bytes(2 * GIB)
}
