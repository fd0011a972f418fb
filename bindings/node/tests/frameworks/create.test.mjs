// What `npm create skillfold-agent` promises. A scripted endpoint stands in for the model.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

const run = promisify(execFile);
const project = join(import.meta.dirname, "../..");
const create = join(project, "node_modules/create-skillfold-agent/create.js");

function node(cwd, words, variables = {}) {
  const env = { PATH: "/usr/bin:/bin", HOME: cwd, ...variables };
  return run(process.execPath, words, { cwd, env });
}

// In the project, where the packages are that npm would install.
const parent = () => mkdtempSync(join(project, "made-"));

test("agent that is made runs without a key, and shows what a model would get", async () => {
  const folder = parent();
  const { stdout: made } = await node(folder, [create, "my agent"]);
  assert.match(made, /npm start/);
  const agent = join(folder, "my agent");
  const { name, dependencies } = JSON.parse(readFileSync(join(agent, "package.json"), "utf8"));
  assert.deepEqual([name, dependencies.skillfold], ["my-agent", "^0.1.0"]);
  const { stdout: minutes } = await node(agent, ["agent.js", "Write the minutes of our meeting"]);
  assert.match(minutes, /One line for each decision/);
  const { stdout: other } = await node(agent, ["agent.js", "What is 2+2?"]);
  assert.match(other, /needs no skill/);
});

test("agent that is made gives its skill to the model", async () => {
  const requests = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    requests.push(JSON.parse(text));
    const usage = { input_tokens: 1, output_tokens: 1 };
    const answer = { id: "1", type: "message", role: "assistant", model: "m", content: [{ type: "text", text: "Here they are." }] };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ ...answer, stop_reason: "end_turn", stop_sequence: null, usage }));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const folder = parent();
  await node(folder, [create, "agent"]);
  const variables = { ANTHROPIC_API_KEY: "test", ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.address().port}/v1` };
  const { stdout } = await node(join(folder, "agent"), ["agent.js", "Write the minutes of our meeting"], variables);
  server.close();
  assert.equal(stdout.trim(), "Here they are.");
  const [{ messages, tools }] = requests;
  assert.match(JSON.stringify(messages), /One line for each decision.*Write the minutes of our meeting/);
  assert.ok(tools.some(({ name }) => name === "load_skill"));
});

test("folder that is not empty is left alone", async () => {
  const folder = parent();
  await node(folder, [create, "agent"]);
  await assert.rejects(node(folder, [create, "agent"]), /error: agent is not empty/);
  await assert.rejects(node(folder, [create, "agent/agent.js"]), /error: agent\/agent.js is a file/);
  await assert.rejects(node(folder, [create, "--force"]), /error: one folder is expected/);
  assert.match((await node(folder, [create, "--help"])).stdout, /Usage: npm create skillfold-agent/);
});
