//! Files and folders of the user that no skill gets, whatever it asks for.
//!
//! Credentials, start-up files of shells, the settings of clients and our own files are neither read nor written. Whatever else
//! could run outside the sandbox later is not written: programs, skills. The folders above them are not granted either, which is
//! why no skill gets the home. In the user's project it stays read-only.

use std::path::{Path, PathBuf};

use skillfold_run::Protected;

use crate::discovery::roots::{RootStatus, SearchedRoot};
use crate::environment::{Environment, real_path};

/// Credentials, and files that often hold some, in a home.
const SECRET: [&str; 113] = [
    ".aws",
    ".azure",
    ".bash_aliases",
    ".bash_history",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".boto",
    ".cache/huggingface/token",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".claude.json",
    ".claude/.credentials.json",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".cloudflared",
    ".codeium/windsurf/mcp_config.json",
    ".codex/auth.json",
    ".codex/config.toml",
    ".codex/hooks.json",
    ".config/.wrangler",
    ".config/Bitwarden",
    ".config/BraveSoftware",
    ".config/chromium",
    ".config/Claude",
    ".config/Code/User/mcp.json",
    ".config/Code/User/settings.json",
    ".config/containers/auth.json",
    ".config/doctl",
    ".config/fish",
    ".config/gcloud",
    ".config/gh",
    ".config/git/credentials",
    ".config/glab-cli",
    ".config/google-chrome",
    ".config/goose",
    ".config/hcloud",
    ".config/heroku",
    ".config/hub",
    ".config/keepassxc",
    ".config/microsoft-edge",
    ".config/netlify",
    ".config/nushell",
    ".config/op",
    ".config/opencode/opencode.json",
    ".config/opencode/opencode.jsonc",
    ".config/opera",
    ".config/rclone",
    ".config/stripe",
    ".config/vivaldi",
    ".config/zed",
    ".copilot/config.json",
    ".copilot/hooks",
    ".copilot/mcp-config.json",
    ".cshrc",
    ".cursor/hooks.json",
    ".cursor/mcp.json",
    ".databrickscfg",
    ".docker",
    ".factory/mcp.json",
    ".factory/settings.json",
    ".fly",
    ".gem/credentials",
    ".gemini/oauth_creds.json",
    ".gemini/settings.json",
    ".git-credentials",
    ".gnupg",
    ".inputrc",
    ".kshrc",
    ".kube",
    ".librewolf",
    ".local/share/com.vercel.cli",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".local/share/opencode/auth.json",
    ".login",
    ".m2/settings.xml",
    ".mozilla",
    ".my.cnf",
    ".netrc",
    ".npmrc",
    ".oci",
    ".openclaw/openclaw.json",
    ".password-store",
    ".pgpass",
    ".pki",
    ".profile",
    ".pypirc",
    ".qwen/oauth_creds.json",
    ".qwen/settings.json",
    ".s3cfg",
    ".ssh",
    ".tcshrc",
    ".terraform.d",
    ".thunderbird",
    ".var/app",
    ".vault-token",
    ".wrangler",
    ".xprofile",
    ".xsession",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zsh_history",
    ".zshenv",
    ".zshrc",
    "Library/Application Support",
    "Library/Cookies",
    "Library/Keychains",
    "Library/Safari",
    "snap/chromium",
    "snap/firefox",
];

/// What else is started or read by programs outside the sandbox, in a home.
const UNWRITABLE: [&str; 47] = [
    ".agent",
    ".agents",
    ".asdf",
    ".bun",
    ".cargo/bin",
    ".cargo/config.toml",
    ".claude",
    ".codeium",
    ".codex",
    ".config/autostart",
    ".config/Code",
    ".config/environment.d",
    ".config/git",
    ".config/mise",
    ".config/nvim",
    ".config/opencode",
    ".config/pip",
    ".config/systemd",
    ".config/uv",
    ".copilot",
    ".cursor",
    ".deno",
    ".emacs",
    ".emacs.d",
    ".factory",
    ".gemini",
    ".gitconfig",
    ".local/bin",
    ".local/lib",
    ".local/share/applications",
    ".local/share/fnm",
    ".local/share/mise",
    ".local/share/systemd",
    ".local/share/uv",
    ".nvm",
    ".openclaw",
    ".pyenv",
    ".qwen",
    ".rbenv",
    ".skillfold",
    ".tmux.conf",
    ".vim",
    ".vimrc",
    ".vscode",
    ".windsurf",
    "bin",
    "Library",
];

/// What stays read-only in every folder that a skill may write, wherever it is: repositories, whose hooks run outside the
/// sandbox, settings of clients and editors, and skills.
const READ_ONLY: [&str; 40] = [
    ".agent",
    ".agents",
    ".amp",
    ".augment",
    ".claude",
    ".cline",
    ".codeium",
    ".codex",
    ".config/opencode",
    ".continue",
    ".copilot",
    ".cursor",
    ".devcontainer",
    ".devin",
    ".envrc",
    ".factory",
    ".gemini",
    ".git",
    ".githooks",
    ".github/hooks",
    ".github/skills",
    ".goose",
    ".hg",
    ".husky",
    ".idea",
    ".jj",
    ".junie",
    ".kiro",
    ".mcp.json",
    ".openclaw",
    ".opencode",
    ".qwen",
    ".roo",
    ".skillfold",
    ".svn",
    ".vscode",
    ".windsurf",
    ".zed",
    "opencode.json",
    "opencode.jsonc",
];

/// Returns what no skill gets: what is named above, the engine's own folders, and the roots of skills. In the project,
/// these stay read-only instead.
pub(super) fn protected(
    environment: &Environment,
    roots: &[SearchedRoot],
    project: Option<&Path>,
) -> Protected {
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
        environment.cache_folder(),
    ];
    let is_in_project = |root: &&SearchedRoot| {
        project.is_some_and(|project| root.path.starts_with(project) && root.path != project)
    };
    let (in_project, roots): (Vec<_>, Vec<_>) = roots.iter().partition(is_in_project);
    let is_there =
        |root: &&&SearchedRoot| !matches!(root.status, RootStatus::Absent | RootStatus::Missing(_));
    let roots = roots.iter().filter(is_there).map(|root| root.path.clone());
    // What is missing there would be read as skills if a script created it.
    let in_project = in_project.iter().map(|root| root.path.clone());
    // Our own folders come first: a refusal names the first that is covered.
    let secret = own.into_iter().flatten().chain(in_home(&SECRET));
    let unwritable = in_home(&UNWRITABLE).chain(roots);
    let protected = Protected::default()
        .with_secret(secret.flat_map(with_real_path))
        .with_unwritable(unwritable.flat_map(with_real_path))
        .with_read_only_paths(in_project)
        .with_read_only_names(READ_ONLY.map(str::to_owned));
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
