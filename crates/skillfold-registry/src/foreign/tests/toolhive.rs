use proptest::prelude::*;

use super::show;
use crate::foreign::parse_toolhive_lock;

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
const DIGEST: &str = "sha256:9b46342aaebede490f12bf67a5ecb4be507c7684ee5e11a0511b54c701f464bd";

fn check(text: &str) -> String {
    let text = text.replace("COMMIT", COMMIT).replace("DIGEST", DIGEST);
    show(parse_toolhive_lock(&text, "toolhive.lock.yaml"))
}

#[test]
fn documented_file_is_read() {
    insta::assert_snapshot!(check("
version: 1
skills:
  - name: code-review
    version: \"1.0.0\"
    source: code-review
    resolvedReference: ghcr.io/org/code-review:1.0.0
    digest: DIGEST
    contentDigest: DIGEST
    provenance:
      signerIdentity: https://github.com/org/repo/.github/workflows/release.yml@refs/tags/v1
      certIssuer: https://token.actions.githubusercontent.com
    explicit: true
  - name: lint
    source: git://github.com/org/repo@main#skills/lint
    resolvedReference: git://github.com/org/repo@main#skills/lint
    digest: COMMIT
    unsigned: true
    requiredBy: [code-review]
    fieldOfTheFuture: {x: [1]}
"), @r"
    code-review from code-review
      resolved: ghcr.io/org/code-review:1.0.0
      version: 1.0.0
      artifact: sha256:9b46342aaebede490f12bf67a5ecb4be507c7684ee5e11a0511b54c701f464bd
      content: sha256:9b46342aaebede490f12bf67a5ecb4be507c7684ee5e11a0511b54c701f464bd
      signer: https://github.com/org/repo/.github/workflows/release.yml@refs/tags/v1
    lint from git://github.com/org/repo@main#skills/lint
      resolved: git://github.com/org/repo@main#skills/lint
      commit: 0123456789abcdef0123456789abcdef01234567
      required by: code-review
    ");
}

#[test]
fn source_is_an_address_with_its_version_and_folder() {
    let address = |source: &str| {
        let text =
            format!("version: 1\nskills: [{{name: a, source: '{source}', digest: {COMMIT}}}]");
        let skills = parse_toolhive_lock(&text, "toolhive.lock.yaml").unwrap();
        let address = skills[0].address().unwrap();
        let (location, folder) = (address.location(), address.folder().unwrap_or_default());
        format!(
            "{location} {folder} {}",
            address.version().unwrap_or_default()
        )
    };
    let sources = [
        "git://github.com/o/r",
        "git://github.com/o/r@v1",
        "git://github.com/o/r@v1#skills/a",
        "git://github.com/o/r#skills/a",
    ];
    insta::assert_snapshot!(sources.map(address).join("\n"), @r"
    https://github.com/o/r.git  
    https://github.com/o/r.git  v1
    https://github.com/o/r.git skills/a v1
    https://github.com/o/r.git skills/a
    ");
}

#[test]
fn file_without_version_or_skills_is_empty() {
    insta::assert_snapshot!(check("skills: []\n"), @"");
    insta::assert_snapshot!(check("version: 1\n"), @"");
}

#[test]
fn file_of_something_else_is_an_error_and_not_empty() {
    insta::assert_snapshot!(check("name: x\n"), @r"
    Lock file `toolhive.lock.yaml` is broken: it has neither `version` nor `skills`
    hint: Correct it or restore it from version control; it was left as it is
    ");
}

#[test]
fn unknown_version_is_an_error() {
    insta::assert_snapshot!(check("version: 2\nskills: []\n"), @r"
    Lock file `toolhive.lock.yaml` has version 2, Skillfold knows 1
    hint: Update Skillfold, or the tool that wrote the file if its version is older; it was left as it is
    ");
}

#[test]
fn broken_entry_is_an_error_that_says_which() {
    let entries = [
        "{source: a, digest: DIGEST}",
        "{name: a/b, source: a, digest: DIGEST}",
        "{name: a, digest: DIGEST}",
        "{name: a, source: a}",
        "{name: a, source: a, digest: 0123456}",
        "{name: a, source: a, digest: 'sha256:'}",
        "{name: a, source: a, digest: DIGEST, contentDigest: COMMIT}",
        "{name: a, source: a, digest: DIGEST, requiredBy: b}",
        "{name: a, source: a, digest: DIGEST, provenance: b}",
        "{name: a, source: a, digest: DIGEST}\n- {name: a, source: b, digest: DIGEST}",
        "&x {name: a, source: a, digest: DIGEST}\n- *x",
        "!x {name: a, source: a, digest: DIGEST}",
    ];
    let check = |entry| check(&format!("version: 1\nskills:\n- {entry}\n"));
    insta::assert_snapshot!(entries.map(check).map(|it| it.lines().next().unwrap_or_default().to_owned()).join("\n"), @r"
    Lock file `toolhive.lock.yaml` is broken: `skills[0].name` is missing
    Lock file `toolhive.lock.yaml` is broken: `skills[0].name` is not a valid name
    Lock file `toolhive.lock.yaml` is broken: `skills[0].source` is missing
    Lock file `toolhive.lock.yaml` is broken: `skills[0].digest` is missing
    Lock file `toolhive.lock.yaml` is broken: `skills[0].digest` is neither `sha256:` and 64 digits nor a full commit id
    Lock file `toolhive.lock.yaml` is broken: `skills[0].digest` is neither `sha256:` and 64 digits nor a full commit id
    Lock file `toolhive.lock.yaml` is broken: `skills[0].contentDigest` is not `sha256:` and 64 digits
    Lock file `toolhive.lock.yaml` is broken: `skills[0].requiredBy` is not a list of strings
    Lock file `toolhive.lock.yaml` is broken: `skills[0].provenance` is not a mapping
    Lock file `toolhive.lock.yaml` is broken: `skills[1].name` is the name of another entry
    Lock file `toolhive.lock.yaml` is broken: Anchor on a value, line 3
    Lock file `toolhive.lock.yaml` is broken: Tag on a value, line 3
    ");
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic(text in "(version: 1|skills:|name|source|digest|[-: \n'\"{}\\[\\]&*!|>#a1é])*") {
        _ = parse_toolhive_lock(&text, "toolhive.lock.yaml");
    }
}
