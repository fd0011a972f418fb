// What running scripts and tools of skills promises.

import assert from "node:assert/strict";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { RefusedError, RunArgumentsError, RunError, ToolsetError } from "skillfold";

import { discover, world } from "./world.mjs";

const onLinux = { skip: process.platform !== "linux" && "the sandbox is for Linux" };

const TOOLS = JSON.stringify({
  tools: [
    {
      name: "count",
      description: "Counts letters.",
      script: "scripts/count.py",
      parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    },
  ],
});
// A name to find its process by.
const SLEEPING = `scripts/sleep-${process.pid}.py`;

async function allowed() {
  const folder = world({
    "app/.agents/skills/pdf/SKILL.md": "---\nname: pdf\ndescription: Fills in forms\ntoolsets: ['tools.json:tools']\n---\nCount.\n",
    "app/.agents/skills/pdf/tools.json": TOOLS,
    "app/.agents/skills/pdf/scripts/count.py": "import json, sys\nprint(len(json.load(sys.stdin)['text']))\n",
    "app/.agents/skills/pdf/scripts/args.py": "import sys\nprint(sys.argv[1:], sys.stdin.read())\nsys.exit(3)\n",
    [`app/.agents/skills/pdf/${SLEEPING}`]: "import time\ntime.sleep(600)\n",
  });
  const skills = discover(folder, { trustProject: true, settings: { scripts: true } });
  await assert.rejects(skills.run("pdf", "scripts/args.py"), (error) => error instanceof RefusedError && error.refusal === "not_allowed");
  const scripts = await skills.scripts("pdf");
  assert.equal(scripts.allowed, false);
  await skills.reviewer("anna").allow(scripts);
  return { skills, folder };
}

test("script runs only if allowed and unchanged", onLinux, async () => {
  const { skills, folder } = await allowed();
  const run = await skills.run("pdf", "scripts/args.py", { args: ["a b", "$(id)"], input: "read" });
  assert.deepEqual([run.result, run.exit_code, run.output], ["exited", 3, "['a b', '$(id)'] read\n"]);
  writeFileSync(join(folder, "app/.agents/skills/pdf/scripts/args.py"), "print('evil')\n");
  await assert.rejects(skills.run("pdf", "scripts/args.py"), RefusedError);
});

test("tool answers, and says what is wrong with its arguments", onLinux, async () => {
  const { skills } = await allowed();
  assert.equal((await skills.callTool("pdf", "count", { text: "four" })).output.trim(), "4");
  await assert.rejects(skills.callTool("pdf", "count", {}), RunArgumentsError);
  await assert.rejects(skills.callTool("pdf", "no_such"), ToolsetError);
  await assert.rejects(skills.run("pdf", "no/such.py"), RunError);
  await assert.rejects(skills.run("pdf", "scripts/args.py", { limits: { secunds: 1 } }), /secunds/);
});

function sleeping() {
  const running = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return running.some((id) => {
    try {
      return readFileSync(`/proc/${id}/cmdline`, "latin1").includes(SLEEPING);
    } catch {
      return false;
    }
  });
}

async function until(holds) {
  for (let tries = 0; !holds(); tries += 1) {
    assert.ok(tries < 1_000, "it took too long");
    await sleep(20);
  }
}

test("aborted run ends its process before the promise is rejected", onLinux, async () => {
  const { skills } = await allowed();
  const session = skills.session();
  const starts = [
    (signal) => skills.run("pdf", SLEEPING, { signal }),
    (signal) => session.call("run_skill_script", { skill_id: "pdf", script: SLEEPING }, { signal }),
  ];
  for (const start of starts) {
    const controller = new AbortController();
    const reason = new Error("enough");
    const running = start(controller.signal);
    await until(sleeping);
    controller.abort(reason);
    await assert.rejects(running, (error) => error === reason);
    assert.equal(sleeping(), false);
    await assert.rejects(start(controller.signal), (error) => error === reason);
  }
});
