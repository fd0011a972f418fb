// Imports the tools of a JavaScript or TypeScript module, and speaks for them as an MCP server over standard input and
// output. Started in the sandbox as `node host.mjs /skill/toolsets/index.js Name`; the name is empty for the default.

import fs from "node:fs";
import process from "node:process";
import { pathToFileURL } from "node:url";

import { callTool, toolsOf } from "./load_tools.mjs";

// What the tools print goes to standard error, so that messages stay apart from it.
const print = process.stderr.write.bind(process.stderr);
process.stdout.write = print;
console.log = console.info = console.debug = console.error;

const [path, name] = process.argv.slice(2, 4);
const context = { skill: process.cwd(), scratch: process.env.TMPDIR };
let tools = new Map();
let failure;
try {
  tools = new Map((await toolsOf(await import(pathToFileURL(path).href), name)).map((tool) => [tool.name, tool]));
} catch (error) {
  failure = await describe(error);
}

let pending = "";
process.stdin.setEncoding("utf8");
for await (const chunk of process.stdin) {
  const lines = (pending + chunk).split("\n");
  pending = lines.pop();
  for (const line of lines) {
    const message = JSON.parse(line);
    if (message.id === undefined || message.method === undefined) continue;
    const body = failure === undefined ? await answer(message.method, message.params ?? {}) : refuse(-32000, failure);
    send({ jsonrpc: "2.0", id: message.id, ...body });
  }
}
process.exit(0);

function send(message) {
  let bytes = Buffer.from(JSON.stringify(message) + "\n");
  while (bytes.length > 0) bytes = bytes.subarray(fs.writeSync(1, bytes));
}

function refuse(code, message) {
  return { error: { code, message } };
}

async function answer(method, params) {
  if (method === "initialize") {
    const serverInfo = { name: "skillfold-javascript", version: "1" };
    return { result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } };
  }
  if (method === "tools/list") {
    const listed = [...tools.values()];
    return { result: { tools: listed.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })) } };
  }
  const tool = tools.get(params.name);
  if (method === "tools/call" && tool) return { result: await call(tool, params.arguments ?? {}) };
  return refuse(-32601, "Method not found");
}

async function call(tool, given) {
  try {
    const { output, title, metadata } = await callTool(tool, given, context);
    const meta = {};
    if (title) meta["skillfold/title"] = title;
    if (metadata) meta["skillfold/metadata"] = metadata;
    return { content: [{ type: "text", text: output }], _meta: meta };
  } catch (error) {
    print(`${error?.stack ?? error}\n`);
    return { content: [{ type: "text", text: String(error) }], isError: true };
  }
}

// Returns the start of the stack, without the frames of this file and of Node.
async function describe(error) {
  const text = (await syntaxError(error)) || String(error?.stack ?? error);
  const lines = text.split("\n").filter((line) => !/node:internal|language-host|<anonymous>\)|^Node\.js v/.test(line));
  return lines.slice(0, 6).join("\n").trim();
}

// Returns where a syntax error is: Bun has it in the error, Node tells nobody but the terminal.
async function syntaxError(error) {
  if (error?.position) return `${error.position.file}:${error.position.line}\n${error}`;
  if (!(error instanceof SyntaxError) || process.versions.bun || process.versions.deno) return "";
  const { spawnSync } = await import("node:child_process");
  return spawnSync(process.execPath, [...process.execArgv, "--check", path], { encoding: "utf8" }).stderr ?? "";
}
