// Proposals, decisions and versions; and skills from sources.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";

import { InvalidError, NotFoundError, Reviewer } from "skillfold";

import { BUNDLED, discover, skill, world } from "./world.mjs";

const DIFF = "--- a/SKILL.md\n+++ b/SKILL.md\n@@ -5 +5 @@\n-Start with the date.\n+Start with the place.\n";

test("proposal changes a skill only when a reviewer approves it", async () => {
  const folder = world({ "person/.agents/skills/notes/SKILL.md": BUNDLED["notes/SKILL.md"] });
  const file = join(folder, "person/.agents/skills/notes/SKILL.md");
  const skills = discover(folder);
  const proposal = await skills.proposeUpdate("notes", DIFF, "We meet at many places", { author: "scribe" });
  assert.match(proposal.diff, /Start with the place/);
  assert.equal((await skills.proposals()).proposals.length, 1);
  assert.equal(readFileSync(file, "utf8"), BUNDLED["notes/SKILL.md"]);

  const anna = skills.reviewer("anna");
  assert.ok(anna instanceof Reviewer && anna.name === "anna");
  await anna.recommend(proposal, "approve", "It is short");
  assert.equal((await anna.merge(proposal)).digest, proposal.digest);
  assert.match(await anna.approve(await skills.proposal(proposal.name)), /^sha256:/);
  assert.match(readFileSync(file, "utf8"), /Start with the place/);
  assert.match(skills.loadSync("notes").body, /Start with the place/);

  const [first] = (await skills.history("notes")).versions;
  await anna.rollBack("notes", first.digest, "It was better");
  assert.equal(readFileSync(file, "utf8"), BUNDLED["notes/SKILL.md"]);
});

test("new skill waits, and can be rejected", async () => {
  const skills = discover(world());
  const proposal = await skills.proposeNew("pdf", BUNDLED["notes/SKILL.md"].replace("name: notes", "name: pdf"), "It is needed", {
    evidence: "Three requests",
    session: "s1",
  });
  assert.equal(skills.has("pdf"), false);
  await skills.reviewer("anna").reject(proposal, "It is not");
  assert.deepEqual((await skills.proposals()).proposals, []);
  await assert.rejects(skills.proposal(proposal.name), NotFoundError);
  await assert.rejects(skills.proposeUpdate("pdf", DIFF, "why"), NotFoundError);
});

/** Makes a git repository with a skill. */
function upstream(folder) {
  const git = (...args) => execFileSync("git", ["-C", folder, ...args]);
  const path = join(folder, "skills/csv/SKILL.md");
  mkdirSync(dirname(path), { recursive: true });
  git("init", "--quiet", "--initial-branch=main");
  const publish = (tag, body) => {
    writeFileSync(path, skill("csv", "Cleans up tables", body));
    git("add", "--all");
    git("-c", "user.name=Anna", "-c", "user.email=anna@example.com", "commit", "--quiet", "--message", tag);
    git("tag", tag);
  };
  publish("v1.0.0", "Use csvclean.\n");
  return { source: `file://${folder}@^1`, publish };
}

test("skills are added from a source, verified, restored and updated", async () => {
  const folder = world();
  mkdirSync(join(folder, "upstream.git"));
  const { source, publish } = upstream(join(folder, "upstream.git"));
  const skills = discover(folder, { trustProject: true });
  const [registry, anna] = [skills.registry(), skills.reviewer("anna")];
  assert.deepEqual((await registry.search(source)).skills.map(({ name }) => name), ["csv"]);

  const [added] = (await registry.add(source)).skills;
  await anna.approve(await skills.proposal(added.proposal));
  assert.match(skills.loadSync("csv").body, /csvclean/);
  const [wanted, lock] = await registry.files();
  assert.match(readFileSync(wanted, "utf8"), /csv/);
  assert.match(readFileSync(lock, "utf8"), /sha256:/);
  assert.equal((await registry.verify()).is_as_locked, true);
  assert.equal((await registry.whyInstalled("csv")).name, "csv");

  const file = join(skills.loadSync("csv").baseDir, "SKILL.md");
  writeFileSync(file, `${readFileSync(file, "utf8")}Edited.\n`);
  assert.equal((await registry.verify()).is_as_locked, false);
  await registry.install({ discardEdits: true, offline: true });
  assert.equal((await registry.verify()).is_as_locked, true);

  publish("v1.1.0", "Use csvkit.\n");
  assert.equal((await registry.outdated()).skills.length, 1);
  assert.equal((await registry.update([], { dryRun: true })).proposed.length, 1);
  const [updated] = (await registry.update(["csv"])).proposed;
  await anna.approve(await skills.proposal(updated.proposal));
  assert.match(skills.loadSync("csv").body, /csvkit/);
  await registry.vendor();
  await registry.remove("csv");
  assert.equal(skills.has("csv"), false);
  await assert.rejects(registry.remove("csv"), NotFoundError);
  await assert.rejects(registry.add("no such source"), InvalidError);
});
