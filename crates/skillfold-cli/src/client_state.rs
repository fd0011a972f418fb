//! The clients that the user has: what is set up in each, and what its model gets.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use skillfold::client::{Client, OwnList};
use skillfold::core::catalog::Status;
use skillfold::core::disclose::Listing;
use skillfold::core::{ContextLifetime, Entry, Policy};
use skillfold::view::ClientPrompt;
use skillfold::{Environment, Skills};
use skillfold_hook::{HookClient, hook_policy};
use skillfold_setup::SetupClient;

/// What is set up in a client that the user has.
pub(crate) struct ClientState {
    pub(crate) client: SetupClient,
    pub(crate) has_server: bool,
    pub(crate) has_hook: bool,
}

impl ClientState {
    /// Returns the state of each client that the user has.
    pub(crate) fn all(environment: &Environment) -> Vec<Self> {
        let clients = SetupClient::ALL.into_iter();
        let used = clients.filter(|client| client.is_used(environment));
        used.map(|client| Self {
            client,
            has_server: client.has_server(environment),
            has_hook: client.has_hook(environment),
        })
        .collect()
    }

    /// Returns what is known about the client, if our server or hook is set up in it.
    pub(crate) fn known(&self) -> Option<&'static Client> {
        let is_set_up = self.has_server || self.has_hook;
        Client::find(self.client.name()).filter(|_| is_set_up)
    }
}

/// Parses the name of a client whose model's view is asked for.
pub(crate) fn client_name() -> impl TypedValueParser<Value = &'static Client> {
    let names: Vec<&str> = Client::ALL.iter().map(|client| client.id).collect();
    PossibleValuesParser::new(names).try_map(|name| Client::find(&name).ok_or("it is not known"))
}

/// Returns the client that was named, or else the first one that is set up.
pub(crate) fn chosen(
    named: Option<&'static Client>,
    environment: &Environment,
) -> Option<&'static Client> {
    all_chosen(named, environment).first().copied()
}

/// Returns the client that was named, or else every one that is set up.
pub(crate) fn all_chosen(
    named: Option<&'static Client>,
    environment: &Environment,
) -> Vec<&'static Client> {
    let set_up = || ClientState::all(environment);
    match named {
        Some(client) => vec![client],
        None => set_up().iter().filter_map(ClientState::known).collect(),
    }
}

/// Returns the name of a client as its maker writes it.
pub(crate) fn title(client: &Client) -> &'static str {
    let known = SetupClient::ALL
        .into_iter()
        .find(|it| it.name() == client.id);
    known.map_or(client.id, SetupClient::title)
}

/// Returns what a client's model gets from the server before any request.
pub(crate) fn client_prompt(skills: &Skills, client: &'static Client) -> (ClientPrompt, Listing) {
    prompt_beside(skills, &skills.own_list(client))
}

/// Returns what a client's model gets from the server if the client lists these skills itself.
fn prompt_beside(skills: &Skills, list: &OwnList) -> (ClientPrompt, Listing) {
    let client = list.client();
    let policy = skills.report().settings.policy();
    let session = skills.session(policy, ContextLifetime::History);
    let mut listing = session.instructions(Some(list), skills.listing_budget(Some(client), None));
    if client.takes_list_from_hook && listing.listed == 0 {
        // The hook gives a list or nothing.
        listing.text.clear();
        listing.tokens = 0;
    }
    (ClientPrompt::new(list, &session, &listing), listing)
}

/// Returns how a client's hook presents skills; `None` if it has no hook, or hooks are turned off.
pub(crate) fn client_policy(skills: &Skills, client: &Client) -> Option<Policy> {
    let hook: HookClient = client.id.parse().ok()?;
    hook_policy(hook, skills, skills.learned_bars())
}

/// Returns what a client's model pays for skills in every request, compared with the client without us.
pub(crate) fn cost_text(tokens: u64, saved: Option<i64>) -> String {
    let all = format!("about {tokens} tokens in every request");
    match saved {
        None => format!("{all}, beside the client's own list"),
        Some(saved) if saved >= 0 => format!("{all}, {saved} fewer than without Skillfold"),
        Some(saved) => format!(
            "{all}, {} more than without Skillfold",
            saved.unsigned_abs()
        ),
    }
}

/// Returns the tokens of all lists and of our tools in every request.
pub(crate) fn all_tokens(prompt: &ClientPrompt) -> u64 {
    prompt.own_tokens.unwrap_or(0) + prompt.tokens + prompt.tool_tokens
}

/// What the lists of a client cost in every request, in tokens.
pub(crate) struct ListCosts {
    pub(crate) client: &'static Client,
    /// How many skills the client lists itself, if its settings turn nothing off.
    pub(crate) skills: usize,
    /// Its own list; `None` if it is not known how the client writes it.
    pub(crate) own: Option<u64>,
    /// Our list alone, with our tools.
    pub(crate) ours: u64,
    /// What we add beside the client's own list.
    pub(crate) beside: u64,
}

impl ListCosts {
    pub(crate) fn new(skills: &Skills, client: &'static Client) -> Self {
        let list = skills.own_list(client).turned_on();
        let (beside, _) = prompt_beside(skills, &list);
        let (alone, _) = prompt_beside(skills, &list.turned_off());
        Self {
            client,
            skills: beside.own_skills,
            own: beside.own_tokens,
            ours: alone.tokens + alone.tool_tokens,
            beside: beside.tokens + beside.tool_tokens,
        }
    }

    /// Returns whether the model gets our list, and pays less for it than for the client's.
    pub(crate) fn saves(&self) -> bool {
        self.client.list_switch.is_some() && self.own.is_some_and(|own| self.ours < own)
    }
}

/// Where a client's model finds each skill.
pub(crate) struct Places {
    list: OwnList,
    listing: Listing,
}

impl Places {
    pub(crate) fn new(skills: &Skills, client: &'static Client) -> Self {
        Self {
            list: skills.own_list(client),
            listing: client_prompt(skills, client).1,
        }
    }

    /// Returns where the model finds a skill.
    pub(crate) fn of(&self, entry: &Entry<'_>) -> &'static str {
        if self.list.shows(entry) {
            return "own list";
        }
        if !entry.is_visible() {
            return "nowhere";
        }
        let is_left_out = self.listing.left_out.iter().any(|id| **id == *entry.id());
        match (is_left_out, self.listing.names_left_out) {
            (false, _) if self.listing.listed > 0 => "our list",
            (true, true) => "by name",
            _ => "search",
        }
    }
}

/// Returns the clients that list an untrusted skill on their own, although we withhold it.
pub(crate) fn clients_that_list_untrusted(
    skills: &Skills,
    environment: &Environment,
) -> Vec<&'static str> {
    let catalog = skills.catalog();
    let clients = ClientState::all(environment).into_iter();
    let lists_untrusted = |state: &ClientState| {
        let Some(client) = Client::find(state.client.name()) else {
            return false;
        };
        let list = skills.own_list(client);
        let mut untrusted = catalog
            .entries()
            .filter(|it| it.status() == Status::Untrusted);
        untrusted.any(|entry| list.shows(&entry))
    };
    clients
        .filter(lists_untrusted)
        .map(|state| state.client.title())
        .collect()
}
