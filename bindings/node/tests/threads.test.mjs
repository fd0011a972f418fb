// What calls do to the event loop and to memory.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";

import { Skills } from "skillfold";

import { bundled, skill, world } from "./world.mjs";

// `CALLS=1000000` is the long form.
const CALLS = Number(process.env.CALLS ?? 50_000);
const SKILLS = Number(process.env.SKILLS ?? 10_000);

// Bun measures CPU time and collects garbage its own way.
const onNode = { skip: process.versions.bun !== undefined && "it is for Node" };

test(`event loop goes on while ${SKILLS} skills are discovered`, onNode, async () => {
  const folder = world();
  for (let number = 0; number < SKILLS; number += 1) {
    const path = join(folder, `person/.agents/skills/skill-${number}`);
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, "SKILL.md"), skill(`skill-${number}`, `Does task ${number}`));
  }
  const at = [join(folder, "app"), { home: join(folder, "person"), cache: false }];
  const before = used();
  assert.equal(Skills.discoverSync(...at).size, SKILLS);
  const held = used() - before;
  // A step that holds the loop does so each time. A collection of garbage, or another process, does not.
  let [longest, turns] = [Infinity, Infinity];
  for (let round = 0; round < 3; round += 1) {
    const seen = await turnsDuring(Skills.discover(...at));
    longest = Math.min(longest, seen.longest);
    turns = Math.min(turns, seen.turns);
  }
  console.log(`${turns} turns of the loop; in the longest it was held for ${longest.toFixed(1)} ms, by discoverSync for ${held.toFixed(0)} ms`);
  assert.ok(turns > 100, `only ${turns} turns`);
  assert.ok(longest < held / 5, `${longest} ms of ${held} ms`);
});

// Milliseconds that this thread computed. Before Node 24 it cannot tell, and the clock stands in.
function used() {
  if (process.threadCpuUsage === undefined) {
    return performance.now();
  }
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1e3;
}

async function turnsDuring(discovered) {
  let [waiting, longest, turns] = [true, 0, 0];
  discovered.finally(() => (waiting = false));
  for (let last = used(); waiting; turns += 1) {
    await turn();
    const now = used();
    longest = Math.max(longest, now - last);
    last = now;
  }
  assert.equal((await discovered).size, SKILLS);
  return { longest, turns };
}

test(`${CALLS} calls leave memory as it was`, onNode, async () => {
  const skills = bundled();
  const session = skills.session();
  const once = async (number) => {
    skills.loadSync("pdf").text;
    session.turnSync("Fill in this pdf");
    skills.show("pdf");
    if (number % 100 === 0) {
      await Promise.all([skills.load("notes"), session.turn("meeting notes"), session.call("load_skill", { skill_id: "pdf" })]);
      skills.session();
    }
  };
  const memory = () => {
    globalThis.gc?.();
    return process.memoryUsage().rss / 1e6;
  };
  for (let number = 0; number < CALLS / 10; number += 1) {
    await once(number);
  }
  const before = memory();
  for (let number = 0; number < CALLS / 3; number += 1) {
    await once(number);
  }
  const grown = memory() - before;
  console.log(`${CALLS} calls: ${grown.toFixed(1)} MB more`);
  assert.ok(grown < 30, `${grown} MB more`);
});
