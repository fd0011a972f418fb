//! The lock file given to npm, rebuilt from the names, versions and hashes in the skill's own.
//!
//! An npm lock file can have URLs in many places: `resolved`, `version`, a package's dependencies, its `name`. None of
//! these is copied. An address is fine that says where a registry has what the hash names; any other is refused, since
//! something else would be installed. The output has the oldest format, without the packages' dependencies: npm asks the
//! registry for them.

use serde_json::{Map, Value, json};
use skillfold_core::name::ResourcePath;

use crate::error::{RunError, RunErrorKind};

/// The packages folder in a lock file's paths.
const FOLDER: &str = "node_modules/";

/// The key for nested packages.
const INNER: &str = "dependencies";

/// Returns a lock file with the same versions and hashes.
///
/// # Errors
///
/// Fails if it is not a lock file, or has an invalid version.
pub(super) fn reduced_lock(lock: &ResourcePath, bytes: &[u8]) -> Result<String, RunError> {
    let invalid = |why: &str| {
        let message = format!("Cannot parse `{lock}`: {why}");
        let hint = "Run npm again with packages from the registry only, or remove it";
        RunError::new(RunErrorKind::InvalidDependencies, message, hint)
    };
    let value: Value =
        serde_json::from_slice(bytes).map_err(|error| invalid(&error.to_string()))?;
    let packages = match (&value["packages"], &value[INNER]) {
        (Value::Object(paths), _) => from_paths(paths),
        (_, Value::Object(names)) => from_names(names),
        _ => Ok(Map::new()),
    };
    let packages = packages.map_err(|why| invalid(&why))?;
    let lock = json!({ "lockfileVersion": 1, "requires": true, INNER: packages });
    Ok(lock.to_string())
}

/// Reads the current format, in which each package has a path, such as `node_modules/a/node_modules/b`.
fn from_paths(paths: &Map<String, Value>) -> Result<Map<String, Value>, String> {
    let mut packages = Map::new();
    let mut paths: Vec<_> = paths.iter().collect();
    // Sorts a package before those nested in it.
    paths.sort_by_key(|(path, _)| *path);
    for (path, entry) in paths {
        // Skips the skill itself and its folders.
        let Some(path) = path.strip_prefix(FOLDER) else {
            continue;
        };
        let names: Vec<&str> = path.split(&format!("/{FOLDER}")).collect();
        let (name, outer) = names.split_last().ok_or("a package has no name")?;
        let outer = outer.iter().try_fold(&mut packages, |packages, name| {
            packages.get_mut(*name)?.get_mut(INNER)?.as_object_mut()
        });
        if let (Some(packages), Some(package)) = (outer, package(name, entry)?) {
            packages.insert((*name).to_owned(), package);
        }
    }
    Ok(packages)
}

/// Reads the oldest format, in which packages are nested.
fn from_names(names: &Map<String, Value>) -> Result<Map<String, Value>, String> {
    let mut packages = Map::new();
    for (name, entry) in names {
        let Some(mut package) = package(name, entry)? else {
            continue;
        };
        if let Value::Object(inner) = &entry[INNER] {
            package[INNER] = from_names(inner)?.into();
        }
        packages.insert(name.clone(), package);
    }
    Ok(packages)
}

/// Returns a package with its version and hash. `None` for one npm has to resolve: it is bundled, a link or a dev
/// dependency, or an alias, which only the package that needs it may define.
fn package(name: &str, entry: &Value) -> Result<Option<Value>, String> {
    let is = |key: &str| entry[key] == Value::Bool(true);
    let is_alias = match (&entry["name"], &entry["version"]) {
        (Value::String(real), _) if real != name => true,
        (_, Value::String(version)) => version.starts_with("npm:"),
        _ => false,
    };
    if is_alias || ["dev", "link", "bundled", "inBundle"].into_iter().any(is) {
        return Ok(None);
    }
    if !is_name(name) {
        return Err(format!("`{name}` is not the name of a package"));
    }
    let version = entry["version"].as_str().unwrap_or_default();
    if !is_version(version) {
        return Err(format!("the version of `{name}` is not valid: `{version}`"));
    }
    let mut package = json!({ "version": version, INNER: {} });
    match &entry["integrity"] {
        Value::Null => {}
        Value::String(hash) if is_hash(hash) => package["integrity"] = hash.as_str().into(),
        other => return Err(format!("the hash of `{name}` is not valid: {other}")),
    }
    match entry["resolved"].as_str() {
        Some(address) if !address.starts_with("https://") && !address.starts_with("http://") => {
            Err(format!("`{name}` is not from a registry: `{address}`"))
        }
        Some(address) if entry["integrity"].is_null() => {
            Err(format!("`{name}` has an address and no hash: `{address}`"))
        }
        _ => Ok(Some(package)),
    }
}

/// Returns whether a string is a package name, such as `left-pad` or `@types/node`.
fn is_name(name: &str) -> bool {
    let is_part = |part: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._~-".contains(&byte);
        !part.is_empty() && !part.starts_with('.') && part.bytes().all(plain)
    };
    match name.strip_prefix('@') {
        Some(name) => (name.split_once('/')).is_some_and(|(a, b)| is_part(a) && is_part(b)),
        None => is_part(name),
    }
}

