#!/usr/bin/env node
// Makes an example agent in a new folder.

import { cpSync, existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";

const USAGE = "npm create skillfold-agent [FOLDER]";
const words = process.argv.slice(2);
if (words.includes("--help") || words.includes("-h")) {
  console.log(`Makes an example agent in a new folder\n\nUsage: ${USAGE}`);
  process.exit(0);
}
const [given = "skillfold-agent"] = words;
if (words.length > 1 || given.startsWith("-")) {
  fail("one folder is expected");
}
const folder = resolve(given);
if (existsSync(folder) && !statSync(folder).isDirectory()) {
  fail(`${given} is a file`);
}
if (existsSync(folder) && readdirSync(folder).length > 0) {
  fail(`${given} is not empty`);
}

function fail(problem) {
  console.error(`error: ${problem}\nhint: name a new folder: ${USAGE}`);
  process.exit(1);
}

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, "package.json"), "utf8"));
cpSync(join(import.meta.dirname, "template"), folder, { recursive: true });
const manifest = {
  name: basename(folder).toLowerCase().match(/[a-z0-9]+/g)?.join("-") ?? "skillfold-agent",
  private: true,
  type: "module",
  scripts: { start: "node agent.js" },
  dependencies: { "@ai-sdk/anthropic": "^4.0.0", ai: "^7.0.0", skillfold: `^${version}` },
};
writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
console.log(`${given}: an agent with one skill

  cd ${/^[\w./-]+$/.test(given) ? given : JSON.stringify(given)}
  npm install
  npm start "Write the minutes of our meeting"

Set ANTHROPIC_API_KEY to ask a model. Its skills are in .agents/skills.`);
