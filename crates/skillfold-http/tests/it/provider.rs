//! An identity provider whose tokens a test makes, right and wrong.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _,
};
use serde_json::{Value, json};

/// What tokens are for.
pub(crate) const AUDIENCE: &str = "https://skills.example.com/mcp";

/// A key that signs tokens.
pub(crate) enum Key {
    P256(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

impl Key {
    pub(crate) fn p256() -> Self {
        let (random, algorithm) = (SystemRandom::new(), &ECDSA_P256_SHA256_FIXED_SIGNING);
        let key = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        Self::P256(EcdsaKeyPair::from_pkcs8(algorithm, key.as_ref(), &random).unwrap())
    }

    pub(crate) fn ed25519() -> Self {
        let key = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Self::Ed25519(Ed25519KeyPair::from_pkcs8(key.as_ref()).unwrap())
    }

    pub(crate) fn algorithm(&self) -> &'static str {
        match self {
            Self::P256(_) => "ES256",
            Self::Ed25519(_) => "EdDSA",
        }
    }

    /// Returns the public key as providers publish it.
    pub(crate) fn public(&self, id: &str) -> Value {
        match self {
            Self::P256(key) => {
                let point = key.public_key().as_ref();
                json!({ "kty": "EC", "crv": "P-256", "kid": id, "use": "sig", "x": base64(&point[1..33]), "y": base64(&point[33..]) })
            }
            Self::Ed25519(key) => {
                json!({ "kty": "OKP", "crv": "Ed25519", "kid": id, "x": base64(key.public_key().as_ref()) })
            }
        }
    }

    pub(crate) fn sign(&self, message: &str) -> String {
        match self {
            Self::P256(key) => base64(
                key.sign(&SystemRandom::new(), message.as_bytes())
                    .unwrap()
                    .as_ref(),
            ),
            Self::Ed25519(key) => base64(key.sign(message.as_bytes()).as_ref()),
        }
    }

    /// Returns a token with this header and these claims.
    pub(crate) fn token(&self, header: &Value, claims: &Value) -> String {
        let message = format!(
            "{}.{}",
            base64(header.to_string().as_bytes()),
            base64(claims.to_string().as_bytes())
        );
        format!("{message}.{}", self.sign(&message))
    }

    /// Returns a right token of a subject, by a key with this id.
    pub(crate) fn right(&self, id: &str, issuer: &str, subject: &str) -> String {
        self.token(&self.header(id), &claims(issuer, subject))
    }

    pub(crate) fn header(&self, id: &str) -> Value {
        json!({ "alg": self.algorithm(), "kid": id, "typ": "at+jwt" })
    }
}

/// Returns the claims of a right token.
pub(crate) fn claims(issuer: &str, subject: &str) -> Value {
    json!({ "iss": issuer, "sub": subject, "aud": AUDIENCE, "exp": now() + 600, "iat": now(), "scope": "openid skills:read" })
}

pub(crate) fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs()
}

/// Encodes bytes as tokens do.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let group = chunk
            .iter()
            .fold(0, |group: u32, byte| group << 8 | u32::from(*byte))
            << (8 * (3 - chunk.len()));
        for digit in 0..=chunk.len() {
            text.push(char::from(
                DIGITS[(group >> (18 - 6 * digit) & 63) as usize],
            ));
        }
    }
    text
}

/// A provider on the loopback, which describes itself and shows its keys.
pub(crate) struct Provider {
    pub(crate) issuer: String,
    keys: Arc<Mutex<Vec<Value>>>,
    asked: Arc<Mutex<usize>>,
}

impl Provider {
    pub(crate) fn start(keys: impl IntoIterator<Item = Value>) -> Self {
        let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let issuer = format!("http://{}", listener.local_addr().unwrap());
        let keys = Arc::new(Mutex::new(keys.into_iter().collect::<Vec<_>>()));
        let asked = Arc::new(Mutex::new(0));
        let provider = Self {
            issuer: issuer.clone(),
            keys: Arc::clone(&keys),
            asked: Arc::clone(&asked),
        };
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut lines = BufReader::new(&stream).lines();
                let request = lines.next().unwrap().unwrap();
                while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
                let answer = match request.split(' ').nth(1).unwrap() {
                    "/keys" => {
                        *asked.lock().unwrap() += 1;
                        json!({ "keys": *keys.lock().unwrap() })
                    }
                    "/.well-known/openid-configuration" => {
                        json!({ "issuer": issuer, "jwks_uri": format!("{issuer}/keys") })
                    }
                    _ => {
                        let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
                        continue;
                    }
                };
                let (answer, head) = (
                    answer.to_string(),
                    "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length:",
                );
                let _ =
                    stream.write_all(format!("{head} {}\r\n\r\n{answer}", answer.len()).as_bytes());
            }
        });
        provider
    }

    /// Replaces its keys.
    pub(crate) fn rotate(&self, keys: impl IntoIterator<Item = Value>) {
        *self.keys.lock().unwrap() = keys.into_iter().collect();
    }

    /// Returns how often it was asked for its keys.
    pub(crate) fn asked(&self) -> usize {
        *self.asked.lock().unwrap()
    }
}
