// What a conversation of the AI SDK with skills promises.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { ToolLoopAgent, convertToModelMessages, generateText, stepCountIs, streamText } from "ai";
import { MockLanguageModelV4, convertArrayToReadableStream } from "ai/test";
import { InvalidError } from "skillfold";
import { SkillConversation } from "skillfold/ai";

import { discover, world } from "../world.mjs";
import { MAIL, PDF, PICTURE, Script, count, twoSkills } from "./scripted.mjs";

const USAGE = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };

function model(script = new Script()) {
  const content = () => {
    const calls = script.next();
    const parts = calls.map(({ id, name, args }) => ({
      type: "tool-call",
      toolCallId: id,
      toolName: name,
      input: typeof args === "string" ? args : JSON.stringify(args),
    }));
    return calls.length === 0 ? [{ type: "text", text: "ok" }] : parts;
  };
  return new MockLanguageModelV4({
    doGenerate: async () => {
      const parts = content();
      const unified = parts[0].type === "text" ? "stop" : "tool-calls";
      return { content: parts, finishReason: { unified, raw: undefined }, usage: USAGE, warnings: [] };
    },
    doStream: async () => {
      const delta = [
        { type: "text-start", id: "1" },
        { type: "text-delta", id: "1", delta: "ok" },
        { type: "text-end", id: "1" },
      ];
      const finish = { type: "finish", finishReason: { unified: "stop", raw: undefined }, usage: USAGE };
      return { stream: convertArrayToReadableStream([{ type: "stream-start", warnings: [] }, ...delta, finish]) };
    },
  });
}

/** Returns the texts of a prompt, by role. */
function texts({ prompt }) {
  return prompt.map(({ role, content }) => {
    const parts = typeof content === "string" ? [{ text: content }] : content;
    return `${role}: ${parts.map(({ text, toolName }) => text ?? toolName).join("|")}`;
  });
}

/** A host that keeps the messages, and says one after the other. */
function chat(conversation, llm) {
  const messages = [];
  const { tools, prepareStep } = conversation;
  return {
    messages,
    async say(content) {
      messages.push({ role: "user", content });
      const settings = { model: llm, instructions: "You help.", messages, tools, prepareStep };
      const { responseMessages } = await generateText({ ...settings, stopWhen: stepCountIs(5) });
      messages.push(...responseMessages);
    },
  };
}

test("unrelated request adds nothing", async () => {
  const llm = model();
  await chat(new SkillConversation(twoSkills()), llm).say("What is 2+2?");
  assert.deepEqual(texts(llm.doGenerateCalls[0]), ["system: You help.", "user: What is 2+2?"]);
});

test("matching request gets the instructions once, and they stay where they were", async () => {
  const llm = model();
  const { say, messages } = chat(new SkillConversation(twoSkills()), llm);
  await say("Fill in the tax form");
  const [system, instructions, request] = texts(llm.doGenerateCalls[0]);
  assert.deepEqual([system, request], ["system: You help.", "user: Fill in the tax form"]);
  assert.match(instructions, /Use forms\.md\./);
  await say("And the next tax form");
  const [first, second] = llm.doGenerateCalls.map(texts);
  assert.deepEqual(second, [...first, "assistant: ok", "user: And the next tax form"]);
  assert.deepEqual(messages.map(({ role }) => role), ["user", "assistant", "user", "assistant"]);
});

test("model loads a skill, reads its file, and is not given it again", async () => {
  const script = new Script([["load_skill", { skill_id: "pdf" }]], [["read_skill_resource", { skill_id: "pdf", path: "forms.md" }]]);
  const llm = model(script);
  const conversation = new SkillConversation(twoSkills());
  const { say } = chat(conversation, llm);
  await say("Help me");
  assert.equal(llm.doGenerateCalls.length, 3);
  assert.equal(count(llm.doGenerateCalls[2].prompt, PDF), 1);
  assert.equal(count(llm.doGenerateCalls[2].prompt, "Every field has a name."), 1);
  const spent = conversation.tokensSpent;
  assert.ok(spent > 0);
  await say("Fill in the tax form");
  assert.equal(count(llm.doGenerateCalls[3].prompt, PDF), 1);
  assert.equal(conversation.tokensSpent, spent);
});

test("failed call tells the model what to do", async () => {
  const llm = model(new Script([["load_skill", { skill_id: "pfd" }]]));
  await chat(new SkillConversation(twoSkills()), llm).say("Help me");
  assert.match(JSON.stringify(llm.doGenerateCalls[1].prompt), /error-text.*Nearest: pdf/);
});

test("image of a skill reaches the model", async () => {
  const llm = model(new Script([["read_skill_resource", { skill_id: "pdf", path: "form.png" }]]));
  await chat(new SkillConversation(twoSkills()), llm).say("Help me");
  assert.equal(count(llm.doGenerateCalls[1].prompt, PICTURE), 1);
});

