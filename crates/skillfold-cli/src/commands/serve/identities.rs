//! Who may use a server over HTTP, by the settings.

use std::sync::Arc;

use skillfold::settings::ConfiguredIdentity;
use skillfold::{Settings, Skills};
use skillfold_http::{Identities, Issuer, ProtectedResource, Role, TokenFile};

use crate::failure::Failure;
use crate::terminal::output::pluralize;

/// Returns who may use the server; `None` if the settings do not say.
pub(super) fn identities(skills: &Skills) -> Result<Option<Arc<Identities>>, Failure> {
    let report = skills.report();
    let settings = &report.settings;
    if let Some(problem) = settings.server_problems().next() {
        let message = &problem.diagnostic.message;
        return Err(Failure::Usage(format!("{message} ({})", problem.origin)));
    }
    let (issuer, tokens) = (&settings.server_issuer.value, &settings.server_tokens.value);
    if issuer.is_empty() && tokens.is_none() {
        return match settings.identities.first() {
            None => Ok(None),
            Some(identity) => Err(Failure::Usage(format!(
                "`[identities]` needs tokens to tell who asks: set `server_issuer` or `server_tokens` ({})",
                identity.origin
            ))),
        };
    }
    let roles = settings.identities.iter().map(|it| role(skills, it));
    let mut identities = Identities::new(roles.collect::<Result<Vec<_>, _>>()?);
    if let Some(resource) = resource(settings)? {
        identities = identities.with_resource(resource);
    }
    if let Some(path) = tokens {
        identities = identities.with_tokens(TokenFile::open(path)?);
    }
    if !issuer.is_empty() {
        let audience = match settings.server_audience.value.as_str() {
            "" => &settings.server_url.value,
            audience => audience,
        };
        if audience.is_empty() {
            let message = "`server_issuer` needs `server_url`, the address that clients use: tokens have to be for it";
            return Err(Failure::Usage(message.to_owned()));
        }
        let issuer = Issuer::new(issuer, audience)?;
        identities = identities.with_issuer(issuer, settings.server_scopes.value);
    }
    Ok(Some(Arc::new(identities)))
}

/// Returns in a line who may use the server.
pub(super) fn summary(identities: &Identities) -> String {
    let tokens = identities.tokens().map(|tokens| {
        let count = tokens.tokens().len();
        pluralize(count, "named token", "named tokens")
    });
    let people = identities
        .issuer()
        .map(|issuer| format!("people of {}", issuer.url()));
    let users: Vec<String> = people.into_iter().chain(tokens).collect();
    let roles = identities.roles().iter().map(|role| role.name.as_str());
    let roles: Vec<&str> = roles.collect();
    format!("For {}, as {}", users.join(" and "), roles.join(", "))
}

/// Returns the server as its clients know it.
fn resource(settings: &Settings) -> Result<Option<ProtectedResource>, Failure> {
    let issuer = Some(settings.server_issuer.value.as_str()).filter(|issuer| !issuer.is_empty());
    match settings.server_url.value.as_str() {
        "" => Ok(None),
        url => Ok(Some(ProtectedResource::new(url, issuer)?)),
    }
}

fn role(skills: &Skills, identity: &ConfiguredIdentity) -> Result<Role, Failure> {
    let mut role = Role::new(&*identity.name);
    role.subjects.clone_from(&identity.subjects);
    role.groups.clone_from(&identity.groups);
    role.scopes.clone_from(&identity.scopes);
    role.tokens.clone_from(&identity.tokens);
    role.agent.clone_from(&identity.agent);
    if let Some(agent) = &identity.agent {
        skills.agent(agent)?;
    }
    if let Some(sessions) = identity.sessions {
        role.limits.sessions = sessions;
    }
    if let Some(requests) = identity.requests_per_minute {
        role.limits.requests_per_minute = u32::try_from(requests).unwrap_or(u32::MAX);
    }
    Ok(role)
}
