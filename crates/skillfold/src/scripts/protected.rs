//! Files and folders of the user that no skill gets, whatever it asks for.
//!
//! Credentials are neither read nor written. Whatever could run outside the sandbox later is not written: start files, the
//! settings of clients, skills. The folders above them are not granted either, which is why no skill gets the home.

use std::path::PathBuf;

use skillfold_run::Protected;

use crate::discovery::roots::{RootStatus, SearchedRoot};
use crate::environment::{Environment, real_path};

/// Credentials in a home.
const SECRET: [&str; 38] = [
    ".aws",
    ".azure",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".claude.json",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".config/BraveSoftware",
    ".config/chromium",
    ".config/containers/auth.json",
    ".config/gcloud",
    ".config/gh",
    ".config/git/credentials",
    ".config/google-chrome",
    ".config/op",
    ".config/rclone",
    ".docker",
    ".gem/credentials",
    ".gemini/oauth_creds.json",
    ".git-credentials",
    ".gnupg",
    ".kube",
    ".local/share/keyrings",
    ".local/share/opencode/auth.json",
    ".m2/settings.xml",
    ".mozilla",
    ".my.cnf",
    ".netrc",
    ".npmrc",
    ".password-store",
    ".pgpass",
    ".pypirc",
    ".qwen/oauth_creds.json",
    ".ssh",
    ".terraform.d",
    ".thunderbird",
    ".vault-token",
    "Library/Keychains",
];

/// What is started or read by programs outside the sandbox, in a home.
const UNWRITABLE: [&str; 51] = [
    ".agent",
    ".agents",
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".cargo/bin",
    ".cargo/config.toml",
    ".claude",
    ".codex",
    ".config/autostart",
    ".config/Claude",
    ".config/Code",
    ".config/environment.d",
    ".config/fish",
    ".config/git",
    ".config/goose",
    ".config/nushell",
    ".config/nvim",
    ".config/opencode",
    ".config/systemd",
    ".config/zed",
    ".copilot",
    ".cursor",
    ".emacs",
    ".emacs.d",
    ".factory",
    ".gemini",
    ".gitconfig",
    ".inputrc",
    ".local/bin",
    ".local/lib",
    ".local/share/applications",
    ".local/share/systemd",
    ".openclaw",
    ".profile",
    ".qwen",
    ".skillfold",
    ".tmux.conf",
    ".vim",
    ".vimrc",
    ".vscode",
    ".xprofile",
    ".xsession",
    ".zlogin",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "Library",
    "bin",
];

/// Returns what no skill gets: what is named above, the engine's own folders, and the roots of skills.
pub(super) fn protected(environment: &Environment, roots: &[SearchedRoot]) -> Protected {
    let home = environment.home_dir();
    let in_home = |names: &'static [&str]| {
        names.iter().flat_map(|name| {
            let moved = environment.moved_path(name);
            home.map(|home| home.join(name)).into_iter().chain(moved)
        })
    };
    let own = [
        environment.state_folder(),
        environment.data_folder(),
        environment.user_settings(),
    ];
    let is_there =
        |root: &&SearchedRoot| !matches!(root.status, RootStatus::Absent | RootStatus::Missing(_));
    let roots = roots.iter().filter(is_there).map(|root| root.path.clone());
    let secret = in_home(&SECRET).chain(own.into_iter().flatten());
    let unwritable = in_home(&UNWRITABLE)
        .chain(environment.cache_folder())
        .chain(roots);
    let protected = Protected::default()
        .with_secret(secret.flat_map(with_real_path))
        .with_unwritable(unwritable.flat_map(with_real_path));
    match home {
        Some(home) => protected.with_home(real_path(home).unwrap_or_else(|| home.to_owned())),
        None => protected,
    }
}

/// Returns a path, and where it leads: a grant may name either. Where there is nothing yet, the folder above may be a link.
fn with_real_path(path: PathBuf) -> impl Iterator<Item = PathBuf> {
    let real = path.ancestors().find_map(|above| {
        let rest = path.strip_prefix(above).ok()?;
        Some(real_path(above)?.join(rest))
    });
    let real = real.filter(|real| *real != path);
    [path].into_iter().chain(real)
}
