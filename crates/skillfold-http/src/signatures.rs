//! Checks signatures by ring, for the crate that reads tokens.

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{ErrorKind, Result};
use jsonwebtoken::signature::{Error, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind, EncodingKey};
use ring::signature as algorithms;
use ring::signature::{RsaParameters, RsaPublicKeyComponents, VerificationAlgorithm};

/// The algorithms that tokens may be signed by. Those with a shared secret are not among them: whoever could check such a
/// token could also make it.
pub(crate) const ACCEPTED: [Algorithm; 9] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
];

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: no_signer,
    verifier_factory: verifier,
    key_utils: KeyUtils::new_unimplemented(),
};

/// Makes ring check the signatures of this process's tokens, unless the host chose another provider.
pub(crate) fn install() {
    let _ = PROVIDER.install_default();
}

/// Nothing is signed here.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "as the crate calls it")]
fn no_signer(_: &Algorithm, _: &EncodingKey) -> Result<Box<dyn JwtSigner>> {
    Err(ErrorKind::UnsupportedAlgorithm.into())
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as the crate calls it")]
fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>> {
    if key.family() != algorithm.family() || !ACCEPTED.contains(algorithm) {
        return Err(ErrorKind::InvalidKeyFormat.into());
    }
    Ok(Box::new(RingVerifier {
        algorithm: *algorithm,
        key: key.clone(),
    }))
}

/// Checks signatures of one algorithm by one key.
struct RingVerifier {
    algorithm: Algorithm,
    key: DecodingKey,
}

impl Verifier<Vec<u8>> for RingVerifier {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> std::result::Result<(), Error> {
        let checked = match self.key.kind() {
            DecodingKeyKind::RsaModulusExponent { n, e } => {
                let parameters = rsa(self.algorithm).ok_or_else(Error::new)?;
                RsaPublicKeyComponents { n, e }.verify(parameters, message, signature)
            }
            DecodingKeyKind::SecretOrDer(key) => {
                let algorithm = curve(self.algorithm).ok_or_else(Error::new)?;
                algorithms::UnparsedPublicKey::new(algorithm, key).verify(message, signature)
            }
        };
        checked.map_err(|_| Error::new())
    }
}

impl JwtVerifier for RingVerifier {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

fn rsa(algorithm: Algorithm) -> Option<&'static RsaParameters> {
    Some(match algorithm {
        Algorithm::RS256 => &algorithms::RSA_PKCS1_2048_8192_SHA256,
        Algorithm::RS384 => &algorithms::RSA_PKCS1_2048_8192_SHA384,
        Algorithm::RS512 => &algorithms::RSA_PKCS1_2048_8192_SHA512,
        Algorithm::PS256 => &algorithms::RSA_PSS_2048_8192_SHA256,
        Algorithm::PS384 => &algorithms::RSA_PSS_2048_8192_SHA384,
        Algorithm::PS512 => &algorithms::RSA_PSS_2048_8192_SHA512,
        _ => return None,
    })
}

fn curve(algorithm: Algorithm) -> Option<&'static dyn VerificationAlgorithm> {
    Some(match algorithm {
        Algorithm::ES256 => &algorithms::ECDSA_P256_SHA256_FIXED,
        Algorithm::ES384 => &algorithms::ECDSA_P384_SHA384_FIXED,
        Algorithm::EdDSA => &algorithms::ED25519,
        _ => return None,
    })
}
