//! Tokens of an identity provider: the right ones are accepted, and nothing else.

use ring::hmac;
use serde_json::{Value, json};
use skillfold_http::{Denied, Identities, IdentityKind, Issuer, Role, TokenFile, TokenScope};

use crate::provider::{AUDIENCE, Key, Provider, base64, claims, now};

fn identities(provider: &Provider) -> Identities {
    let issuer = Issuer::new(&provider.issuer, AUDIENCE).unwrap();
    Identities::new([]).with_issuer(issuer, true)
}

async fn identify(identities: &Identities, token: &str) -> Result<String, Denied> {
    let header = format!("Bearer {token}");
    let identity = identities.identify(Some(header.as_bytes())).await?;
    Ok(identity.id().to_owned())
}

/// Returns claims with some replaced, or removed if they are null.
fn changed(claims: &Value, changes: Value) -> Value {
    let (mut claims, Value::Object(changes)) = (claims.clone(), changes) else {
        unreachable!("changes are an object")
    };
    for (name, value) in changes {
        match value {
            Value::Null => drop(claims.as_object_mut().unwrap().remove(&name)),
            value => claims[name] = value,
        }
    }
    claims
}

/// Returns a token that is signed by a shared secret.
fn by_secret(algorithm: &str, secret: &[u8], claims: &Value) -> String {
    let header = json!({ "alg": algorithm, "kid": "one", "typ": "JWT" });
    let message = format!(
        "{}.{}",
        base64(header.to_string().as_bytes()),
        base64(claims.to_string().as_bytes())
    );
    let tag = hmac::sign(
        &hmac::Key::new(hmac::HMAC_SHA256, secret),
        message.as_bytes(),
    );
    format!("{message}.{}", base64(tag.as_ref()))
}

#[tokio::test]
async fn right_tokens_are_accepted() {
    let (p256, ed25519) = (Key::p256(), Key::ed25519());
    let provider = Provider::start([p256.public("one"), ed25519.public("two")]);
    let (identities, issuer) = (identities(&provider), &provider.issuer);
    let usual = claims(issuer, "alice");
    let mut accepted = vec![
        p256.right("one", issuer, "alice"),
        ed25519.right("two", issuer, "alice"),
    ];
    for changes in [
        json!({ "aud": ["https://other.example.com", AUDIENCE] }),
        json!({ "scope": null, "scp": ["skills:read"] }),
        json!({ "exp": now() - 10 }),
        json!({ "nbf": now() + 10 }),
        json!({ "exp": 1e12 }),
    ] {
        accepted.push(p256.token(&p256.header("one"), &changed(&usual, changes)));
    }
    for header in [
        json!({ "alg": "ES256" }),
        json!({ "alg": "ES256", "typ": "JWT", "kid": "one" }),
    ] {
        accepted.push(p256.token(&header, &usual));
    }
    for token in accepted {
        assert_eq!(
            identify(&identities, &token).await.as_deref(),
            Ok("alice"),
            "{token}"
        );
    }
    assert_eq!(provider.asked(), 1, "keys are remembered");
}

