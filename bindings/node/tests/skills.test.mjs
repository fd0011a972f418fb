// What a program does with skills.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { AgentSkills, InvalidError, NotFoundError, RefusedError, Session, SkillfoldError, Skills, reasons, stats } from "skillfold";

import { BUNDLED, bundled, discover, skill, world } from "./world.mjs";

test("module is the same for `import` and `require`", () => {
  const required = createRequire(import.meta.url)("skillfold");
  assert.equal(required.Skills, Skills);
  assert.equal(required.NotFoundError, NotFoundError);
});

test("project's skills are withheld until it is trusted", async () => {
  const folder = world({ "app/.agents/skills/pdf/SKILL.md": BUNDLED["pdf/SKILL.md"] });
  const warnings = [];
  const listen = (warning) => warnings.push(warning);
  process.on("warning", listen);
  assert.deepEqual(discover(folder).ids(), []);
  assert.deepEqual(discover(folder, { trustProject: true }).ids(), ["pdf"]);
  await new Promise(setImmediate);
  process.off("warning", listen);
  assert.equal(warnings.length, 1);
  assert.equal(warnings[0].name, "SkillsWarning");
  assert.match(warnings[0].message, /trust/);
});

test("both forms of a call give the same", async () => {
  const skills = bundled();
  assert.equal((await skills.load("pdf")).text, skills.loadSync("pdf").text);
  assert.deepEqual(await skills.render("pdf", { envelope: "skill_content" }), skills.renderSync("pdf", { envelope: "skill_content" }));
  assert.deepEqual(await skills.files("pdf"), skills.filesSync("pdf"));
  assert.deepEqual(await skills.read("pdf", "fields.md"), skills.readSync("pdf", "fields.md"));
  assert.deepEqual(await skills.search("fill in a pdf"), skills.searchSync("fill in a pdf"));
  assert.deepEqual(await skills.session().turn("this pdf"), skills.session().turnSync("this pdf"));
  assert.deepEqual(await skills.session().why("this pdf", "notes"), skills.session().whySync("this pdf", "notes"));
  const [first, second] = [skills.session(), skills.session()];
  assert.deepEqual(await first.call("load_skill", { skill_id: "pdf" }), second.callSync("load_skill", '{"skill_id":"pdf"}'));
  assert.deepEqual(await first.afterCompaction(), second.afterCompactionSync());
});

