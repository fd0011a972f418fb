// Asks `skillfold serve` for everything by the official TypeScript client, over HTTP and over stdio.
//
//     node client.mjs URL FOLDER SERVE...
//
// URL is that of a running server; FOLDER is one of the folders of skills that it serves, where skills come and go; SERVE is
// the command that serves the same skills by stdin and stdout.

import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

/** A skill comes and goes; the client is told, and sees it. */
async function reload(client, folder) {
  const skill = join(folder, 'comes-and-goes');
  let hear = () => {};
  client.setNotificationHandler('notifications/tools/list_changed', () => hear());
  if (client.getNegotiatedProtocolVersion() >= '2026') {
    await client.listen({ toolsListChanged: true });
  }
  const change = async (act, seen) => {
    const late = AbortSignal.timeout(30_000);
    const heard = new Promise((resolve, reject) => {
      hear = resolve;
      late.addEventListener('abort', () => reject(new Error('no notice came')));
    });
    await act();
    await heard;
    const found = await client.callTool({ name: 'list_skills', arguments: { query: 'comes-and-goes' } });
    assert.deepEqual(
      found.structuredContent.skills.map((skill) => skill.id),
      seen,
    );
  };
  await change(async () => {
    await mkdir(skill);
    await writeFile(join(skill, 'SKILL.md'), '---\nname: comes-and-goes\ndescription: Here for a while\n---\nBe brief.\n');
  }, ['comes-and-goes']);
  await change(() => rm(skill, { recursive: true }), []);
}

async function check(name, transport, folder) {
  const client = new Client({ name: 'conformance', version: '1.0.0' });
  await client.connect(transport);
  assert.equal(client.getServerVersion().name, 'skillfold');
  assert.match(client.getInstructions(), /load_skill/);
  // The client holds what tools answer against their schemas once it has listed them.
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map((tool) => tool.name),
    ['search_skills', 'load_skill', 'read_skill_resource', 'list_skills'],
  );
  const call = (name, args) => client.callTool({ name, arguments: args });
  const found = await call('search_skills', { query: 'filled form' });
  assert.equal(found.structuredContent.skills[0].id, 'pdf-forms');
  const listed = await call('list_skills', {});
  assert.equal(listed.structuredContent.skills.length, 50);
  const loaded = await call('load_skill', { skill_id: 'welcome', arguments: 'Ada' });
  assert.match(loaded.content[0].text, /Say hello to Ada\./);
  const file = await call('read_skill_resource', { skill_id: 'pdf-forms', path: 'references/fields.md' });
  assert.equal(file.content[0].text, '# Fields\n');
  const missing = await call('load_skill', { skill_id: 'welcom' });
  assert.equal(missing.isError, true);
  assert.equal(missing.structuredContent.nearest[0], 'welcome');
  const { prompts } = await client.listPrompts();
  assert.ok(prompts.some((prompt) => prompt.name === 'person-only'));
  const prompt = await client.getPrompt({ name: 'welcome', arguments: { arguments: 'Ada' } });
  assert.match(prompt.messages[0].content.text, /Say hello to Ada\./);
  const read = await client.readResource({ uri: 'skill://pdf-forms/SKILL.md' });
  assert.equal(read.contents[0].mimeType, 'text/markdown');
  await reload(client, folder);
  await client.close();
  console.log(`TypeScript client over ${name}: passed`);
}

const [url, folder, command, ...args] = process.argv.slice(2);
await check('HTTP', new StreamableHTTPClientTransport(new URL(url)), folder);
await check('stdio', new StdioClientTransport({ command, args, stderr: 'ignore' }), folder);
