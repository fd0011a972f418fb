//! `skillfold tools`

use std::process::ExitCode;

use skillfold::core::Error;
use skillfold::view::{Document, RunView, ScriptList, SkillToolView};

use crate::arguments::{Global, Tools};
use crate::failure::{CommandResult, EXIT_FAILED};
use crate::host;
use crate::terminal::output::{BOLD, DIM, Output, PLAIN, WARN, paint, pluralize};
use crate::terminal::table::Table;

pub(crate) fn run(global: &Global, options: &Tools, output: &mut Output) -> CommandResult {
    let skills = host::skills(global, output)?;
    let skill = skills.runnable(&options.id)?;
    let Some(tool) = &options.tool else {
        if output.is_json() {
            return output.json(Document::Scripts(ScriptList::new(&skill)));
        }
        let allowed = skill.check_allowed()?;
        let mut table = Table::default();
        for tool in &allowed.tools {
            let view = SkillToolView::new(skill.id(), tool);
            table.row([
                (BOLD, &view.name),
                (DIM, &view.model_name),
                (PLAIN, &view.description),
            ]);
        }
        output.table(&table)?;
        output.say(pluralize(allowed.tools.len(), "tool", "tools"));
        return Ok(ExitCode::SUCCESS);
    };
    let arguments = serde_json::from_str(&options.arguments)
        .map_err(|error| Error::invalid("JSON", error.to_string()))?;
    let answer = skills.call_skill_tool(&skill, tool, &arguments)?;
    if output.is_json() {
        let view = RunView::tool(skill.id(), tool, &answer);
        output.json(Document::Run(view))?;
    } else {
        output.line(answer.output.trim_end_matches('\n'))?;
        for note in answer.corrections.notes() {
            output.say(format!("{} {note}", paint(WARN, "note:")));
        }
    }
    Ok(if answer.is_error {
        ExitCode::from(EXIT_FAILED)
    } else {
        ExitCode::SUCCESS
    })
}
