//! Skills with toolsets, for tests.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use skillfold_run::toolset::{ToolOutput, Toolset, ToolsetOptions, load_toolset};
use skillfold_run::{RunError, RunLimits, RunOptions, SkillCopy};

/// Returns a skill with these files.
pub(crate) fn skill(files: &[(&str, &str)]) -> Arc<SkillCopy> {
    let files = files
        .iter()
        .map(|(path, text)| (path.parse().unwrap(), text.as_bytes().to_vec()));
    Arc::new(SkillCopy::new(files).unwrap())
}

/// Loads a toolset from a skill with these files.
pub(crate) fn load(files: &[(&str, &str)], reference: &str) -> Result<Box<dyn Toolset>, RunError> {
    load_with(files, reference, &ToolsetOptions::default())
}

pub(crate) fn load_with(
    files: &[(&str, &str)],
    reference: &str,
    options: &ToolsetOptions,
) -> Result<Box<dyn Toolset>, RunError> {
    load_toolset(&skill(files), &reference.parse()?, options)
}

/// Returns options with this time limit per call.
pub(crate) fn within(time: Duration) -> ToolsetOptions {
    ToolsetOptions::default()
        .with_run(RunOptions::default().with_limits(RunLimits::default().with_wall_time(time)))
}

/// Formats the names, descriptions and schemas of a toolset's tools.
pub(crate) fn show_tools(toolset: &dyn Toolset) -> String {
    let line = |tool: &skillfold_run::toolset::ToolSpec| {
        format!(
            "{}: {}\n  {}",
            tool.name, tool.description, tool.input_schema
        )
    };
    toolset
        .tools()
        .iter()
        .map(line)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Formats the result of a call.
pub(crate) fn show_call(toolset: &mut dyn Toolset, tool: &str, arguments: &Value) -> String {
    match toolset.call(tool, arguments) {
        Ok(answer) => show_output(&answer),
        Err(error) => show_error(&error),
    }
}

fn show_output(answer: &ToolOutput) -> String {
    let ToolOutput {
        title,
        metadata,
        output,
        is_error,
        ..
    } = answer;
    let kind = if *is_error { "failed" } else { "ok" };
    format!("{kind}: {output:?}, title {title:?}, metadata {metadata}")
}

pub(crate) fn show_error(error: &RunError) -> String {
    format!("{}: {error}\nhint: {}", error.code(), error.hint())
}

/// Returns why a toolset was not loaded.
pub(crate) fn refusal(files: &[(&str, &str)], reference: &str) -> String {
    show_error(&load(files, reference).unwrap_err())
}
