// Imports the tools of a JavaScript or TypeScript module, and speaks for them as an MCP server over standard input and
// output. Started in the box as `node host.mjs /skill/toolsets/index.js Name`; the name is empty for the default.

import fs from "node:fs";
import process from "node:process";
import { pathToFileURL } from "node:url";

const DEFAULTS = ["default", "toolset", "tools"];
const EMPTY_SCHEMA = { type: "object", properties: {} };

// What the tools print goes to standard error, so that messages stay apart from it.
const print = process.stderr.write.bind(process.stderr);
process.stdout.write = print;
console.log = console.info = console.debug = console.error;

const [path, name] = process.argv.slice(2, 4);
const context = { skill: process.cwd(), scratch: process.env.TMPDIR };
let tools = new Map();
let failure;
try {
  tools = new Map((await load()).map((tool) => [tool.name, tool]));
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
    const args = typeof tool.parameters?.parse === "function" ? tool.parameters.parse(given) : given;
    return toResult(await tool.source.execute(args, { ...context, tool: tool.name }));
  } catch (error) {
    print(`${error?.stack ?? error}\n`);
    return { content: [{ type: "text", text: String(error) }], isError: true };
  }
}

async function load() {
  const module = await import(pathToFileURL(path).href);
  const names = name ? [name] : DEFAULTS;
  const found = names.find((name) => module[name] !== undefined);
  if (found === undefined) {
    const wanted = names.map((name) => `\`${name}\``).join(" or ");
    throw new Error(`the module has no export ${wanted}; it has: ${Object.keys(module).join(", ")}`);
  }
  return toolsOf(module[found]);
}

async function toolsOf(value) {
  let listed = typeof value === "function" ? new value() : value;
  if (typeof listed?.execute === "function") listed = [listed];
  else if (listed?.tools !== undefined) listed = typeof listed.tools === "function" ? await listed.tools() : listed.tools;
  if (typeof listed !== "object" || listed === null) throw new TypeError("the export is no list of tools, and has no `tools`");
  const entries = Array.isArray(listed) ? listed.map((tool) => [undefined, tool]) : Object.entries(listed);
  return entries.map(([key, tool]) => toTool(tool, key));
}

function toTool(source, key) {
  const name = source?.name ?? key;
  if (typeof name !== "string" || typeof source.execute !== "function") {
    throw new TypeError("a tool needs a `name` and a function `execute`");
  }
  const parameters = source.parameters;
  return { name, description: source.description ?? "", inputSchema: toSchema(parameters, name), parameters, source };
}

function toSchema(parameters, name) {
  if (parameters === undefined || parameters === null) return EMPTY_SCHEMA;
  if (typeof parameters.toJSONSchema === "function") return parameters.toJSONSchema();
  if (typeof parameters !== "object" || parameters._def !== undefined) {
    throw new TypeError(`\`parameters\` of \`${name}\` is neither a JSON schema nor has \`toJSONSchema\``);
  }
  return parameters;
}

// Makes the result of a call from a text, or from an object with `output`, `title` and `metadata`.
function toResult(value) {
  const fields = value !== null && typeof value === "object" && "output" in value ? value : { output: value };
  const meta = {};
  if (fields.title) meta["skillfold/title"] = String(fields.title);
  if (fields.metadata) meta["skillfold/metadata"] = fields.metadata;
  const text = typeof fields.output === "string" ? fields.output : (JSON.stringify(fields.output ?? "") ?? "");
  const result = { content: [{ type: "text", text: fields.output == null ? "" : text }], _meta: meta };
  // What is not JSON fails here, as the tool's fault, and not when it is sent.
  JSON.stringify(result);
  return result;
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