#[expect(clippy::too_many_lines, reason = "a list of wrong tokens")]
#[tokio::test]
async fn fifty_wrong_tokens_are_refused_each_for_its_fault() {
    let (key, other) = (Key::p256(), Key::p256());
    let (ed25519, provider) = (Key::ed25519(), Provider::start([key.public("one")]));
    let (identities, issuer) = (identities(&provider), &provider.issuer);
    let (header, usual) = (key.header("one"), claims(issuer, "alice"));
    let right = key.token(&header, &usual);
    let (head, rest) = right.split_once('.').unwrap();
    let (body, signature) = rest.split_once('.').unwrap();
    let public = key.public("one");
    let mut tokens: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, token: String| tokens.push((name.to_owned(), token));
    for (name, changes) in [
        (
            "audience: another server",
            json!({ "aud": "https://other.example.com/mcp" }),
        ),
        (
            "audience: a prefix",
            json!({ "aud": "https://skills.example.com" }),
        ),
        (
            "audience: a longer address",
            json!({ "aud": format!("{AUDIENCE}/") }),
        ),
        ("audience: none", json!({ "aud": null })),
        ("audience: empty list", json!({ "aud": [] })),
        ("audience: a number", json!({ "aud": 7 })),
        (
            "audience: an id token for a client",
            json!({ "aud": "claude-code" }),
        ),
        (
            "issuer: another",
            json!({ "iss": "https://evil.example.com" }),
        ),
        (
            "issuer: with a slash",
            json!({ "iss": format!("{issuer}/") }),
        ),
        ("issuer: none", json!({ "iss": null })),
        (
            "issuer: a list with ours",
            json!({ "iss": ["https://evil.example.com", issuer] }),
        ),
        ("expiry: an hour ago", json!({ "exp": now() - 3_600 })),
        ("expiry: a minute ago", json!({ "exp": now() - 60 })),
        ("expiry: 1970", json!({ "exp": 0 })),
        ("expiry: negative", json!({ "exp": -1 })),
        ("expiry: none", json!({ "exp": null })),
        ("expiry: a text", json!({ "exp": "9999999999" })),
        ("expiry: a list", json!({ "exp": [9_999_999_999_u64] })),
        ("not before: in an hour", json!({ "nbf": now() + 3_600 })),
        ("not before: a text", json!({ "nbf": "0" })),
        ("subject: none", json!({ "sub": null })),
        ("subject: empty", json!({ "sub": "" })),
        ("subject: a number", json!({ "sub": 1 })),
        ("subject: with a line break", json!({ "sub": "alice\nbob" })),
        ("subject: 300 characters", json!({ "sub": "a".repeat(300) })),
        ("scope: none", json!({ "scope": null })),
        (
            "scope: of another server",
            json!({ "scope": "openid skills:readall" }),
        ),
        ("scope: only one to run", json!({ "scope": "skills:run" })),
    ] {
        add(name, key.token(&header, &changed(&usual, changes)));
    }
    for (name, changes) in [
        ("algorithm: none", json!({ "alg": "none" })),
        ("algorithm: None", json!({ "alg": "None" })),
        ("algorithm: missing", json!({ "alg": null })),
        ("algorithm: unknown", json!({ "alg": "ES999" })),
        (
            "algorithm: of another kind of key",
            json!({ "alg": "RS256" }),
        ),
        ("algorithm: of another curve", json!({ "alg": "ES384" })),
        ("algorithm: of Ed25519", json!({ "alg": "EdDSA" })),
        ("kind: a logout token", json!({ "typ": "logout+jwt" })),
        ("kind: a proof of possession", json!({ "typ": "dpop+jwt" })),
        (
            "header: something critical",
            json!({ "crit": ["b64"], "b64": false }),
        ),
        ("header: compressed", json!({ "zip": "DEF" })),
        ("key: unknown", json!({ "kid": "three" })),
        ("key: a path", json!({ "kid": "../../dev/null" })),
        (
            "key: in the token",
            json!({ "kid": "x", "jwk": other.public("x") }),
        ),
        (
            "key: at an address in the token",
            json!({ "kid": "x", "jku": "https://evil.example.com/keys" }),
        ),
    ] {
        let header = changed(&header, changes);
        add(name, key.token(&header, &usual));
    }
    add("signature: by another key", other.token(&header, &usual));
    add(
        "signature: by Ed25519, said to be ES256",
        ed25519.token(&header, &usual),
    );
    add("signature: none", format!("{head}.{body}."));
    add(
        "signature: zeros",
        format!("{head}.{body}.{}", base64(&[0; 64])),
    );
    add(
        "signature: of other claims",
        format!(
            "{head}.{}.{signature}",
            base64(claims(issuer, "bob").to_string().as_bytes())
        ),
    );
    add(
        "confusion: HS256 by the public key",
        by_secret("HS256", public.to_string().as_bytes(), &usual),
    );
    add(
        "confusion: HS256 by its coordinate",
        by_secret("HS256", public["x"].as_str().unwrap().as_bytes(), &usual),
    );
    add(
        "confusion: HS256 by nothing",
        by_secret("HS256", b"", &usual),
    );
    add("form: none without a signature", {
        let head = base64(br#"{"alg":"none","typ":"JWT"}"#);
        format!("{head}.{body}.")
    });
    add("form: two parts", format!("{head}.{body}"));
    add("form: four parts", format!("{right}.{signature}"));
    add(
        "form: encrypted, five parts",
        format!("{head}....{signature}"),
    );
    add("form: a space at its end", format!("{right} "));
    add("form: padded", format!("{head}=.{body}.{signature}"));
    add("form: no JSON", key.token(&header, &json!("alice")));
    add(
        "form: 20 KiB",
        format!("{head}.{body}.{}", "A".repeat(20 * 1024)),
    );
    add("form: not a token", "password".to_owned());
    let mut report = String::new();
    for (name, token) in &tokens {
        let denied = identify(&identities, token).await;
        let why = denied
            .as_ref()
            .map_or_else(|denied| denied.as_str(), |_| "ACCEPTED");
        report += &[&format!("{why:<10} "), &**name, "\n"].concat();
    }
    assert!(tokens.len() >= 50, "{}", tokens.len());
    insta::assert_snapshot!(report);
    assert_eq!(
        identify(&identities, &right).await.as_deref(),
        Ok("alice"),
        "the right one still is"
    );
}

#[tokio::test]
async fn key_that_the_provider_withdrew_ends_tokens_and_a_new_one_is_found() {
    let (old, new) = (Key::p256(), Key::ed25519());
    let provider = Provider::start([old.public("old")]);
    let (identities, issuer) = (identities(&provider), provider.issuer.clone());
    let (first, next) = (
        old.right("old", &issuer, "alice"),
        new.right("new", &issuer, "alice"),
    );
    assert!(identify(&identities, &first).await.is_ok());
    provider.rotate([new.public("new")]);
    assert_eq!(
        identify(&identities, &next).await.unwrap_err().as_str(),
        "key",
        "it was asked a moment ago"
    );
    assert!(identify(&identities, &first).await.is_ok());
    identities.issuer().unwrap().forget_when_asked();
    assert!(
        identify(&identities, &next).await.is_ok(),
        "the new key is asked for"
    );
    assert_eq!(
        identify(&identities, &first).await.unwrap_err().as_str(),
        "key"
    );
    assert_eq!(provider.asked(), 2);
    for number in 0..100 {
        let unknown = new.right(&number.to_string(), &issuer, "alice");
        assert_eq!(
            identify(&identities, &unknown).await.unwrap_err().as_str(),
            "key"
        );
    }
    assert_eq!(
        provider.asked(),
        2,
        "unknown keys do not make it ask more often"
    );
}

#[tokio::test]
async fn provider_that_does_not_answer_is_no_reason_to_accept() {
    let key = Key::p256();
    let issuer = "http://127.0.0.1:9";
    let identities = Identities::new([]).with_issuer(Issuer::new(issuer, AUDIENCE).unwrap(), true);
    let token = key.right("one", issuer, "alice");
    assert_eq!(
        identify(&identities, &token).await,
        Err(Denied::Unavailable)
    );
}

#[tokio::test]
async fn revoked_subject_or_token_is_refused_although_it_was_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens.toml");
    let key = Key::p256();
    let provider = Provider::start([key.public("one")]);
    let issuer = Issuer::new(&provider.issuer, AUDIENCE).unwrap();
    let identities = Identities::new([])
        .with_tokens(TokenFile::open(&file).unwrap())
        .with_issuer(issuer, true);
    let token = |subject: &str, id: &str| {
        let claims = changed(&claims(&provider.issuer, subject), json!({ "jti": id }));
        key.token(&key.header("one"), &claims)
    };
    let (alice, bob, other) = (token("alice", "1"), token("bob", "2"), token("bob", "3"));
    for token in [&alice, &bob, &other] {
        assert!(identify(&identities, token).await.is_ok());
    }
    std::fs::write(
        &file,
        "format = 1\n[revoked]\nsubjects = [\"alice\"]\nids = [\"2\"]\n",
    )
    .unwrap();
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    let revoked = |denied: Result<String, Denied>| denied.unwrap_err().as_str();
    assert_eq!(revoked(identify(&identities, &alice).await), "revoked");
    assert_eq!(revoked(identify(&identities, &bob).await), "revoked");
    assert!(identify(&identities, &other).await.is_ok());
}