/// Returns whether a string is a single version, such as `1.2.3-rc.1`.
fn is_version(version: &str) -> bool {
    let (numbers, rest) = version.split_at(version.find(['-', '+']).unwrap_or(version.len()));
    let numbers: Vec<&str> = numbers.split('.').collect();
    let is_number = |text: &&str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-+".contains(&byte);
    numbers.len() == 3 && numbers.iter().all(is_number) && rest.bytes().all(plain)
}

/// Returns whether a string is a list of hashes, such as `sha512-…`.
fn is_hash(hash: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=- ".contains(&byte);
    hash.starts_with("sha") && hash.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reduced(text: &str) -> String {
        let lock = "package-lock.json".parse().unwrap();
        match reduced_lock(&lock, text.as_bytes()) {
            Ok(text) => serde_json::from_str::<Value>(&text).unwrap()[INNER].to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn lock_keeps_names_versions_and_hashes_in_both_formats() {
        let paths = r#"{"lockfileVersion": 3, "packages": {"": {"dependencies": {"hidden": "1"}}, "packages/own": {"version": "1"},
            "node_modules/b/node_modules/@s/c": {"version": "2.0.0-rc.1"},
            "node_modules/b": {"version": "1.0.0", "resolved": "http://127.0.0.1:1/b.tgz", "integrity": "sha512-ab+/c==", "dependencies": {"x": "http://127.0.0.1:1/x.tgz"}},
            "node_modules/local": {"resolved": "packages/own", "link": true}, "node_modules/dev": {"version": "1.0.0", "dev": true}}}"#;
        insta::assert_snapshot!(reduced(paths), @r#"{"b":{"dependencies":{"@s/c":{"dependencies":{},"version":"2.0.0-rc.1"}},"integrity":"sha512-ab+/c==","version":"1.0.0"}}"#);
        let names = r#"{"lockfileVersion": 1, "dependencies": {"b": {"version": "1.0.0", "requires": {"x": "http://127.0.0.1:1/x.tgz"},
            "dependencies": {"c": {"version": "2.0.0", "resolved": "http://127.0.0.1:1/c.tgz", "integrity": "sha1-ab"}}}}}"#;
        insta::assert_snapshot!(reduced(names), @r#"{"b":{"dependencies":{"c":{"dependencies":{},"integrity":"sha1-ab","version":"2.0.0"}},"version":"1.0.0"}}"#);
        insta::assert_snapshot!(reduced("{}"), @"{}");
    }

    #[test]
    fn lock_with_a_foreign_url_or_name_is_refused_or_left_to_npm() {
        let reduced_entry = |name: &str, entry: &str| {
            reduced(&format!(
                r#"{{"packages": {{"node_modules/{name}": {entry}}}}}"#
            ))
        };
        insta::assert_snapshot!(reduced_entry("a", r#"{"version": "http://127.0.0.1:1/a.tgz"}"#), @"Cannot parse `package-lock.json`: the version of `a` is not valid: `http://127.0.0.1:1/a.tgz`");
        insta::assert_snapshot!(reduced_entry("a", r#"{"version": "file:../../etc"}"#), @"Cannot parse `package-lock.json`: the version of `a` is not valid: `file:../../etc`");
        insta::assert_snapshot!(reduced_entry("a", r#"{"version": "^1.0.0"}"#), @"Cannot parse `package-lock.json`: the version of `a` is not valid: `^1.0.0`");
        insta::assert_snapshot!(reduced_entry("a", "{}"), @"Cannot parse `package-lock.json`: the version of `a` is not valid: ``");
        insta::assert_snapshot!(reduced_entry("../x", r#"{"version": "1.0.0"}"#), @"Cannot parse `package-lock.json`: `../x` is not the name of a package");
        insta::assert_snapshot!(reduced_entry("a", r#"{"version": "1.0.0", "integrity": "http://x"}"#), @r#"Cannot parse `package-lock.json`: the hash of `a` is not valid: "http://x""#);
        insta::assert_snapshot!(reduced_entry("a", r#"{"version": "1.0.0", "resolved": "git+ssh://127.0.0.1:1/a.git", "integrity": "sha512-ab"}"#), @"Cannot parse `package-lock.json`: `a` is not from a registry: `git+ssh://127.0.0.1:1/a.git`");
        insta::assert_snapshot!(reduced_entry("a", r#"{"version": "1.0.0", "resolved": "file:../a.tgz"}"#), @"Cannot parse `package-lock.json`: `a` is not from a registry: `file:../a.tgz`");
        insta::assert_snapshot!(reduced_entry("a", r#"{"version": "1.0.0", "resolved": "https://127.0.0.1:1/a.tgz"}"#), @"Cannot parse `package-lock.json`: `a` has an address and no hash: `https://127.0.0.1:1/a.tgz`");
        insta::assert_snapshot!(reduced_entry("a", r#"{"name": "evil", "version": "1.0.0"}"#), @"{}");
        insta::assert_snapshot!(reduced_entry("a", r#"{"version": "npm:evil@1.0.0"}"#), @"{}");
    }
}