test("skills in use are given again after messages were removed", async () => {
  const llm = model(new Script([["load_skill", { skill_id: "mail" }]]));
  const { say, messages } = chat(new SkillConversation(twoSkills()), llm);
  await say("Help me");
  await say("Fill in the tax form");
  messages.splice(0, messages.length, { role: "user", content: "Summary: we fill in a form and write a mail" });
  await say("Go on");
  const last = llm.doGenerateCalls.at(-1).prompt;
  assert.deepEqual([count(last, PDF), count(last, MAIL)], [1, 1]);
  await say("And now the next tax form");
  const later = llm.doGenerateCalls.at(-1).prompt;
  assert.deepEqual(later.slice(0, last.length), last);
  assert.deepEqual([count(later, PDF), count(later, MAIL)], [1, 1]);
});

test("skill in an answer that was kept is not given twice", async () => {
  const llm = model(new Script([["load_skill", { skill_id: "mail" }]]));
  const { say, messages } = chat(new SkillConversation(twoSkills()), llm);
  await say("Fill in the tax form");
  messages.splice(0, 1, { role: "user", content: "Summary: we fill in a form" });
  await say("Go on");
  const last = llm.doGenerateCalls.at(-1).prompt;
  assert.deepEqual([count(last, PDF), count(last, MAIL)], [1, 1]);
  messages.splice(0, messages.length, { role: "user", content: "Summary of all" });
  await say("And then?");
  const again = llm.doGenerateCalls.at(-1).prompt;
  assert.deepEqual([count(again, PDF), count(again, MAIL)], [1, 1]);
});

test("skill whose answer was cleared later is given again", async () => {
  const llm = model(new Script([["load_skill", { skill_id: "mail" }]]));
  const { say, messages } = chat(new SkillConversation(twoSkills()), llm);
  await say("Help me");
  const cleared = messages.map((message) => (message.role === "tool" ? changed([message], { type: "text", value: "[cleared]" })[0] : message));
  messages.splice(0, messages.length, ...cleared);
  await say("Write a letter");
  assert.equal(count(llm.doGenerateCalls.at(-1).prompt, MAIL), 1);
});

test("calls that have the same id are told apart", async () => {
  const script = new Script([["load_skill", { skill_id: "mail" }]]);
  const llm = model(script);
  const { say } = chat(new SkillConversation(twoSkills()), llm);
  await say("Help me");
  script.steps.push([["load_skill", { skill_id: "pdf" }]]);
  script.calls = 0;
  await say("Help me again");
  await say("Fill in the tax form");
  assert.equal(count(llm.doGenerateCalls.at(-1).prompt, PDF), 1);
});

test("skill to which a file was added has the same instructions", async () => {
  const folder = world({ "skills/mail/SKILL.md": "---\nname: mail\ndescription: Writes letters\ntriggers: [letter]\n---\nBe polite.\n" });
  const skills = discover(folder, { roots: [join(folder, "skills")] });
  const llm = model(new Script([["load_skill", { skill_id: "mail" }]]));
  const { say, messages } = chat(new SkillConversation(skills), llm);
  await say("Help me");
  writeFileSync(join(folder, "skills/mail/letter.txt"), "Dear");
  const { tools, prepareStep } = new SkillConversation(skills);
  const again = model();
  await generateText({ model: again, messages: [...messages, { role: "user", content: "Write a letter" }], tools, prepareStep });
  assert.equal(count(again.doGenerateCalls[0].prompt, MAIL), 1);
});

test("messages of a user interface give the same texts", async () => {
  const skills = twoSkills();
  const llm = model(new Script([["load_skill", { skill_id: "mail" }]]));
  const part = { type: "dynamic-tool", toolName: "load_skill", toolCallId: "call-1", state: "output-available", input: { skill_id: "mail" } };
  const { tools, prepareStep } = new SkillConversation(skills);
  const output = await tools.load_skill.execute({ skill_id: "mail" }, { toolCallId: "call-1", messages: [] });
  const shown = [
    { role: "user", parts: [{ type: "text", text: "Help me" }] },
    { role: "assistant", parts: [{ ...part, output }] },
    { role: "user", parts: [{ type: "text", text: "Write a letter" }] },
  ];
  for (const options of [{}, { tools }]) {
    const messages = await convertToModelMessages(shown, options);
    await generateText({ model: llm, messages, tools, prepareStep: new SkillConversation(skills).prepareStep });
    assert.equal(count(llm.doGenerateCalls.at(-1).prompt, MAIL), 1);
  }
  assert.ok(prepareStep);
});

