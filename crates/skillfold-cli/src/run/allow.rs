//! `skillfold allow`

use std::process::ExitCode;

use anstyle::Style;
use skillfold::core::Error;
use skillfold::core::diagnostic::visible;
use skillfold::run::layers;
use skillfold::view::{AllowedList, Document, ScriptList};
use skillfold::{AllowedSkills, RunnableSkill, Skills, disallow_skill};

use crate::arguments::{Allow, Global};
use crate::failure::Failure;
use crate::host;
use crate::improve::decision;
use crate::output::{BOLD, DIM, GOOD, Output, WARN, display_path, paint, pluralize};
use crate::table::Table;

pub(crate) fn run(
    global: &Global,
    options: &Allow,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let skills = host::skills(global, output)?;
    let Some(id) = &options.id else {
        return list(global, output);
    };
    let skill = skills.runnable(id)?;
    if options.remove {
        let folder = skill.folder().ok_or_else(|| Error::not_found(id))?;
        disallow_skill(&host::environment(global)?, folder)?;
        output.say(format!("`{}` may not run any more", visible(id)));
    } else {
        allow(&skills, &skill, output)?;
    }
    if output.is_json() {
        output.json(Document::Scripts(ScriptList::new(&skills.runnable(id)?)))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn list(global: &Global, output: &mut Output) -> Result<ExitCode, Failure> {
    let allowed = AllowedSkills::load(&host::environment(global)?);
    if output.is_json() {
        output.json(Document::Allowed(AllowedList::new(&allowed)))?;
        return Ok(ExitCode::SUCCESS);
    }
    for skill in &allowed.skills {
        let tools = pluralize(skill.tools.len(), "tool", "tools");
        output.line(format!(
            "{}  {}",
            display_path(&skill.folder),
            paint(DIM, tools)
        ))?;
        for granted in &skill.granted {
            output.line(format!("  gets {}", visible(granted)))?;
        }
    }
    for problem in &allowed.findings {
        host::say_with_origin(&problem.diagnostic, &problem.origin, output);
    }
    let number = pluralize(allowed.skills.len(), "skill may", "skills may");
    output.say(format!("{number} run while unchanged"));
    Ok(ExitCode::SUCCESS)
}

/// Shows what a skill would run, asks the user at the terminal, and remembers the answer. Does nothing if it is allowed.
pub(crate) fn allow(
    skills: &Skills,
    skill: &RunnableSkill,
    output: &mut Output,
) -> Result<(), Failure> {
    if skill.allowed().is_some() {
        output.say("Nothing to do: it may run as it is");
        return Ok(());
    }
    show(skill, output)?;
    let question = format!("Let `{}` run this?", visible(skill.id()));
    let store = skills.store()?;
    let approval = decision::approve(skills, &store, &question, skill.id(), output)?;
    // The user has decided, so its toolsets may be started to learn which tools they have.
    let tools = skill.list_tools()?;
    let names: Vec<_> = tools.iter().map(|tool| visible(&tool.name)).collect();
    if !names.is_empty() {
        output.say(format!("Its tools: {}", names.join(", ")));
    }
    skills.allow(skill, tools, &approval)?;
    output.say(format!(
        "{}: `{}` may run while it is unchanged; `skillfold allow --remove` takes it back",
        paint(GOOD, "Allowed"),
        visible(skill.id())
    ));
    Ok(())
}

/// Shows what a skill would run and what it asks for.
pub(crate) fn show(skill: &RunnableSkill, output: &mut Output) -> Result<(), Failure> {
    output.show(paint(BOLD, visible(skill.id())))?;
    if let Some(folder) = skill.folder() {
        output.show(format!("  {}", display_path(folder)))?;
    }
    let listed = skill.scripts();
    let mut table = Table::indented(2);
    for script in &listed.scripts {
        let program = script.interpreters.first();
        table.row([
            (Style::new(), visible(script.path.as_str()).into_owned()),
            (
                DIM,
                program.map_or_else(String::new, |it| it.program.clone()),
            ),
        ]);
    }
    for unusable in &listed.unusable {
        table.row([
            (Style::new(), visible(&unusable.path).into_owned()),
            (WARN, unusable.reason.to_owned()),
        ]);
    }
    for toolset in skill.toolsets() {
        table.row([
            (Style::new(), visible(toolset).into_owned()),
            (DIM, "toolset".to_owned()),
        ]);
    }
    output.show_table(&table)?;
    let asked = skill.asked();
    for line in asked.lines() {
        output.show(paint(WARN, format!("  asks for {line}")))?;
    }
    for unknown in &asked.unknown {
        let unknown = visible(unknown);
        output.show(format!("  asks for `{unknown}`, which it does not get"))?;
    }
    if asked.is_empty() {
        output.show("  gets its own files, a scratch folder and no network")?;
    }
    for state in layers().layers {
        if let Some(why) = &state.missing {
            let text = format!("  the box lacks {}: {why}", state.layer);
            output.show(paint(WARN, text))?;
        }
    }
    Ok(())
}
