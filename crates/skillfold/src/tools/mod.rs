//! The tools that a model has for skills: their definitions, and what a call answers. The MCP server and the bindings
//! offer them as they are; a hand-made agent loop calls them directly.

mod definition;
mod media;

#[cfg(feature = "store")]
mod propose;
#[cfg(feature = "run")]
mod run_script;

mod run;

use std::sync::Arc;

use skillfold_core::disclose::{Memory as _, ToolNames};

pub use crate::answer::{Block, Fit, Tool, ToolAnswer};
pub use definition::ToolDefinition;
pub use media::{BYTES_TYPE, media_type};

use crate::answer::failure::Failure;
use crate::answer::{AnswerCache, AnswerKey};
use crate::client::OwnList;
use crate::conversation::session::Session;
use crate::json::Json;

impl Session {
    /// Returns the definitions of the tools, for the model; none if the conversation may see no skill.
    pub fn tools(&self) -> Vec<ToolDefinition> {
        let has_skills =
            (self.skills).with_catalog(|catalog| self.visible(catalog).next().is_some());
        if !has_skills {
            return Vec::new();
        }
        #[cfg_attr(not(feature = "store"), expect(unused_mut, reason = "used with it"))]
        let mut tools = definition::definitions(&self.policy);
        #[cfg(feature = "store")]
        if self.may_propose() {
            tools.extend(propose::definitions());
        }
        #[cfg(feature = "run")]
        if self.may_run() {
            tools.extend(run_script::definitions());
        }
        tools
    }

    /// Returns the definitions of the tools for a client's model. A client that lists all skills itself gets those alone that
    /// find and load a skill.
    pub fn tools_for(&self, list: Option<&OwnList>) -> Vec<ToolDefinition> {
        let mut tools = self.tools();
        if self.is_listed_by(list) {
            let is_needed =
                |tool: Tool| matches!(tool, Tool::Search | Tool::Load) || !tool.only_reads();
            tools.retain(|tool| is_needed(tool.tool));
        }
        tools
    }

    /// Returns whether a client itself lists all skills that the conversation may see.
    pub fn is_listed_by(&self, list: Option<&OwnList>) -> bool {
        list.is_some_and(|list| {
            self.skills.with_catalog(|catalog| {
                let mut visible = catalog.visible();
                visible.all(|entry| list.lists(&entry) || !self.state.may_see(entry.id()))
            })
        })
    }

    /// Returns the tool that has a name in this conversation.
    pub fn tool(&self, name: &str) -> Option<Tool> {
        let ToolNames {
            list,
            search,
            load,
            read,
            ..
        } = &self.policy.tools;
        match name {
            name if name == &**list => Some(Tool::List),
            name if name == &**search => Some(Tool::Search),
            name if name == &**load => Some(Tool::Load),
            name if name == &**read => Some(Tool::Read),
            ToolNames::LOAD_ALIAS => Some(Tool::LoadAlias),
            #[cfg(feature = "store")]
            Tool::PROPOSE_UPDATE if self.may_propose() => Some(Tool::ProposeUpdate),
            #[cfg(feature = "store")]
            Tool::PROPOSE_NEW if self.may_propose() => Some(Tool::ProposeNew),
            #[cfg(feature = "run")]
            Tool::RUN_SCRIPT if self.may_run() => Some(Tool::RunScript),
            #[cfg(feature = "run")]
            Tool::CALL_TOOL if self.may_run() => Some(Tool::CallTool),
            _ => None,
        }
    }

    /// Calls a tool as the model asked, and records in the conversation what it was given. `arguments` is the JSON text that
    /// the model wrote; an empty one counts as no arguments. Whatever is wrong with the call is an answer that the model can
    /// act on.
    ///
    /// ```
    /// # use skillfold::{Environment, Host, core::{ContextLifetime, MemorySource, Policy}};
    /// # let file = "---\nname: greet\ndescription: Says hello\n---\nSay hello.\n";
    /// # let source = MemorySource::new([("greet/SKILL.md", file)]);
    /// # let skills = Host::new(Environment::new("/nowhere")).bundled("built in", source).discover()?.skills;
    /// let mut session = skills.session(Policy::default(), ContextLifetime::History);
    /// let names: Vec<_> = session.tools().iter().map(|tool| tool.name.clone()).collect();
    /// assert_eq!(names, ["search_skills", "load_skill", "read_skill_resource", "list_skills"]);
    /// let answer = session.call("load_skill", r#"{ "skill_id": "greet" }"#);
    /// assert!(answer.text().contains("Say hello."));
    /// # Ok::<(), skillfold::core::Error>(())
    /// ```
    pub fn call(&mut self, name: &str, arguments: &str) -> Arc<ToolAnswer> {
        let text = match arguments.trim() {
            "" => "{}",
            text => text,
        };
        let arguments = match serde_json::from_str(text) {
            Ok(arguments) => Json(arguments),
            Err(error) => {
                let message = format!("The arguments are not valid JSON: {error}");
                return invalid_call(message, "Write them as the tool's schema says");
            }
        };
        #[cfg(feature = "run")]
        if self.tool(name).is_none()
            && let Some(arguments) = self.skill_tool(name, &arguments)
        {
            return self.answer(Tool::CallTool, arguments);
        }
        let Some(tool) = self.tool(name) else {
            let names = self.tools().into_iter().map(|tool| tool.name);
            let names: Vec<_> = names.collect();
            let hint = format!("Call one of these: {}", names.join(", "));
            return invalid_call(format!("There is no tool `{name}`"), &hint);
        };
        let answer = self.answer(tool, arguments);
        self.record_answer(&answer);
        answer
    }

