// What an agent of LangChain with skills promises.

import assert from "node:assert/strict";
import { test } from "node:test";

import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, HumanMessage, RemoveMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { MemorySaver } from "@langchain/langgraph";
import { createAgent, createMiddleware, toolStrategy } from "langchain";
import { skillMiddleware, skillTools } from "skillfold/langchain";

import { MAIL, PDF, PICTURE, Script, count, twoSkills } from "./scripted.mjs";

class ScriptedModel extends BaseChatModel {
  constructor(script = new Script()) {
    super({});
    this.script = script;
    this.requests = [];
    this.offered = [];
  }

  _llmType() {
    return "scripted";
  }

  bindTools(tools) {
    this.offered = tools;
    return this;
  }

  async _generate(messages) {
    this.requests.push(messages);
    const calls = this.script.next();
    const text = calls.length === 0 ? "ok" : "";
    const message = new AIMessage({ content: text, tool_calls: calls.map((call) => ({ ...call, type: "tool_call" })) });
    return { generations: [{ text, message }] };
  }

  texts(place = -1) {
    return this.requests.at(place).map(({ text }) => text);
  }
}

const thread = (name) => ({ configurable: { thread_id: name } });
const user = (text) => ({ messages: [{ role: "user", content: text }] });

function agentOf(model, middleware, options = {}) {
  const given = { checkpointer: new MemorySaver(), ...options };
  return createAgent({ model, systemPrompt: "You help.", middleware: [middleware].flat(), ...given });
}

/** Removes all messages before "Go on". */
const forget = createMiddleware({
  name: "Forget",
  beforeModel: ({ messages }) =>
    messages.at(-1).text === "Go on" ? { messages: messages.slice(0, -1).map(({ id }) => new RemoveMessage({ id })) } : undefined,
});

test("unrelated request adds nothing", async () => {
  const model = new ScriptedModel();
  await agentOf(model, skillMiddleware(twoSkills())).invoke(user("What is 2+2?"), thread("a"));
  assert.deepEqual(model.texts(), ["You help.", "What is 2+2?"]);
});

test("matching request gets the instructions once, and the agent's messages stay as they are", async () => {
  const model = new ScriptedModel();
  const agent = agentOf(model, skillMiddleware(twoSkills()));
  const { messages, ...rest } = await agent.invoke(user("Fill in the tax form"), thread("a"));
  assert.deepEqual(messages.map(({ text }) => text), ["Fill in the tax form", "ok"]);
  assert.deepEqual(Object.keys(rest), []);
  const [system, instructions, request] = model.texts();
  assert.deepEqual([system, request], ["You help.", "Fill in the tax form"]);
  assert.match(instructions, /Use forms\.md\./);
  await agent.invoke(user("And the next tax form"), thread("a"));
  assert.deepEqual(model.texts(), [...model.texts(0), "ok", "And the next tax form"]);
});

test("at most so many skills are added as the options say", async () => {
  const model = new ScriptedModel();
  const agent = agentOf(model, skillMiddleware(twoSkills(), { maxPerRequest: 1 }));
  await agent.invoke(user("Fill in the tax form and write a letter"), thread("a"));
  assert.equal(count(model.texts(), PDF) + count(model.texts(), MAIL), 1);
});

