//! Whose list of skills a client's model gets: what each costs, and the choice.

use skillfold::client::{BundledSkills, Client, ListSwitch};
use skillfold::view::SetupList;
use skillfold::{Environment, Skills};
use skillfold_setup::{ListFile, SetupClient};

use crate::arguments::{Setup, SetupListChoice};
use crate::client_state::ListCosts;
use crate::terminal::ask::{ask_line, can_ask};
use crate::terminal::output::{BOLD, Output, paint, pluralize};

/// Whose list a client's model gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhoseList {
    /// Ours alone.
    Ours,
    /// Ours beside the client's.
    Both,
    /// The client is left as it is.
    Neither,
}

/// Returns the JSON view of what the lists cost, and of the choice.
pub(crate) fn list_view(costs: &ListCosts, choice: WhoseList) -> SetupList {
    SetupList {
        client: costs.client.id.to_owned(),
        skills: costs.skills,
        own_tokens: costs.own,
        ours_tokens: costs.ours,
        both_tokens: costs.own.map(|own| own + costs.beside),
        list: match choice {
            WhoseList::Ours => "ours",
            WhoseList::Both => "both",
            WhoseList::Neither => "neither",
        }
        .to_owned(),
    }
}

/// Shows what the lists cost, and asks which one the model gets.
pub(crate) fn choose(
    costs: &ListCosts,
    client: SetupClient,
    options: &Setup,
    environment: &Environment,
    output: &mut Output,
) -> WhoseList {
    let title = client.title();
    if costs.skills == 0 && options.list.is_none() {
        return WhoseList::Both;
    }
    let default = if costs.saves() {
        WhoseList::Ours
    } else {
        WhoseList::Both
    };
    let is_asked = options.list.is_none() && !options.yes && !options.dry_run && can_ask();
    if !output.is_json() || is_asked {
        say_costs(costs, title, output);
    }
    let choice = match options.list {
        Some(SetupListChoice::Ours) => WhoseList::Ours,
        Some(SetupListChoice::Both) => WhoseList::Both,
        None if !is_asked => default,
        None => ask_choice(default, title, output),
    };
    if let Some(switch) = costs.client.list_switch
        && choice == WhoseList::Ours
        && !output.is_json()
    {
        output.say(format!(
            "{title}'s own list is turned off; {}",
            switch.remains
        ));
        say_staying(switch, title, environment, output);
    }
    choice
}

/// Says how many skills the setting cannot turn off.
fn say_staying(switch: ListSwitch, title: &str, environment: &Environment, output: &mut Output) {
    let bundled = switch.bundled.filter(|bundled| bundled.count > 0);
    let of_plugins = switch.plugin_skills(environment);
    let all = of_plugins + bundled.map_or(0, |bundled| bundled.count);
    if all == 0 {
        return;
    }
    let with_client = bundled.map(|BundledSkills { count, version, .. }| {
        format!("{count} that come with {title} (as of {version})")
    });
    let from_plugins = (of_plugins > 0).then(|| format!("{of_plugins} from plugins"));
    let parts: Vec<String> = with_client.into_iter().chain(from_plugins).collect();
    let skills = pluralize(all, "skill stays", "skills stay");
    output.say(format!("{skills} in it: {}", parts.join(", ")));
}

fn say_costs(costs: &ListCosts, title: &str, output: &mut Output) {
    let skills = pluralize(costs.skills, "skill", "skills");
    output.say(paint(BOLD, format!("{title}: lists {skills} itself")));
    if let Some(own) = costs.own {
        let both = own + costs.beside;
        output.say(format!(
            "  its own list        about {own:>7} tokens in every request"
        ));
        output.say(format!("  our list alone      about {:>7}", costs.ours));
        output.say(format!("  both                about {both:>7}"));
    }
}

fn ask_choice(default: WhoseList, title: &str, output: &mut Output) -> WhoseList {
    let preset = if default == WhoseList::Ours { 1 } else { 2 };
    let question =
        format!("1 our list alone, 2 both, 3 leave {title} as it is. Which one? [{preset}] ");
    loop {
        match ask_line(&question, output).as_deref() {
            Some("1") => return WhoseList::Ours,
            Some("2") => return WhoseList::Both,
            Some("3") | None => return WhoseList::Neither,
            Some("") => return default,
            Some(_) => output.say("Type 1, 2 or 3"),
        }
    }
}

/// Returns the skills to turn off in one of the client's files.
pub(crate) fn names(skills: &Skills, client: SetupClient, file: ListFile) -> Vec<String> {
    let Some(client) = Client::find(client.name()) else {
        return Vec::new();
    };
    let names = skills.own_list(client).names(&skills.catalog());
    let names = match file {
        ListFile::Local => names.project,
        _ => names.user,
    };
    names.into_iter().collect()
}
