//! The packages a JavaScript or TypeScript file imports.

use std::collections::BTreeSet;

/// The module every toolset can import. Skillfold provides it, so it is not installed.
pub(crate) const AGENT_TOOLS: &str = "@agent/tools";

/// Modules built into Node, Bun and Deno, optionally prefixed with `node:`.
const BUILT_IN: [&str; 42] = [
    "assert",
    "async_hooks",
    "buffer",
    "bun",
    "child_process",
    "cluster",
    "console",
    "constants",
    "crypto",
    "dgram",
    "diagnostics_channel",
    "dns",
    "domain",
    "events",
    "fs",
    "http",
    "http2",
    "https",
    "inspector",
    "module",
    "net",
    "os",
    "path",
    "perf_hooks",
    "process",
    "punycode",
    "querystring",
    "readline",
    "repl",
    "stream",
    "string_decoder",
    "sys",
    "timers",
    "tls",
    "trace_events",
    "tty",
    "url",
    "util",
    "v8",
    "vm",
    "worker_threads",
    "zlib",
];

/// Prefixes of lines that may import something, and the words before the package name. Other lines, such as comments,
/// are skipped.
const IMPORTS: [(&str, &[&str]); 7] = [
    ("import", &["from", "import", "require("]),
    ("export {", &["from"]),
    ("export *", &["from"]),
    ("}", &["from"]),
    ("const ", &["require("]),
    ("let ", &["require("]),
    ("var ", &["require("]),
];

/// Returns the names of the packages a file imports, sorted.
pub(crate) fn packages(text: &str) -> BTreeSet<&str> {
    let names = text.lines().filter_map(specifier).filter_map(package);
    names
        .filter(|name| *name != AGENT_TOOLS && !BUILT_IN.contains(name))
        .collect()
}

/// Returns the specifier a line imports, such as `zod/mini`. Type-only imports are erased at run time.
fn specifier(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let (_, words) = IMPORTS.iter().find(|(start, _)| line.starts_with(start))?;
    if line.starts_with("import type ") {
        return None;
    }
    let ends = words.iter().flat_map(|word| {
        line.match_indices(word)
            .map(|(position, _)| position + word.len())
    });
    ends.map(|end| line[end..].trim_start()).find_map(|rest| {
        let quote = rest.chars().next().filter(|first| "'\"".contains(*first))?;
        Some(rest[1..].split_once(quote)?.0)
    })
}

/// Returns a specifier's package; none for paths, URLs and invalid package names.
fn package(specifier: &str) -> Option<&str> {
    let is_name = |part: &str| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        part.starts_with(|first: char| first.is_ascii_alphanumeric()) && part.bytes().all(is_plain)
    };
    let mut parts = specifier.splitn(3, '/');
    let first = parts.next()?;
    if is_name(first) {
        return Some(first);
    }
    let (scope, name) = (first.strip_prefix('@')?, parts.next()?);
    (is_name(scope) && is_name(name)).then(|| &specifier[..first.len() + 1 + name.len()])
}
