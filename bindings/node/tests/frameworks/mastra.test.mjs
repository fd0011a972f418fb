// What an agent of Mastra with skills promises.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Agent } from "@mastra/core/agent";
import { MockMemory } from "@mastra/core/memory";
import { SkillProcessor } from "skillfold/mastra";

import { MAIL, PDF, PICTURE, Script, count, twoSkills } from "./scripted.mjs";

function model(script = new Script()) {
  const calls = [];
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  const doStream = async (options) => {
    calls.push(options);
    const wanted = script.next();
    const parts = wanted.map(({ id, name, args }) => ({ type: "tool-call", toolCallId: id, toolName: name, input: JSON.stringify(args) }));
    const text = [
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", delta: "ok" },
      { type: "text-end", id: "1" },
    ];
    const finishReason = wanted.length === 0 ? "stop" : "tool-calls";
    const chunks = [{ type: "stream-start", warnings: [] }, ...(wanted.length === 0 ? text : parts), { type: "finish", finishReason, usage }];
    return { stream: ReadableStream.from(chunks) };
  };
  const doGenerate = async (options) => {
    const { stream } = await doStream(options);
    const content = [];
    let finishReason = "stop";
    for await (const chunk of stream) {
      if (chunk.type === "text-delta") content.push({ type: "text", text: chunk.delta });
      if (chunk.type === "tool-call") content.push(chunk);
      if (chunk.type === "finish") finishReason = chunk.finishReason;
    }
    return { content, finishReason, usage, warnings: [] };
  };
  return { specificationVersion: "v2", provider: "test", modelId: "scripted", supportedUrls: {}, doStream, doGenerate, calls };
}

function agentOf(llm, processor, options = {}) {
  const given = { id: "helper", name: "Helper", instructions: "You help.", model: llm };
  return new Agent({ ...given, inputProcessors: [processor], ...options });
}

function texts({ prompt }) {
  return prompt.map(({ role, content }) => {
    const parts = typeof content === "string" ? [{ text: content }] : content;
    return `${role}: ${parts.map(({ text, toolName }) => text ?? toolName).join("|")}`;
  });
}

const inThread = (thread) => ({ memory: { thread, resource: "anna" } });

test("unrelated request adds nothing", async () => {
  const llm = model();
  await agentOf(llm, new SkillProcessor(twoSkills())).generate("What is 2+2?");
  assert.deepEqual(texts(llm.calls[0]), ["system: You help.", "user: What is 2+2?"]);
});

test("matching request gets the instructions once, and the memory stays as it is", async () => {
  const llm = model();
  const memory = new MockMemory();
  const agent = agentOf(llm, new SkillProcessor(twoSkills()), { memory });
  await agent.generate("Fill in the tax form", inThread("a"));
  await agent.generate("And the next tax form", inThread("a"));
  const [first, second] = llm.calls.map(texts);
  assert.match(first[1], /Use forms\.md\./);
  assert.equal(first[2], "user: Fill in the tax form");
  assert.deepEqual(second, [...first, "assistant: ok", "user: And the next tax form"]);
  const { messages } = await memory.recall({ threadId: "a", resourceId: "anna" });
  assert.equal(count(messages, PDF), 0);
  assert.ok(messages.length >= 4);
});

test("model loads a skill, reads its file, and is not given it again", async () => {
  const llm = model(new Script([["load_skill", { skill_id: "pdf" }]], [["read_skill_resource", { skill_id: "pdf", path: "forms.md" }]]));
  const agent = agentOf(llm, new SkillProcessor(twoSkills()), { memory: new MockMemory() });
  await agent.generate("Help me", inThread("a"));
  assert.equal(llm.calls.length, 3);
  assert.deepEqual([count(llm.calls[2].prompt, PDF), count(llm.calls[2].prompt, "Every field has a name.")], [1, 1]);
  await agent.generate("Fill in the tax form", inThread("a"));
  assert.equal(count(llm.calls[3].prompt, PDF), 1);
});

