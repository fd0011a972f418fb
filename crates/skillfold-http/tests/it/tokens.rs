//! Named tokens: several, by digest, revoked without a restart.

use std::fs;
use std::path::Path;
use std::time::Duration;

use skillfold_http::{
    Denied, Identities, IdentityKind, NamedToken, Role, Token, TokenFile, TokenScope, TokenScopes,
};

async fn identify(identities: &Identities, token: &Token) -> Result<String, Denied> {
    let header = format!("Bearer {}", token.reveal());
    let identity = identities.identify(Some(header.as_bytes())).await?;
    assert_eq!(identity.kind(), IdentityKind::Token);
    Ok(format!("{} {}", identity, identity.role().name))
}

/// Adds a token to a file, and returns it.
fn add(file: &Path, named: &NamedToken) -> Token {
    let (text, token) = (
        fs::read_to_string(file).unwrap_or_default(),
        Token::random().unwrap(),
    );
    fs::write(file, TokenFile::with_token(&text, named, &token).unwrap()).unwrap();
    token
}

async fn wait_until_read() {
    tokio::time::sleep(Duration::from_secs(1)).await;
}

#[tokio::test]
async fn token_is_accepted_until_it_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens.toml");
    let mut ci = Role::new("ci");
    ci.tokens = vec!["build".to_owned()];
    let identities =
        Identities::new([ci, Role::new("everybody")]).with_tokens(TokenFile::open(&file).unwrap());
    let build = add(&file, &NamedToken::new("build").unwrap());
    let nightly = add(&file, &NamedToken::new("nightly").unwrap());
    wait_until_read().await;
    assert_eq!(
        identify(&identities, &build).await.as_deref(),
        Ok("token build ci")
    );
    assert_eq!(
        identify(&identities, &nightly).await.as_deref(),
        Ok("token nightly everybody")
    );
    let text = fs::read_to_string(&file).unwrap();
    assert!(!text.contains(build.reveal()), "the file has digests alone");
    let without = TokenFile::without_token(&text, "build").unwrap().unwrap();
    fs::write(&file, without).unwrap();
    wait_until_read().await;
    assert_eq!(
        identify(&identities, &build).await.unwrap_err().as_str(),
        "unknown"
    );
    assert!(identify(&identities, &nightly).await.is_ok());
    fs::remove_file(&file).unwrap();
    wait_until_read().await;
    assert_eq!(
        identify(&identities, &nightly).await.unwrap_err().as_str(),
        "unknown"
    );
}

#[tokio::test]
async fn broken_file_leaves_the_tokens_as_they_were_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens.toml");
    let token = add(&file, &NamedToken::new("build").unwrap());
    let identities = Identities::new([]).with_tokens(TokenFile::open(&file).unwrap());
    fs::write(
        &file,
        "format = 1\n[tokens.build]\nsha256 = \"no\"\nscopes = []\n",
    )
    .unwrap();
    wait_until_read().await;
    assert!(identify(&identities, &token).await.is_ok());
    let problem = identities.tokens().unwrap().problem().unwrap();
    assert!(
        problem.contains("`tokens.build.sha256` is no digest"),
        "{problem}"
    );
}

#[tokio::test]
async fn expired_token_and_one_without_the_scope_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens.toml");
    let mut named = NamedToken::new("old").unwrap();
    named.expires = Some(1);
    let old = add(&file, &named);
    let mut named = NamedToken::new("runner").unwrap();
    named.scopes = TokenScopes::default().with(TokenScope::Run);
    let runner = add(&file, &named);
    let identities = Identities::new([]).with_tokens(TokenFile::open(&file).unwrap());
    assert_eq!(
        identify(&identities, &old).await.unwrap_err().as_str(),
        "expired"
    );
    assert_eq!(identify(&identities, &runner).await, Err(Denied::Scope));
    assert_eq!(
        identities.identify(None).await.unwrap_err(),
        Denied::Missing
    );
    for header in ["", "Bearer", "Basic abc", "Bearer "] {
        assert!(
            identities.identify(Some(header.as_bytes())).await.is_err(),
            "{header}"
        );
    }
}

#[test]
fn file_that_cannot_be_used_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens.toml");
    let digest = "0".repeat(64);
    let mut report = String::new();
    for text in [
        "",
        "format = 2\n[new]\n",
        "format = 1\n[token.a]\n",
        "format = 1\n[tokens.a]\nsha256 = \"0\"\nscopes = []\n",
        &format!("format = 1\n[tokens.a]\nsha256 = \"{digest}\"\n"),
        &format!("format = 1\n[tokens.a]\nsha256 = \"{digest}\"\nscopes = [\"skills:write\"]\n"),
        &format!("format = 1\n[tokens.\"a b\"]\nsha256 = \"{digest}\"\nscopes = []\n"),
        &format!(
            "format = 1\n[tokens.a]\nsha256 = \"{digest}\"\nscopes = []\n[tokens.b]\nsha256 = \"{digest}\"\nscopes = []\n"
        ),
    ] {
        fs::write(&file, text).unwrap();
        let error = TokenFile::open(&file).unwrap_err().with_cause();
        report.push_str(&error.replace(&file.display().to_string(), "tokens.toml"));
        report.push_str("\n--\n");
    }
    insta::assert_snapshot!(report);
}

#[cfg(unix)]
#[test]
fn file_that_others_may_change_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens.toml");
    fs::write(&file, "format = 1\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    let error = TokenFile::open(&file).unwrap_err().with_cause();
    assert!(error.contains("others may change it"), "{error}");
}

#[test]
fn name_is_used_once_and_comments_stay() {
    let named = NamedToken::new("build").unwrap();
    let token = Token::new("0123456789abcdef").unwrap();
    let text = TokenFile::with_token("", &named, &token).unwrap();
    insta::assert_snapshot!(text);
    let text = format!("{text}# of the team\n");
    assert!(TokenFile::with_token(&text, &named, &Token::random().unwrap()).is_err());
    let other = NamedToken::new("other").unwrap();
    let both = TokenFile::with_token(&text, &other, &Token::random().unwrap()).unwrap();
    assert!(both.contains("# of the team"));
    assert_eq!(TokenFile::without_token(&text, "absent").unwrap(), None);
    for name in ["", "a b", "a/b", "ä", &"a".repeat(65)] {
        assert!(NamedToken::new(name).is_err(), "{name}");
    }
}