test("skill in an answer that the model never got is given when it is needed", async () => {
  const skills = twoSkills();
  const tools = [["load_skill", { skill_id: "pdf" }]];
  const answers = [
    // The conversation went on without it, such as after an abort.
    () => [],
    (messages) => changed(messages, { type: "text", value: "Declined" }),
    (messages) => changed(messages, { type: "execution-denied" }),
  ];
  for (const answer of answers) {
    const llm = model(new Script(tools));
    const conversation = new SkillConversation(skills);
    const { say, messages } = chat(conversation, llm);
    messages.push({ role: "user", content: "Help me" });
    const { tools: offered, prepareStep } = conversation;
    const { responseMessages } = await generateText({ model: llm, messages, tools: offered, prepareStep });
    messages.push(...answer(responseMessages));
    assert.equal(conversation.tokensSpent, 0);
    await say("Fill in the tax form");
    assert.equal(count(llm.doGenerateCalls.at(-1).prompt, PDF), 1);
  }
});

/** Returns messages with another answer of a tool. */
function changed(messages, output) {
  const parts = (content) => content.map((part) => (part.type === "tool-result" ? { ...part, output } : part));
  return messages.map((message) => ({ ...message, content: parts(message.content) }));
}

test("call with arguments that are no JSON is an answer for the model", async () => {
  const llm = model(new Script([["load_skill", "{ skill_id"]]));
  const { say, messages } = chat(new SkillConversation(twoSkills()), llm);
  await say("Help me");
  assert.equal(messages.at(-1).content[0].text, "ok");
  await say("Fill in the tax form");
  assert.equal(count(llm.doGenerateCalls.at(-1).prompt, PDF), 1);
});

test("new conversation with all messages, or with the state, gives the same", async () => {
  const llm = model(new Script([["load_skill", { skill_id: "mail" }]]));
  const skills = twoSkills();
  const conversation = new SkillConversation(skills);
  const { say, messages } = chat(conversation, llm);
  await say("Help me");
  await say("Fill in the tax form");
  const prompts = [];
  for (const state of [undefined, conversation.save()]) {
    const again = model();
    const resumed = new SkillConversation(skills, state === undefined ? {} : { state });
    const { tools, prepareStep } = resumed;
    const next = [...messages, { role: "user", content: "Write a letter about the tax form" }];
    await generateText({ model: again, instructions: "You help.", messages: next, tools, prepareStep });
    prompts.push(again.doGenerateCalls[0].prompt);
  }
  const before = llm.doGenerateCalls.at(-1).prompt;
  for (const prompt of prompts) {
    assert.deepEqual(prompt.slice(0, before.length), before);
    assert.deepEqual([count(prompt, PDF), count(prompt, MAIL)], [1, 1]);
  }
});

test("state that is none is refused", () => {
  for (const state of ["", "{}", "[]", '{"session":"{}","texts":[],"given":[]}', twoSkills().session().save()]) {
    assert.throws(() => new SkillConversation(twoSkills(), { state }), InvalidError, state);
  }
});

test("option that a conversation does not have is refused", () => {
  assert.throws(() => new SkillConversation(twoSkills(), { transient: true }), /transient/);
  assert.throws(() => new SkillConversation(twoSkills(), { stile: "lines" }), /stile/);
});

test("options that are undefined are left out", () => {
  const options = { disclosure: undefined, maxPerRequest: undefined, state: undefined };
  assert.equal(new SkillConversation(twoSkills(), options).tokensSpent, 0);
});

test("listing is in the instructions if the disclosure has one", async () => {
  const llm = model(new Script([["load_skill", { skill_id: "pdf" }]]));
  await chat(new SkillConversation(twoSkills(), { disclosure: "hybrid" }), llm).say("What is 2+2?");
  for (const call of llm.doGenerateCalls) {
    assert.match(texts(call)[0], /^system: You help\.\n\n## Skills/);
    assert.equal(count(call.prompt, "- pdf: Fills in PDF forms"), 1);
  }
});

test("agents and streams get the same", async () => {
  const skills = twoSkills();
  const [llm, streamed] = [model(), model()];
  const { tools, prepareStep } = new SkillConversation(skills);
  const agent = new ToolLoopAgent({ model: llm, tools, prepareStep });
  await agent.generate({ prompt: "Fill in the tax form" });
  const second = new SkillConversation(skills);
  const stream = streamText({ model: streamed, prompt: "Fill in the tax form", tools: second.tools, prepareStep: second.prepareStep });
  assert.equal(await stream.text, "ok");
  assert.deepEqual(texts(llm.doGenerateCalls[0]), texts(streamed.doStreamCalls[0]));
  assert.equal(count(llm.doGenerateCalls[0].prompt, PDF), 1);
});

test("model gets the engine's tools as they are", async () => {
  const skills = twoSkills();
  const llm = model();
  await chat(new SkillConversation(skills), llm).say("Hi");
  const offered = llm.doGenerateCalls[0].tools.map(({ name, description, inputSchema }) => [name, description, inputSchema]);
  assert.deepEqual(offered, skills.session().tools().map((tool) => [tool.name, tool.description, tool.input_schema]));
});
