//! What a client's model pays for skills, and where it finds them.

use skillfold::Skills;
use skillfold::client::Client;
use skillfold::core::{Catalog, Entry};
use skillfold::view::{ClientPrompt, TurnView};
use skillfold_hook::HookClient;

use crate::client_state::{Places, all_tokens, client_prompt, title};
use crate::commands::report::html::{Cell, Column, HtmlTable, difference};

/// The places where a model finds skills, in the order of their columns.
const PLACES: [&str; 5] = ["own list", "our list", "by name", "search", "nowhere"];

/// What a client's model pays for skills, and where it finds them.
pub(super) struct ClientFacts {
    client: &'static Client,
    prompt: ClientPrompt,
    places: Places,
}

impl ClientFacts {
    pub(super) fn new(skills: &Skills, client: &'static Client) -> Self {
        Self {
            client,
            prompt: client_prompt(skills, client).0,
            places: Places::new(skills, client),
        }
    }

    pub(super) fn id(&self) -> &'static str {
        self.client.id
    }

    pub(super) fn title(&self) -> &'static str {
        title(self.client)
    }

    /// Returns the tokens of the client's own list without Skillfold; `None` if it is not known how the client writes it.
    pub(super) fn without(&self) -> Option<u64> {
        self.prompt.own_tokens_without
    }

    /// Returns where the model finds a skill.
    pub(super) fn place(&self, entry: &Entry<'_>) -> &'static str {
        self.places.of(entry)
    }

    /// Returns what a request costs as the first of a conversation, with what the hook adds.
    pub(super) fn request_cost(&self, skills: &Skills, request: &str) -> RequestCost {
        let hook = self.client.id.parse::<HookClient>().ok();
        let bars = skills.learned_bars();
        let preview = hook.and_then(|hook| skillfold_hook::preview(hook, skills, bars, request));
        let turn = preview.map(|it| TurnView::new(&it.policy, &it.turn));
        RequestCost::new(request, all_tokens(&self.prompt), turn.as_ref())
    }
}

/// The tokens of a request.
pub(super) struct RequestCost {
    pub(super) request: String,
    /// What every request has: the listing, or all lists of a client and our tools.
    pub(super) listing: u64,
    /// What the request adds.
    pub(super) added: u64,
    /// The ids of the skills whose instructions it brings.
    pub(super) given: Vec<String>,
    /// The ids of the skills that the client is told to load itself.
    pub(super) named: Vec<String>,
    /// The ids of the skills that a line suggests.
    pub(super) suggested: Vec<String>,
}

impl RequestCost {
    /// A turn is absent if the settings turn hooks off.
    pub(super) fn new(request: &str, listing: u64, turn: Option<&TurnView>) -> Self {
        let with = |outcomes: &[&str]| {
            let decisions = turn.iter().flat_map(|turn| &turn.decided.decisions);
            let wanted = decisions.filter(|decision| outcomes.contains(&&*decision.outcome));
            wanted.map(|decision| decision.id.clone()).collect()
        };
        Self {
            request: request.to_owned(),
            listing,
            added: turn.map_or(0, |turn| turn.tokens),
            given: with(&["given"]),
            named: with(&["named"]),
            suggested: with(&["suggested", "no_room"]),
        }
    }
}

/// Returns what each client's model pays for skills in every request.
pub(super) fn costs(clients: &[ClientFacts]) -> HtmlTable {
    const COLUMNS: &[Column] = &[
        ("Client", "name"),
        ("Its own list", "number"),
        ("Our list", "number"),
        ("Our tools", "number"),
        ("Together", "number"),
        ("Without Skillfold", "number"),
        ("Difference", "number"),
    ];
    let rows = clients.iter().map(|it| {
        let (prompt, all) = (&it.prompt, all_tokens(&it.prompt));
        let known = |tokens: Option<u64>| tokens.map_or(Cell::Unknown("unknown"), Cell::number);
        let compared = it.without().map(|without| difference(all, without));
        vec![
            Cell::Text(it.title().to_owned()),
            known(prompt.own_tokens),
            Cell::number(prompt.tokens),
            Cell::number(prompt.tool_tokens),
            known(prompt.own_tokens.map(|_| all)),
            known(it.without()),
            compared.map_or(Cell::Unknown("unknown"), Cell::Text),
        ]
    });
    let caption = "Tokens of skills in every request, by client";
    HtmlTable::new(caption, COLUMNS, rows, clients.len(), "")
}

/// Returns how many skills each client's model finds where.
pub(super) fn places(clients: &[ClientFacts], catalog: &Catalog) -> HtmlTable {
    const COLUMNS: &[Column] = &[
        ("Client", "name"),
        ("Its own list", "number"),
        ("Our list", "number"),
        ("By name", "number"),
        ("Search", "number"),
        ("Nowhere", "number"),
    ];
    let rows = clients.iter().map(|it| {
        let count = |place: &str| {
            let found = catalog.entries().filter(|entry| it.place(entry) == place);
            Cell::number(found.count() as u64)
        };
        let title = Cell::Text(it.title().to_owned());
        std::iter::once(title).chain(PLACES.map(count)).collect()
    });
    let caption = "Where each client's model finds the skills";
    HtmlTable::new(caption, COLUMNS, rows, clients.len(), "")
}
