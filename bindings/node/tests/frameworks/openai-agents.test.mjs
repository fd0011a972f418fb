// What an agent of the OpenAI Agents SDK with skills promises.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Agent, MemorySession, Runner, Usage, setTracingDisabled } from "@openai/agents";
import { SkillConversation } from "skillfold/openai-agents";

import { MAIL, PDF, PICTURE, Script, count, twoSkills } from "./scripted.mjs";

setTracingDisabled(true);

class ScriptedModel {
  requests = [];

  constructor(script = new Script()) {
    this.script = script;
  }

  async getResponse(request) {
    this.requests.push(structuredClone({ input: request.input, system: request.systemInstructions, tools: request.tools }));
    const calls = this.script.next().map(({ id, name, args }) => ({
      type: "function_call",
      callId: id,
      name,
      status: "completed",
      arguments: JSON.stringify(args),
    }));
    const text = { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "ok" }] };
    return { usage: new Usage(), output: calls.length === 0 ? [text] : calls };
  }

  texts(place = -1) {
    return this.requests.at(place).input.map(({ role, name, content }) => `${role ?? name}: ${typeof content === "string" ? content : (content ?? []).map(({ text }) => text).join("|")}`);
  }
}

function chat(model, conversation, options = {}) {
  const session = new MemorySession();
  const agent = conversation.attach(new Agent({ name: "Helper", instructions: "You help.", model }));
  const { callModelInputFilter } = conversation;
  const runner = new Runner({ tracingDisabled: true, callModelInputFilter });
  return { session, agent, say: (text) => runner.run(agent, text, { session, ...options }) };
}

test("unrelated request adds nothing", async () => {
  const model = new ScriptedModel();
  await chat(model, new SkillConversation(twoSkills())).say("What is 2+2?");
  assert.deepEqual([model.requests[0].system, model.texts()], ["You help.", ["user: What is 2+2?"]]);
});

test("matching request gets the instructions once, and they stay where they were", async () => {
  const model = new ScriptedModel();
  const { say, session } = chat(model, new SkillConversation(twoSkills()));
  await say("Fill in the tax form");
  const [instructions, request] = model.texts(0);
  assert.match(instructions, /^system: .*Use forms\.md\./s);
  assert.equal(request, "user: Fill in the tax form");
  await say("And the next tax form");
  assert.deepEqual(model.texts(), [...model.texts(0), "assistant: ok", "user: And the next tax form"]);
  assert.equal(count(await session.getItems(), "And the next tax form"), 1);
});

test("model loads a skill, reads its file, and is not given it again", async () => {
  const model = new ScriptedModel(
    new Script([["load_skill", { skill_id: "pdf" }]], [["read_skill_resource", { skill_id: "pdf", path: "forms.md" }]]),
  );
  const conversation = new SkillConversation(twoSkills());
  const { say } = chat(model, conversation);
  await say("Help me");
  assert.deepEqual([count(model.requests[2].input, PDF), count(model.requests[2].input, "Every field has a name.")], [1, 1]);
  const spent = conversation.tokensSpent;
  assert.ok(spent > 0);
  await say("Fill in the tax form");
  assert.equal(count(model.requests[3].input, PDF), 1);
  assert.equal(conversation.tokensSpent, spent);
});

test("failed call tells the model what to do", async () => {
  const model = new ScriptedModel(new Script([["load_skill", { skill_id: "pfd" }]]));
  await chat(model, new SkillConversation(twoSkills())).say("Help me");
  assert.match(JSON.stringify(model.requests[1].input), /Nearest: pdf/);
});

test("image of a skill reaches the model", async () => {
  const model = new ScriptedModel(new Script([["read_skill_resource", { skill_id: "pdf", path: "form.png" }]]));
  await chat(model, new SkillConversation(twoSkills())).say("Help me");
  assert.equal(count(model.requests[1].input, PICTURE), 1);
});

