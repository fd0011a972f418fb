//! Hosts, paths and hidden characters in a line of text.

use std::collections::BTreeSet;

use skillfold_core::text::{hidden_characters, truncate_bytes};

/// Last parts of names that are hosts also without a scheme. Those that are file extensions too are left out.
const TOP_LEVELS: [&str; 57] = [
    "ai", "app", "au", "be", "biz", "br", "ca", "cf", "ch", "click", "cloud", "club", "cn", "co",
    "com", "cz", "de", "dev", "edu", "es", "eu", "example", "fr", "fun", "ga", "gov", "gq", "icu",
    "info", "internal", "io", "it", "jp", "kr", "live", "me", "ml", "net", "nl", "online", "onion",
    "org", "pro", "pw", "ru", "se", "shop", "site", "space", "su", "tk", "top", "tv", "uk", "us",
    "website", "xyz",
];
/// The first folders of absolute paths.
const ROOTS: [&str; 28] = [
    "Applications",
    "Library",
    "System",
    "Users",
    "Volumes",
    "bin",
    "boot",
    "data",
    "dev",
    "etc",
    "home",
    "lib",
    "lib64",
    "media",
    "mnt",
    "opt",
    "private",
    "proc",
    "root",
    "run",
    "sbin",
    "srv",
    "sys",
    "tmp",
    "usr",
    "var",
    "workspace",
    "nix",
];
/// Devices that lead nowhere.
const STREAMS: [&str; 5] = [
    "/dev/null",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/tty",
];
/// How scripts say where the user's home is.
const HOMES: [&str; 6] = [
    "Path.home()",
    "homedir()",
    "USERPROFILE",
    "%APPDATA%",
    "%LOCALAPPDATA%",
    "Dir.home",
];
/// Maximum bytes of a path or of a host with its user.
const MAX_BYTES: usize = 256;
/// Maximum characters that are named of a line's hidden ones.
const MAX_HIDDEN: usize = 4;

/// Returns the hosts of a line: in addresses, after `@`, and names that can only be hosts. In code, names stand in quotes.
pub(super) fn hosts(line: &str, is_code: bool) -> Vec<String> {
    let mut hosts = Vec::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("//") {
        let is_scheme = before.ends_with(':') && !before.ends_with("file:");
        let host = authority(after);
        if is_scheme || before.ends_with(['"', '\'', '(', '=']) && host.contains('.') {
            hosts.push(host);
        }
        rest = after;
    }
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '.' | '_');
    for word in line.split(|c| !is_part(c)) {
        let start = word.as_ptr().addr() - line.as_ptr().addr();
        let before = line[..start].chars().next_back();
        let is_call = line[start + word.len()..].starts_with('(');
        let is_start = match before {
            Some('"' | '\'' | '`' | '@' | '/') => true,
            Some(c) => !is_code && (c.is_whitespace() || "([<=,:|;".contains(c)),
            None => !is_code,
        };
        // A dot in front hides a file.
        let name = word.trim_end_matches(['.', '-']);
        if is_start && !is_call && is_host(name) {
            hosts.push(name.to_lowercase());
        }
    }
    hosts.retain(|host| !host.is_empty());
    hosts
}

/// Returns the host at the start of what follows `//`: without user, port and a last dot. A host that a script fills in stays as it
/// is written, such as `{host}`.
fn authority(text: &str) -> String {
    let text = truncate_bytes(text, MAX_BYTES);
    let is_end = |c: char| c.is_whitespace() || "/?#\"'`)>\\<|,;]".contains(c);
    if let Some((address, _)) = text.strip_prefix('[').and_then(|it| it.split_once(']'))
        && !address.contains(is_end)
    {
        return format!("[{address}]").to_lowercase();
    }
    let authority = text.split(is_end).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = match host.rsplit_once(':') {
        Some((host, port)) if !port.contains(['{', '}']) => host,
        _ => host,
    };
    host.trim_matches(['.', '*', ':', '_']).to_lowercase()
}

/// Returns whether a word can only be the name or the IPv4 address of a host.
fn is_host(word: &str) -> bool {
    let parts: Vec<&str> = word.split('.').collect();
    let is_label = |part: &&str| !part.is_empty() && part.len() <= 63;
    if parts.len() < 2 || !parts.iter().all(is_label) {
        return false;
    }
    let is_address = parts.len() == 4 && parts.iter().all(|part| part.parse::<u8>().is_ok());
    let last = parts[parts.len() - 1].to_ascii_lowercase();
    is_address
        || TOP_LEVELS.contains(&&*last)
        || last.starts_with("xn--")
        || parts[0].eq_ignore_ascii_case("www")
}

/// Returns the paths of a line that lead outside the skill. Those in the home start with `~/`.
pub(super) fn paths(line: &str) -> impl Iterator<Item = String> {
    let mut paths = Vec::new();
    let mut before = None;
    for (start, c) in line.char_indices() {
        let is_start =
            before.is_none_or(|c: char| c.is_whitespace() || "\"'`=(:,<>[{|;&@!".contains(c));
        let is_drive = c.is_ascii_alphabetic() && line[start + 1..].starts_with(":\\");
        if is_start && (is_drive || matches!(c, '/' | '~' | '$')) {
            paths.extend(path_at(&line[start..]));
        }
        before = Some(c);
    }
    let homes = HOMES.iter().filter(|home| line.contains(**home));
    paths.extend(homes.map(|home| (*home).to_owned()));
    paths.into_iter()
}

fn path_at(text: &str) -> Option<String> {
    let is_end = |c: char| c.is_whitespace() || "\"'`)(<>|;&,]，。；：、（）".contains(c);
    let path = truncate_bytes(text, MAX_BYTES).split(is_end).next();
    let path = path.unwrap_or_default();
    // The next path of a list; the first colon may be a drive's.
    let list = path.char_indices().find(|(at, c)| *at > 1 && *c == ':');
    let path = &path[..list.map_or(path.len(), |(at, _)| at)];
    let path = path.trim_end_matches(['.', ':', '/', '!', '?', '*', '$']);
    for home in ["~", "$HOME", "${HOME}"] {
        if let Some(inside) = path
            .strip_prefix(home)
            .and_then(|rest| rest.strip_prefix(['/', '\\']))
        {
            return (!inside.is_empty()).then(|| format!("~/{inside}"));
        }
    }
    if path.get(1..3) == Some(":\\") {
        return Some(path.to_owned());
    }
    let first = path
        .strip_prefix('/')?
        .split('/')
        .next()
        .unwrap_or_default();
    let is_path = ROOTS.contains(&first) && !STREAMS.contains(&path);
    is_path.then(|| path.to_owned())
}

/// Returns the hidden characters of a line, as in `U+202E, U+200B`. Tabs and line ends are not hidden.
pub(super) fn hidden(line: &str) -> Option<String> {
    let line = line.strip_suffix('\r').unwrap_or(line);
    let hidden = hidden_characters(line)
        .map(|(_, c)| c)
        .filter(|c| *c != '\t');
    let hidden: BTreeSet<char> = hidden.collect();
    let shown = hidden
        .iter()
        .take(MAX_HIDDEN)
        .map(|c| format!("U+{:04X}", u32::from(*c)));
    let shown: Vec<String> = shown.collect();
    match hidden.len().saturating_sub(MAX_HIDDEN) {
        _ if shown.is_empty() => None,
        0 => Some(shown.join(", ")),
        more => Some(format!("{} and {more} more", shown.join(", "))),
    }
}