test("listing is in the system prompt if the disclosure has one", async () => {
  const model = new ScriptedModel();
  await agentOf(model, skillMiddleware(twoSkills(), { disclosure: "hybrid" })).invoke(user("What is 2+2?"), thread("a"));
  assert.match(model.texts()[0], /^You help\.\n\n## Skills/);
  assert.equal(model.texts().length, 2);
});

test("model gets the engine's tools, or those that are named", async () => {
  const skills = twoSkills();
  const model = new ScriptedModel();
  await agentOf(model, skillMiddleware(skills)).invoke(user("Hi"), thread("a"));
  const offered = model.offered.map(({ name, description, schema }) => [name, description, schema]);
  assert.deepEqual(offered, skills.session().tools().map((tool) => [tool.name, tool.description, tool.input_schema]));
  await agentOf(model, skillMiddleware(skills, { tools: ["load_skill"] })).invoke(user("Hi"), thread("a"));
  assert.deepEqual(model.offered.map(({ name }) => name), ["load_skill"]);
  assert.throws(() => skillMiddleware(skills, { tools: ["lod_skill"] }), /There is no tool `lod_skill`\. Name some of `search_skills`/);
});

test("model loads a skill, reads its file, and is not given it again", async () => {
  const model = new ScriptedModel(
    new Script([["load_skill", { skill_id: "pdf" }]], [["read_skill_resource", { skill_id: "pdf", path: "forms.md" }]]),
  );
  const agent = agentOf(model, skillMiddleware(twoSkills()));
  const { messages } = await agent.invoke(user("Help me"), thread("a"));
  const answers = messages.filter((message) => ToolMessage.isInstance(message));
  assert.match(answers[0].text, /Use forms\.md\./);
  assert.equal(answers[1].text, "Every field has a name.\n");
  await agent.invoke(user("Fill in the tax form"), thread("a"));
  assert.equal(count(model.texts(), PDF), 1);
});

test("tools that are called in parallel are both recorded", async () => {
  const model = new ScriptedModel(new Script([["load_skill", { skill_id: "pdf" }], ["load_skill", { skill_id: "mail" }]]));
  const agent = agentOf(model, skillMiddleware(twoSkills()));
  await agent.invoke(user("Help me"), thread("a"));
  await agent.invoke(user("Fill in the tax form and write a letter"), thread("a"));
  assert.deepEqual([count(model.texts(), PDF), count(model.texts(), MAIL)], [1, 1]);
});

test("failed call tells the model what to do", async () => {
  const model = new ScriptedModel(new Script([["load_skill", { skill_id: "pfd" }]]));
  const { messages } = await agentOf(model, skillMiddleware(twoSkills())).invoke(user("Help me"), thread("a"));
  assert.equal(messages[2].status, "error");
  assert.match(messages[2].text, /Nearest: pdf/);
});

test("structured output arrives", async () => {
  const answer = { title: "Answer", type: "object", properties: { field: { type: "string" } }, required: ["field"] };
  const model = new ScriptedModel(new Script([["Answer", { field: "name" }]], [["Answer", { field: "date" }]]));
  const agent = agentOf(model, skillMiddleware(twoSkills()), { responseFormat: toolStrategy(answer) });
  const { structuredResponse } = await agent.invoke(user("Fill in the tax form"), thread("a"));
  assert.deepEqual(structuredResponse, { field: "name" });
  assert.deepEqual((await agent.invoke(user("And the next tax form"), thread("a"))).structuredResponse, { field: "date" });
  assert.equal(count(model.texts(), PDF), 1);
});

test("skills in use are given again beside structured output", async () => {
  const answer = { title: "Answer", type: "object", properties: { field: { type: "string" } }, required: ["field"] };
  const model = new ScriptedModel(new Script([["Answer", { field: "name" }]], [["Answer", { field: "date" }]]));
  const agent = agentOf(model, [forget, skillMiddleware(twoSkills())], { responseFormat: toolStrategy(answer) });
  await agent.invoke(user("Fill in the tax form"), thread("a"));
  await agent.invoke(user("Go on"), thread("a"));
  assert.equal(count(model.texts(), "Fill in the tax form"), 0);
  assert.equal(count(model.texts(), PDF), 1);
});

test("message that was edited is a new request", async () => {
  const model = new ScriptedModel();
  const agent = agentOf(model, skillMiddleware(twoSkills()));
  await agent.invoke({ messages: [new HumanMessage({ id: "1", content: "What is 2+2?" })] }, thread("a"));
  await agent.invoke({ messages: [new HumanMessage({ id: "1", content: "Fill in the tax form" })] }, thread("a"));
  assert.equal(count(model.texts(), PDF), 1);
});

test("image of a skill reaches the model", async () => {
  const model = new ScriptedModel(new Script([["read_skill_resource", { skill_id: "pdf", path: "form.png" }]]));
  await agentOf(model, skillMiddleware(twoSkills())).invoke(user("Help me"), thread("a"));
  const [block] = model.requests.at(-1).at(-1).contentBlocks;
  assert.deepEqual([block.type, block.data, block.mimeType], ["image", PICTURE, "image/png"]);
});

test("skills in use are given again after messages were removed", async () => {
  const model = new ScriptedModel(new Script([["load_skill", { skill_id: "mail" }]]));
  const agent = agentOf(model, [forget, skillMiddleware(twoSkills())]);
  await agent.invoke(user("Help me"), thread("a"));
  await agent.invoke(user("Fill in the tax form"), thread("a"));
  await agent.invoke(user("Go on"), thread("a"));
  const last = model.texts();
  assert.deepEqual([count(last, PDF), count(last, MAIL)], [1, 1]);
  assert.equal(last.at(-1), "Go on");
  await agent.invoke(user("And now the next tax form"), thread("a"));
  assert.deepEqual(model.texts().slice(0, last.length), last);
  assert.equal(count(model.texts(), PDF), 1);
});

test("skill in an answer of a tool that was kept is not given twice", async () => {
  const model = new ScriptedModel(new Script([["load_skill", { skill_id: "pdf" }]]));
  const forgetOne = createMiddleware({
    name: "ForgetOne",
    beforeModel: ({ messages }) =>
      messages.at(-1).text === "Go on" ? { messages: [new RemoveMessage({ id: messages[0].id })] } : undefined,
  });
  const agent = agentOf(model, [forgetOne, skillMiddleware(twoSkills())]);
  await agent.invoke(user("Write a letter"), thread("a"));
  await agent.invoke(user("Go on"), thread("a"));
  assert.equal(count(model.texts(), "Write a letter"), 0);
  assert.deepEqual([count(model.texts(), PDF), count(model.texts(), MAIL)], [1, 1]);
});

test("checkpointer resumes with other objects, and threads do not mix", async () => {
  const checkpointer = new MemorySaver();
  const model = new ScriptedModel();
  for (const request of ["Fill in the tax form", "And the next tax form"]) {
    await agentOf(model, skillMiddleware(twoSkills()), { checkpointer }).invoke(user(request), thread("a"));
  }
  assert.equal(count(model.texts(), PDF), 1);
  const agent = agentOf(model, skillMiddleware(twoSkills()), { checkpointer });
  const requests = { b: "Fill in the tax form", c: "Write a letter", d: "What is 2+2?" };
  await Promise.all(Object.entries(requests).map(([name, text]) => agent.invoke(user(text), thread(name))));
  const counts = model.requests.slice(-3).map((request) => {
    const texts = request.map(({ text }) => text);
    return [texts.at(-1), count(texts, PDF), count(texts, MAIL)];
  });
  assert.deepEqual(counts.sort(), [["Fill in the tax form", 1, 0], ["What is 2+2?", 0, 0], ["Write a letter", 0, 1]]);
});

test("call of a tool that the skills in use do not allow is refused, if that is enforced", async () => {
  const guarded = "---\nname: guarded\ndescription: Reads\ntriggers: [guarded]\nallowed-tools: shell(git:*)\n---\nOnly git.\n";
  const ran = [];
  const shell = tool(({ command }) => ran.push(command), {
    name: "shell",
    description: "Runs a command",
    schema: { type: "object", properties: { command: { type: "string" } } },
  });
  const script = new Script([["shell", { command: "git status" }]], [["shell", { command: "rm -r ." }]]);
  const middleware = skillMiddleware(twoSkills({ "guarded/SKILL.md": guarded }), { enforceTools: true });
  const { messages } = await agentOf(new ScriptedModel(script), middleware, { tools: [shell] }).invoke(user("Be guarded"), thread("a"));
  assert.deepEqual(ran, ["git status"]);
  const refused = messages.filter((message) => ToolMessage.isInstance(message)).at(-1);
  assert.deepEqual([refused.status, /allowed-tools/.test(refused.text)], ["error", true]);
});

test("tools work in a graph of one's own", async () => {
  const session = twoSkills().session();
  const [search, load] = skillTools(session);
  assert.equal(search.name, "search_skills");
  const answer = await load.invoke({ name: "load_skill", args: { skill_id: "pdf" }, id: "1", type: "tool_call" });
  assert.match(answer.text, /Use forms\.md\./);
  assert.ok(session.tokensSpent > 0);
  assert.ok(new HumanMessage("x"));
});
