//! `skillfold search`

use std::process::ExitCode;

use skillfold::Skills;
use skillfold::core::diagnostic::visible;
use skillfold::registry::InstallScope;
use skillfold::view::{Document, FoundSkill, SearchView, SnippetText, SourceSkills};

use crate::arguments::{self, Global};
use crate::commands::add;
use crate::commands::why::{likelihood, say_unread};
use crate::failure::{CommandResult, Failure};
use crate::host;
use crate::terminal::output::{BOLD, DIM, Output, WARN, paint, pluralize};
use crate::terminal::progress;
use crate::terminal::table::cut;

/// What a snippet starts with.
const SNIPPET_INDENT: &str = "   ";

pub(crate) fn run(
    global: &Global,
    options: &arguments::Search,
    output: &mut Output,
) -> CommandResult {
    let skills = host::skills(global, output)?;
    let request = options.request.join(" ");
    if let Some(source) = &options.source {
        return search_in(&skills, source, &request, options, output);
    }
    let limit = options.limit.get();
    let found = if options.all {
        skills.search_among(&request, limit, |_| true)
    } else {
        skills.search(&request, limit)
    };
    let search = SearchView::new(&request, &found);
    if output.is_json() {
        return output.json(Document::Search(search));
    }
    print(&search, options.numbers, output)?;
    if !options.all {
        host::say_withheld(found.catalog(), output);
    }
    Ok(ExitCode::SUCCESS)
}

/// Searches a source, or lists all of its skills.
fn search_in(
    skills: &Skills,
    source: &str,
    request: &str,
    options: &arguments::Search,
    output: &mut Output,
) -> CommandResult {
    let registry = skills.registry(InstallScope::Project)?;
    let address = registry.address(source)?;
    let registry = registry.with_progress(progress::fetching(output.is_quiet()));
    let contents = match request {
        "" => registry.skills_in(&address),
        request => registry.search(&address, request, options.limit.get()),
    };
    progress::clear();
    let contents = contents?;
    if output.is_json() {
        let view = SourceSkills::new(source, &contents);
        return output.json(Document::SourceSkills(view));
    }
    add::show_skills(&contents.skills, output)?;
    add::say_left_out(&contents.left_out, output);
    let source = visible(source);
    output.say(match contents.skills.len() {
        0 => format!("No skill found; `skillfold search --in {source}` lists all"),
        number => format!(
            "{}; `skillfold add {source} --skill NAME` adds one",
            pluralize(number, "skill", "skills")
        ),
    });
    Ok(ExitCode::SUCCESS)
}

fn print(search: &SearchView, numbers: bool, output: &mut Output) -> Result<(), Failure> {
    for found in &search.found {
        output.line(result_line(found, numbers))?;
        if let Some(snippet) = &found.snippet {
            let columns = output
                .columns()
                .map(|columns| columns - SNIPPET_INDENT.len());
            output.drawing(format!("{SNIPPET_INDENT}{}", highlight(snippet, columns)))?;
        }
    }
    say_unread(search.unread, None, output);
    if let Some(problem) = &search.problem {
        output.say(visible(problem));
    }
    if search.found.is_empty() {
        output.say("no skill matches; `skillfold list` shows all skills");
    }
    let searched = pluralize(search.searched, "skill", "skills");
    output.say(paint(
        DIM,
        format!("{searched} searched, {}", coverage_text(search)),
    ));
    Ok(())
}

fn result_line(found: &FoundSkill, numbers: bool) -> String {
    let skill = &found.skill;
    let scope = match skill.status.as_str() {
        "active" => paint(DIM, &skill.scope),
        status => paint(WARN, format!("{}, {status}", skill.scope)),
    };
    let confidence = likelihood(found.confidence, numbers);
    let (rank, id) = (found.rank, paint(BOLD, visible(&skill.id)));
    format!("{rank}. {id}  {scope}  {}", paint(DIM, confidence))
}

/// Returns a snippet with the query's terms in bold, cut to the columns that there are.
fn highlight(snippet: &SnippetText, columns: Option<usize>) -> String {
    let text = columns.map_or(&*snippet.text, |columns| {
        let cut = cut(&snippet.text, columns);
        &snippet.text[..cut.trim_end_matches('…').len().min(snippet.text.len())]
    });
    let is_cut = text.len() < snippet.text.len();
    let (mut line, mut end) = (String::new(), 0);
    for mark in snippet.marks.iter().filter(|mark| mark.end <= text.len()) {
        line.push_str(&visible(&text[end..mark.start]));
        line.push_str(&paint(BOLD, visible(&text[mark.start..mark.end])));
        end = mark.end;
    }
    line.push_str(&visible(&text[end..]));
    if is_cut {
        line.push('…');
    }
    line
}

fn coverage_text(search: &SearchView) -> &'static str {
    match search.coverage.as_str() {
        "bodies" => "metadata and instructions",
        _ => "metadata only",
    }
}
