//! What HTTP servers of skills share: who asks, and what they may do.
//!
//! [`Identities`] checks the token of a request: one of a [`TokenFile`], or a JSON Web Token of the identity provider that
//! the operator named. What comes of it is an [`Identity`], with the [`Role`] that the operator gave it. [`ProtectedResource`] is
//! what a client has to know to get such a token.
#![forbid(unsafe_code)]

// Modules are listed in dependency order.

mod time;

mod address;

mod version;

mod token;

mod token_scope;

mod identity_kind;

mod role;

mod identity;

mod rates;

mod denied;

mod protected_resource;

mod token_file;

mod signatures;

mod claims;

mod fetch;

mod keys;

mod issuer;

mod identities;

pub use denied::{Denied, InvalidToken};
pub use identities::Identities;
pub use identity::Identity;
pub use identity_kind::IdentityKind;
pub use issuer::Issuer;
pub use protected_resource::ProtectedResource;
pub use role::{Role, RoleLimits};
pub use token::Token;
pub use token_file::{NamedToken, TokenFile};
pub use token_scope::{TokenScope, TokenScopes};