test("skills in use are given again after messages were removed", async () => {
  const model = new ScriptedModel(new Script([["load_skill", { skill_id: "mail" }]]));
  const { say, session } = chat(model, new SkillConversation(twoSkills()));
  await say("Help me");
  await say("Fill in the tax form");
  await session.clearSession();
  await say("Go on");
  const last = model.requests.at(-1).input;
  assert.deepEqual([count(last, PDF), count(last, MAIL)], [1, 1]);
  await say("And now the next tax form");
  const later = model.requests.at(-1).input;
  assert.deepEqual([count(later, PDF), count(later, MAIL)], [1, 1]);
});

test("messages that the server keeps are not missed", async () => {
  const model = new ScriptedModel(new Script([["load_skill", { skill_id: "mail" }]]));
  const conversation = new SkillConversation(twoSkills(), { keptByServer: true });
  const { agent } = chat(model, conversation);
  const runner = new Runner({ tracingDisabled: true, callModelInputFilter: conversation.callModelInputFilter });
  for (const request of ["Help me", "Fill in the tax form", "And the next tax form", "Go on"]) {
    await runner.run(agent, request, { conversationId: "conv_1" });
  }
  const inputs = model.requests.map(({ input }) => input);
  assert.deepEqual([count(inputs, PDF), count(inputs, MAIL)], [1, 1]);
  assert.deepEqual(model.texts(), ["user: Go on"]);
  await runner.run(agent, "Write a letter", { conversationId: "conv_1" });
  assert.deepEqual(model.texts(), ["user: Write a letter"]);
});

test("request that is sent again has the instructions again", async () => {
  const model = new ScriptedModel();
  const conversation = new SkillConversation(twoSkills(), { keptByServer: true });
  const { agent } = chat(model, conversation);
  const runner = new Runner({ tracingDisabled: true, callModelInputFilter: conversation.callModelInputFilter });
  const answer = model.getResponse.bind(model);
  model.getResponse = async (request) => {
    await answer(request);
    throw new Error("no network");
  };
  await assert.rejects(runner.run(agent, "Fill in the tax form", { conversationId: "conv_1" }), /no network/);
  model.getResponse = answer;
  await runner.run(agent, "Fill in the tax form", { conversationId: "conv_1" });
  assert.deepEqual(model.requests.map(({ input }) => count(input, PDF)), [1, 1]);
});

test("text in a session is known after its message was removed", async () => {
  const model = new ScriptedModel();
  const { say, session } = chat(model, new SkillConversation(twoSkills()));
  await say("Fill in the tax form");
  await say("Write a letter");
  const items = await session.getItems();
  await session.clearSession();
  await session.addItems(items.filter(({ content }) => content !== "Fill in the tax form"));
  await say("Go on");
  await say("And then?");
  const last = model.requests.at(-1).input;
  assert.deepEqual([count(last, PDF), count(last, MAIL)], [1, 1]);
});

test("another process goes on with the state", async () => {
  const skills = twoSkills();
  const session = new MemorySession();
  let state;
  const model = new ScriptedModel();
  for (const request of ["Fill in the tax form", "And the next tax form"]) {
    const conversation = new SkillConversation(skills, state === undefined ? {} : { state });
    const { say } = chat(model, conversation, { session });
    await say(request);
    state = conversation.save();
  }
  assert.deepEqual(model.texts(), [...model.texts(0), "assistant: ok", "user: And the next tax form"]);
});

test("listing is in the instructions if the disclosure has one", async () => {
  const model = new ScriptedModel();
  await chat(model, new SkillConversation(twoSkills(), { disclosure: "hybrid" })).say("What is 2+2?");
  assert.match(model.requests[0].system, /^You help\.\n\n## Skills/);
});

test("model gets the engine's tools", async () => {
  const skills = twoSkills();
  const model = new ScriptedModel();
  await chat(model, new SkillConversation(skills)).say("Hi");
  const offered = model.requests[0].tools.map(({ name, description, parameters }) => [name, description, parameters]);
  assert.deepEqual(offered, skills.session().tools().map((tool) => [tool.name, tool.description, tool.input_schema]));
});
