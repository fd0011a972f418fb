// What toolsets of skills promise in the host's process. Beside the frameworks, because there is Zod.

import assert from "node:assert/strict";
import { existsSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { test } from "node:test";

import { NotFoundError, RefusedError } from "skillfold";
import { importToolsets } from "skillfold/toolset";
import { Tool } from "skillfold/tools";

import { discover, world } from "../world.mjs";

// Packages are found from the working folder, which is that of the program.
process.chdir(import.meta.dirname);

// As the page that defines toolsets has it.
const MODULE = `import { z } from 'zod';
import { Tool } from '@agent/tools';

export const myTool = Tool.define('my-tool', {
  description: 'Does something useful',
  parameters: z.object({
    input: z.string(),
  }),
  execute: async (args, ctx) => ({
    title: 'Completed',
    metadata: {},
    output: \`Processed: \${args.input}\`,
  }),
});

export const MyToolset = [myTool];
`;

const COMMON = `const { z } = require("zod");
const { Tool } = require("@agent/tools");
exports.MyToolset = [Tool.define("mine", { parameters: z.object({ input: z.string() }), execute: ({ input }) => input })];
`;

const SKILL = "app/.agents/skills/mine";

const files = {
  [`${SKILL}/SKILL.md`]: "---\nname: mine\ndescription: Does something\ntoolsets: ['toolsets/index:MyToolset']\n---\nCall it.\n",
  [`${SKILL}/toolsets/index.ts`]: MODULE,
};

test("module of a skill is imported unaltered", async () => {
  const [tool] = await importToolsets(discover(world(files), { trustProject: true }), "mine");
  assert.deepEqual([tool.name, tool.description], ["my-tool", "Does something useful"]);
  assert.equal(tool.inputSchema.properties.input.type, "string");
  assert.deepEqual(await tool.call({ input: "one" }), { title: "Completed", metadata: {}, output: "Processed: one" });
  await assert.rejects(tool.call({ input: 1 }), /expected string/);
});

test("module is found through a link, and packages of CommonJS too", async () => {
  const folder = world({ ...files, [`${SKILL}/toolsets/index.ts`]: "", [`${SKILL}/toolsets/index.cjs`]: COMMON });
  rmSync(`${folder}/${SKILL}/toolsets/index.ts`);
  renameSync(`${folder}/${SKILL}`, `${folder}/elsewhere`);
  symlinkSync(`${folder}/elsewhere`, `${folder}/${SKILL}`);
  const [tool] = await importToolsets(discover(folder, { trustProject: true }), "mine");
  assert.deepEqual(await tool.call({ input: "one" }), { output: "one" });
});

test("module outside the skill is refused", async () => {
  const skill = files[`${SKILL}/SKILL.md`].replace("toolsets/index:", "../../../other:");
  const folder = world({ ...files, [`${SKILL}/SKILL.md`]: skill, "app/other.mjs": "globalThis.ran = true;" });
  await assert.rejects(importToolsets(discover(folder, { trustProject: true }), "mine"), RefusedError);
  assert.equal(globalThis.ran, undefined);
});

test("toolset without a module is an error", async () => {
  const skill = files[`${SKILL}/SKILL.md`].replace("toolsets/index:", "toolsets/none:");
  const folder = world({ ...files, [`${SKILL}/SKILL.md`]: skill });
  await assert.rejects(importToolsets(discover(folder, { trustProject: true }), "mine"), /no module for the toolset `toolsets\/none`/);
});

test("tool gets a folder of its own, made when it is called", async () => {
  const skill = `${SKILL}/toolsets/index.ts`;
  const folder = world({ ...files, [skill]: "export const MyToolset = [{ name: 'where', execute: (_, { scratch }) => scratch }];" });
  const [tool] = await importToolsets(discover(folder, { trustProject: true }), "mine");
  const [first, second] = [await tool.call({}), await tool.call({})];
  assert.equal(first.output, second.output);
  assert.ok(existsSync(first.output));
});

test("module of a skill that models do not get is not imported", async () => {
  await assert.rejects(importToolsets(discover(world(files)), "mine"), NotFoundError);
});

test("Tool.define names a definition", () => {
  const execute = () => "one";
  const parameters = { type: "object" };
  assert.deepEqual(Tool.define("one", { description: "One", parameters, execute }), { name: "one", description: "One", parameters, execute });
});