#[tokio::test]
async fn first_role_that_fits_counts_and_nobody_else_gets_in() {
    let key = Key::p256();
    let provider = Provider::start([key.public("one")]);
    let role = |name: &str, groups: &[&str], subjects: &[&str], scopes: &[&str]| {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let mut role = Role::new(name);
        (role.groups, role.subjects, role.scopes) = (words(groups), words(subjects), words(scopes));
        role
    };
    let roles = [
        role("boss", &[], &["carol"], &[]),
        role("platform", &["platform", "sre"], &[], &[]),
        role("auditors", &[], &[], &["skills:audit"]),
    ];
    let issuer = Issuer::new(&provider.issuer, AUDIENCE).unwrap();
    let identities = Identities::new(roles).with_issuer(issuer, true);
    let of = async |changes: Value| {
        let claims = changed(&claims(&provider.issuer, "carol"), changes);
        let header = format!("Bearer {}", key.token(&key.header("one"), &claims));
        let identity = identities.identify(Some(header.as_bytes())).await?;
        assert_eq!(identity.kind(), IdentityKind::Subject);
        assert!(identity.scopes().has(TokenScope::Read) && !identity.scopes().has(TokenScope::Run));
        Ok::<String, Denied>(identity.role().name.clone())
    };
    assert_eq!(
        of(json!({ "groups": ["sre"] })).await.as_deref(),
        Ok("boss")
    );
    assert_eq!(
        of(json!({ "sub": "dave", "groups": ["x", "sre"] }))
            .await
            .as_deref(),
        Ok("platform")
    );
    assert_eq!(
        of(json!({ "sub": "dave", "roles": "platform" }))
            .await
            .as_deref(),
        Ok("platform")
    );
    assert_eq!(
        of(json!({ "sub": "dave", "scope": "skills:read skills:audit" }))
            .await
            .as_deref(),
        Ok("auditors")
    );
    assert_eq!(of(json!({ "sub": "dave" })).await, Err(Denied::NoRole));
    assert_eq!(
        of(json!({ "sub": "carol2", "groups": ["platforms"] })).await,
        Err(Denied::NoRole)
    );
}