test("instructions have what was loaded", () => {
  const loaded = bundled().loadSync("pdf");
  assert.equal(loaded.id, "pdf");
  assert.equal(loaded.name, "pdf");
  assert.equal(loaded.description, "Fills in PDF forms");
  assert.match(loaded.body, /^# Forms/);
  assert.match(loaded.raw, /Fields are lower case/);
  assert.ok(loaded.tokens > 5);
  assert.equal(loaded.baseDir, null);
  assert.deepEqual(loaded.requires, []);
  assert.deepEqual(loaded.notes, []);
});

test("conversation gives instructions once, and again after a compaction", () => {
  const session = bundled().session();
  assert.match(session.listing().text, /pdf/);
  const turn = session.turnSync("Fill in this pdf");
  assert.match(turn.text, /Fields are lower case/);
  assert.match(reasons(turn)[0], /^pdf: .*"pdf", given \(\d+ tokens\)$/);
  assert.equal(session.turnSync("And this pdf").text, undefined);
  assert.match(session.afterCompactionSync().text, /Fields are lower case/);
  assert.equal(session.turns, 2);
  assert.ok(session.tokensSpent > 0);
  assert.ok(session.plainListTokens > 0);
});

test("conversation goes on from its saved state", () => {
  const skills = bundled();
  const session = skills.session({ bodyTokens: 2_000, maxPerRequest: 1 });
  session.turnSync("Fill in this pdf");
  const resumed = skills.session({ state: session.save() });
  assert.equal(resumed.turnSync("Fill in this pdf").text, undefined);
  assert.throws(() => skills.session({ state: session.save(), transient: true }), InvalidError);
});

test("user's latest message counts", () => {
  const messages = [
    { role: "user", content: "Fill in this pdf" },
    { role: "assistant", content: "Which one?" },
    { role: "user", content: [{ type: "text", text: "Meeting notes, please" }] },
    { role: "user", content: [{ type: "tool_result", content: "a pdf" }] },
  ];
  const { text } = bundled().session({ disclosure: "triggered" }).turnSync(messages);
  assert.doesNotMatch(text, /Fields are lower case/);
  assert.throws(() => bundled().session().turnSync([{ content: "who?" }]), TypeError);
});

test("half of a surrogate pair is no error", () => {
  const session = bundled().session();
  assert.match(session.turnSync("this pdf \ud800").text, /Fields are lower case/);
  assert.throws(() => bundled().loadSync("\udfff"), NotFoundError);
});

test("tools answer a model, and say what is wrong", async () => {
  const session = bundled().session();
  const names = session.tools().map((tool) => tool.name);
  assert.ok(names.includes("load_skill"));
  const answer = await session.call("load_skill", { skill_id: "pdf" });
  assert.equal(answer.is_error, false);
  assert.match(answer.text, /Fields are lower case/);
  for (const [name, args] of [["load_skill", { skill_id: "pfd" }], ["load_skill", "{"], ["no_such_tool", {}]]) {
    assert.equal((await session.call(name, args)).is_error, true);
  }
});

test("error has a code, a hint and what was meant", async () => {
  const skills = bundled();
  const check = (error) => {
    assert.ok(error instanceof NotFoundError && error instanceof SkillfoldError && error instanceof Error);
    assert.equal(error.name, "NotFoundError");
    assert.equal(error.code, "not_found");
    assert.deepEqual(error.nearest, ["pdf"]);
    assert.match(error.message, /Did you mean `pdf`\?$/);
    assert.match(error.stack, /skills\.test\.mjs/);
    return true;
  };
  assert.throws(() => skills.loadSync("pfd"), check);
  await assert.rejects(skills.load("pfd"), (error) => error.code === "not_found");
  assert.throws(() => skills.readSync("pdf", "../secret"), (error) => error instanceof RefusedError && error.refusal === "traversal");
  await assert.rejects(Skills.discover("/no/such/folder"), NotFoundError);
});

test("wrong option is named", () => {
  assert.throws(() => bundled(BUNDLED, { settings: { no_such: "1" } }), /no_such/);
  assert.throws(() => bundled(BUNDLED, { rots: [] }), /rots/);
  assert.throws(() => bundled().list({ nme: "pdf" }), /nme/);
  assert.throws(() => bundled().session({ stile: "lines" }), /stile/);
  assert.throws(() => bundled().filesSync("pdf", { limt: 1 }), /limt/);
  assert.throws(() => bundled().renderSync("pdf", { agrs: "x" }), /agrs/);
  assert.throws(() => bundled().bind("a", { skills: ["pdf"], see: "used" }), /see/);
});

test("skills are listed, found and iterated", () => {
  const skills = bundled();
  assert.equal(skills.size, 2);
  assert.ok(skills.has("pdf") && !skills.has("pfd"));
  assert.deepEqual([...skills].map((record) => record.id).sort(), ["notes", "pdf"]);
  assert.deepEqual(skills.list({ query: "not" }).skills.map((record) => record.id), ["notes"]);
  assert.equal(skills.show("pdf").id, "pdf");
});

test("agent sees its skills alone", () => {
  const agent = bundled().bind("writer", { skills: ["notes"], sees: "used" });
  assert.ok(agent instanceof AgentSkills);
  assert.equal(agent.agentId, "writer");
  assert.deepEqual(agent.ids(), ["notes"]);
  assert.equal(agent.size, 1);
  assert.ok(agent.has("notes") && !agent.has("pdf"));
  assert.throws(() => agent.loadSync("pdf"), NotFoundError);
  assert.match(agent.compose("You write.").text, /^You write\.[^]*Start with the date/);
  assert.deepEqual(agent.narrow("helper", { skills: ["pdf", "notes"] }).ids(), ["notes"]);
  const child = bundled().session().child("notes");
  assert.ok(child instanceof Session && child.maySee("notes") && !child.maySee("pdf"));
});

test("options that are undefined are left out", async () => {
  const skills = bundled(BUNDLED, { cache: undefined, settings: { disclosure: undefined } });
  const [limit, after, all, start] = [];
  assert.ok((await skills.search("pdf", { limit, all })).found.length > 0);
  assert.ok((await skills.files("pdf", { limit, after })).files.length > 0);
  assert.equal((await skills.read("pdf", "fields.md", { start })).text, "name\n");
  assert.equal(skills.list({ limit, after }).skills.length, 2);
});

test("numbers that are none are errors", () => {
  assert.throws(() => bundled().session({ bodyTokens: NaN }), /`body_tokens` is NaN/);
  assert.throws(() => stats(new Uint8Array(), -1), InvalidError);
  assert.throws(() => stats(new Uint8Array(), 0), InvalidError);
});

test("watch takes a function and an interval of seconds", () => {
  const skills = bundled();
  assert.throws(() => skills.watch(5), TypeError);
  for (const interval of [0, -1, 1e300, NaN]) {
    assert.throws(() => skills.watch(() => {}, interval), InvalidError, String(interval));
  }
});

test("changed files are seen after a refresh, or while they are watched", async () => {
  const folder = world({ "person/.agents/skills/notes/SKILL.md": BUNDLED["notes/SKILL.md"] });
  const path = join(folder, "person/.agents/skills/pdf.d");
  const skills = discover(folder);
  rmSync(join(folder, "person/.agents/skills/notes"), { recursive: true });
  assert.deepEqual((await skills.refresh()).removed, ["notes"]);
  const seen = new Promise((resolve) => skills.watch(resolve, 0.05));
  const other = world();
  writeFileSync(join(other, "SKILL.md"), "");
  const { cpSync } = await import("node:fs");
  writeFileSync(join(other, "SKILL.md"), skill("pdf", "Fills in PDF forms"));
  cpSync(other, path.replace(".d", ""), { recursive: true });
  const alive = setInterval(() => {}, 1_000);
  const changes = await seen;
  clearInterval(alive);
  assert.deepEqual(changes.added, ["pdf"]);
  skills[Symbol.dispose]();
  skills.close();
  assert.equal(skills.loadSync("pdf").name, "pdf");
});

test("allowed tools are asked for", () => {
  const skills = bundled({ "git/SKILL.md": skill("git", "Commits", "Commit.", "allowed-tools: Bash(git:*) Read\n") });
  assert.equal(skills.checkTool("git", "Read"), true);
  assert.equal(skills.checkTool("git", "Bash", "git status"), true);
  assert.equal(skills.checkTool("git", "Bash", "rm -r ."), false);
  assert.deepEqual(skills.toolRules("git", "Bash"), ["git:*"]);
  const session = skills.session();
  assert.equal(session.checkTool("Write"), undefined);
  session.loadSync("git");
  assert.equal(session.checkTool("Write"), false);
});

test("rest of what is known about skills", async () => {
  const skills = bundled();
  assert.equal((await skills.prompt("this pdf")).request, "this pdf");
  assert.ok((await skills.check()).summary);
  assert.ok((await skills.evaluate()).summary);
  assert.ok((await skills.doctor()).roots.some((root) => root.root === "bundled"));
  const empty = await discover(world()).doctor();
  assert.ok(!empty.roots.some((root) => root.origin === "host"));
  assert.ok(skills.settings().settings.length > 20);
  skills.loadSync("pdf");
  skills.clearCache("pdf");
  skills.clearCache();
  assert.ok(skills.counters().cache.misses >= 1);
  assert.equal(skills.searchProblem, null);
  assert.deepEqual(skills.loadOrder("pdf"), { ids: ["pdf"], findings: [] });
  assert.equal((await skills.why("this pdf", "notes")).request, "this pdf");
});