test("failed call tells the model what to do", async () => {
  const llm = model(new Script([["load_skill", { skill_id: "pfd" }]]));
  await agentOf(llm, new SkillProcessor(twoSkills())).generate("Help me");
  assert.match(JSON.stringify(llm.calls[1].prompt), /Nearest: pdf/);
});

test("image of a skill reaches the model", async () => {
  const llm = model(new Script([["read_skill_resource", { skill_id: "pdf", path: "form.png" }]]));
  await agentOf(llm, new SkillProcessor(twoSkills())).generate("Help me");
  const answer = llm.calls[1].prompt.at(-1).content[0].output;
  assert.deepEqual(answer, { type: "content", value: [{ type: "media", data: PICTURE, mediaType: "image/png" }] });
});

test("skills in use are given again after messages were removed", async () => {
  const llm = model(new Script([["load_skill", { skill_id: "mail" }]]));
  const memory = new MockMemory();
  const agent = agentOf(llm, new SkillProcessor(twoSkills()), { memory });
  await agent.generate("Help me", inThread("a"));
  await agent.generate("Fill in the tax form", inThread("a"));
  const { messages } = await memory.recall({ threadId: "a", resourceId: "anna", perPage: false });
  await memory.deleteMessages(messages.map(({ id }) => id));
  await agent.generate("Go on", inThread("a"));
  const last = llm.calls.at(-1).prompt;
  assert.deepEqual([count(last, PDF), count(last, MAIL)], [1, 1]);
  await agent.generate("And now the next tax form", inThread("a"));
  const later = llm.calls.at(-1).prompt;
  assert.deepEqual([count(later, PDF), count(later, MAIL)], [1, 1]);
});

test("threads do not mix, and only the last ones are remembered", async () => {
  const llm = model();
  const agent = agentOf(llm, new SkillProcessor(twoSkills(), { threads: 1 }), { memory: new MockMemory() });
  await agent.generate("Fill in the tax form", inThread("a"));
  await agent.generate("Write a letter", inThread("b"));
  await agent.generate("And the next tax form", inThread("a"));
  const counts = llm.calls.map(({ prompt }) => [count(prompt, PDF), count(prompt, MAIL)]);
  assert.deepEqual(counts, [[1, 0], [0, 1], [1, 0]]);
});

test("sub-agent gets what its own skills are for", async () => {
  const skills = twoSkills();
  const bound = skills.bind("writer", { skills: ["mail"], sees: "used" });
  const prompts = [];
  for (const processor of [new SkillProcessor(skills), new SkillProcessor(bound)]) {
    const writes = model();
    const options = { id: "writer", name: "writer", description: "Writes letters" };
    const writer = agentOf(writes, processor, options);
    const llm = model(new Script([["agent-writer", { prompt: "Write a letter" }]]));
    await agentOf(llm, new SkillProcessor(skills), { memory: new MockMemory(), agents: { writer } }).generate("Fill in the tax form", inThread("a"));
    prompts.push(writes.calls[0].prompt);
  }
  // The skills that an agent uses are in the text that it begins with.
  assert.deepEqual(prompts.map((prompt) => [count(prompt, PDF), count(prompt, MAIL)]), [[1, 1], [0, 0]]);
});

test("listing is in the system messages if the disclosure has one", async () => {
  const llm = model();
  await agentOf(llm, new SkillProcessor(twoSkills(), { disclosure: "hybrid" })).generate("What is 2+2?");
  assert.match(texts(llm.calls[0])[1], /^system: ## Skills/);
});

test("model gets the engine's tools", async () => {
  const skills = twoSkills();
  const llm = model();
  await agentOf(llm, new SkillProcessor(skills)).generate("Hi");
  const offered = llm.calls[0].tools.map(({ name, description }) => [name, description]);
  assert.deepEqual(offered, skills.session().tools().map(({ name, description }) => [name, description]));
});