    /// Answers a call of a tool without recording it: for hosts that answer several calls of a conversation at the same
    /// time. Pass the answer to [`record_answer`](Self::record_answer).
    ///
    /// Lists, search results and loaded skills are cached until the next refresh, for conversations that may see all
    /// skills. A loaded skill is taken from the cache only if its files are unchanged.
    pub fn answer(&self, tool: Tool, arguments: Json) -> Arc<ToolAnswer> {
        self.skills.check_trust();
        let cache = self.is_cached(tool).then(|| self.skills.answers());
        let key = AnswerKey::new(tool, self.envelope_of(tool), &arguments);
        let cached = cache.as_ref().and_then(|cache| cache.get(&key));
        if let Some(answer) = cached.filter(|answer| self.is_current(answer)) {
            return answer;
        }
        self.run_and_cache(tool, arguments, cache.as_deref(), key)
    }

    /// Answers a call if that touches no file, waits for nothing and takes less than a change of threads: from the cache, or
    /// by a search in memory among few skills. For hosts that must not block the thread; otherwise they call
    /// [`answer`](Self::answer) on another one.
    pub fn quick_answer(&self, tool: Tool, arguments: &Json) -> Option<Arc<ToolAnswer>> {
        let cache = self.skills.checked_answers()?;
        let key = AnswerKey::new(tool, self.envelope_of(tool), arguments);
        let cache = self.is_cached(tool).then_some(cache);
        if let Some(answer) = cache.as_ref().and_then(|cache| cache.get(&key)) {
            return answer.loaded().is_none().then_some(answer);
        }
        let is_quick =
            matches!(tool, Tool::Search | Tool::List) && self.skills.is_quick_to_search();
        if !is_quick {
            return None;
        }
        Some(self.run_and_cache(tool, arguments.clone(), cache.as_deref(), key))
    }

    /// Returns whether the model has the instructions that an answer gives.
    pub fn has_answer(&self, answer: &ToolAnswer) -> bool {
        answer.loaded().is_some_and(|loaded| {
            loaded.arguments.is_empty() && self.state.has_instructions(&loaded.text.instructions)
        })
    }

    /// Records in the conversation what an answer gave to the model.
    pub fn record_answer(&mut self, answer: &ToolAnswer) {
        if let Some(loaded) = answer.loaded() {
            let instructions = &loaded.text.instructions;
            let tokens = if Arc::ptr_eq(&loaded.counter, &self.policy.counter) {
                loaded.tokens
            } else {
                self.policy.counter.count(instructions.text())
            };
            self.state
                .record_load(instructions, &loaded.arguments, tokens);
        }
    }

    fn run_and_cache(
        &self,
        tool: Tool,
        arguments: Json,
        cache: Option<&AnswerCache>,
        key: AnswerKey,
    ) -> Arc<ToolAnswer> {
        let answer = Arc::new(self.run(tool, arguments.0));
        if let Some(cache) = cache.filter(|_| answer.is_cacheable()) {
            cache.insert(key, Arc::clone(&answer));
        }
        answer
    }

    /// Returns whether answers of a tool are cached.
    #[cfg_attr(
        not(feature = "run"),
        expect(unused_variables, reason = "only what runs depends on the tool")
    )]
    fn is_cached(&self, tool: Tool) -> bool {
        // What a skill may run is part of what a load answers, and the user may change it at any time.
        #[cfg(feature = "run")]
        if matches!(tool, Tool::Load | Tool::LoadAlias) && self.may_run() {
            return false;
        }
        !self.state.is_restricted()
    }

    /// Returns whether a cached answer would be the same now.
    fn is_current(&self, answer: &ToolAnswer) -> bool {
        answer
            .loaded()
            .is_none_or(|loaded| self.skills.is_current(&loaded.text))
    }
}

fn invalid_call(message: String, hint: &str) -> Arc<ToolAnswer> {
    let text = format!("{message}. {hint}");
    Arc::new(ToolAnswer::failure(text, Failure::invalid(message, hint)))
}
