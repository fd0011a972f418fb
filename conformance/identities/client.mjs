// Logs in to `skillfold serve` by the official TypeScript client, as people of two teams, and tries what must not work.
//
//     node client.mjs URL ISSUER CONTROL
//
// CONTROL is the address at which the provider gets new keys.

import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';

const [url, issuer, control] = process.argv.slice(2);
const CALLBACK = 'http://127.0.0.1:1/callback';

function show(what) {
  console.log(`ok  ${what}`);
}

/** A browser, as far as logging in needs one: follows redirects, keeps cookies, fills in the provider's forms. */
class Browser {
  constructor(name) {
    this.name = name;
    this.cookies = new Map();
  }

  async open(address, options = {}) {
    for (let at = new URL(address); ; ) {
      if (at.href.startsWith(CALLBACK)) return at;
      const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const answer = await fetch(at, { redirect: 'manual', ...options, headers: { ...options.headers, cookie } });
      for (const set of answer.headers.getSetCookie()) {
        const [name, value] = set.split(';')[0].split('=');
        this.cookies.set(name, value);
      }
      const next = answer.headers.get('location');
      if (next) {
        at = new URL(next, at);
        options = {};
        continue;
      }
      const page = await answer.text();
      const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1];
      if (!action) throw new Error(`${answer.status} ${at}: ${page.replace(/<[^>]*>/g, ' ').slice(-600)}`);
      const prompt = /name="prompt" value="([^"]+)"/.exec(page)?.[1];
      const form = new URLSearchParams({ prompt, ...(prompt === 'login' && { login: this.name, password: 'any' }) });
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      at = new URL(action, at);
      options = { method: 'POST', body: form.toString(), headers };
    }
  }
}

/** What the client keeps of a person's login. */
class Login {
  constructor(name, scope) {
    this.browser = new Browser(name);
    this.asked = [];
    this.scope = scope;
  }
  get redirectUrl() {
    return CALLBACK;
  }
  get clientMetadata() {
    return {
      client_name: 'conformance',
      redirect_uris: [CALLBACK],
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    };
  }
  clientInformation() {
    return this.information;
  }
  saveClientInformation(information) {
    this.information = information;
  }
  tokens() {
    return this.saved;
  }
  saveTokens(tokens) {
    this.saved = tokens;
  }
  saveDiscoveryState(state) {
    this.discovered = state;
  }
  discoveryState() {
    return this.discovered;
  }
  saveCodeVerifier(verifier) {
    this.verifier = verifier;
  }
  codeVerifier() {
    return this.verifier;
  }
  async redirectToAuthorization(address) {
    this.asked.push(address);
    this.code = (await this.browser.open(address)).searchParams;
  }
}

/** Connects, and logs in when the server asks for it. */
async function connect(login) {
  for (let tries = 0; ; tries += 1) {
    const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: login });
    const client = new Client({ name: 'conformance', version: '1.0.0' });
    try {
      await client.connect(transport);
      return { client, transport };
    } catch (error) {
      if (!(error instanceof UnauthorizedError) || tries > 1) throw error;
      await transport.finishAuth(login.code);
    }
  }
}

function claims(token) {
  return JSON.parse(Buffer.from(token.split('.')[1], 'base64url'));
}

/** Sends one message with a token, as any program could. */
async function post(token, message) {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  if (token) headers.authorization = `Bearer ${token}`;
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(message) });
}

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'conformance', version: '1.0.0' } },
};

async function discovery() {
  const refused = await post(undefined, initialize);
  assert.equal(refused.status, 401);
  const challenge = refused.headers.get('www-authenticate');
  const metadata = /resource_metadata="([^"]+)"/.exec(challenge)[1];
  assert.match(challenge, /scope="skills:read"/);
  const described = await (await fetch(metadata)).json();
  assert.equal(described.resource, url);
  assert.deepEqual(described.authorization_servers, [issuer]);
  show('without a token: 401, with the address of the metadata (RFC 9728)');
}

async function people() {
  const found = {};
  for (const name of ['alice@platform', 'bob@support']) {
    const login = new Login(name);
    const { client } = await connect(login);
    const { tools } = await client.listTools();
    assert.ok(tools.some((tool) => tool.name === 'load_skill'));
    const listed = await client.callTool({ name: 'list_skills', arguments: {} });
    found[name] = listed.content[0].text;
    const asked = login.asked[0].searchParams;
    assert.equal(asked.get('code_challenge_method'), 'S256');
    assert.equal(asked.get('resource'), url);
    assert.deepEqual(asked.get('scope').split(' ').filter((scope) => scope.startsWith('skills')), ['skills:read']);
    assert.equal(claims(login.saved.access_token).aud, url);
    found[`${name} login`] = login;
    await client.close();
  }
  assert.match(found['alice@platform'], /deploy/);
  assert.doesNotMatch(found['alice@platform'], /refunds/);
  assert.match(found['bob@support'], /refunds/);
  assert.doesNotMatch(found['bob@support'], /deploy/);
  show('two people registered a client, logged in with PKCE, and each sees the skills of their role');
  const stranger = new Login('mallory');
  await assert.rejects(connect(stranger), /403|no entry/);
  show('somebody without a role is refused with 403');
  return found['alice@platform login'];
}

async function stepUp() {
  const login = new Login('alice@platform');
  // The client registers itself for the scopes that it is first told of, and this provider then lets it ask for no others; an
  // operator who registers a client does not limit it so.
  const headers = { 'content-type': 'application/json' };
  const registered = await fetch(`${issuer}/reg`, { method: 'POST', headers, body: JSON.stringify(login.clientMetadata) });
  login.information = await registered.json();
  const { client, transport } = await connect(login);
  const content = '---\nname: new-skill\ndescription: A new skill\n---\nDo it.\n';
  const change = { skill_id: 'new-skill', justification: 'It was missing', content };
  const call = () => client.callTool({ name: 'propose_new_skill', arguments: change });
  const before = login.asked.length;
  await call().catch(async (error) => {
    assert.equal(login.asked.length, before + 1, String(error));
    await transport.finishAuth(login.code);
  });
  const wider = claims(login.saved.access_token).scope.split(' ').filter((scope) => scope.startsWith('skills'));
  assert.deepEqual(wider.sort(), ['skills:propose', 'skills:read']);
  const again = await connect(login);
  const answer = await again.client.callTool({ name: 'propose_new_skill', arguments: change });
  assert.ok(!answer.isError, JSON.stringify(answer));
  show('a call that needs another scope: 403, the client asks for it, and the call is answered');
  await client.close();
  await again.client.close();
}

async function wrong(login) {
  const token = login.saved.access_token;
  const [head, body, signature] = token.split('.');
  const changed = (changes) => Buffer.from(JSON.stringify({ ...claims(token), ...changes })).toString('base64url');
  const none = Buffer.from(JSON.stringify({ alg: 'none', typ: 'at+jwt' })).toString('base64url');
  for (const [name, made] of [
    ['other subject', `${head}.${changed({ sub: 'bob@support' })}.${signature}`],
    ['other groups', `${head}.${changed({ groups: ['support'] })}.${signature}`],
    ['no expiry', `${head}.${changed({ exp: 9999999999 })}.${signature}`],
    ['none', `${none}.${body}.`],
    ['no signature', `${head}.${body}.`],
    ['refresh token', login.saved.refresh_token ?? 'none'],
    ['id of the client', login.information.client_id],
  ]) {
    const answer = await post(made, initialize);
    assert.equal(answer.status, 401, name);
    assert.match(answer.headers.get('www-authenticate'), /error="invalid_token"/);
  }
  const other = await tokenFor(login, 'https://other.example.com/mcp');
  assert.equal(claims(other).aud, 'https://other.example.com/mcp');
  const answer = await post(other, initialize);
  assert.equal(answer.status, 401);
  assert.match(answer.headers.get('www-authenticate'), /The token is for another server/);
  assert.equal((await post(token, initialize)).status, 200);
  show('eight wrong tokens, among them a right one for another server, are refused with 401');
}

/** Returns a token of the same person for another server, by the same provider. */
async function tokenFor(login, resource) {
  const { createHash, randomBytes } = await import('node:crypto');
  const verifier = randomBytes(32).toString('base64url');
  const address = new URL(`${issuer}/auth`);
  address.search = new URLSearchParams({
    client_id: login.information.client_id,
    response_type: 'code',
    redirect_uri: CALLBACK,
    scope: 'skills:read',
    resource,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const { searchParams } = await login.browser.open(address);
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code: searchParams.get('code'),
    redirect_uri: CALLBACK,
    client_id: login.information.client_id,
    code_verifier: verifier,
    resource,
  });
  const answer = await (await fetch(`${issuer}/token`, { method: 'POST', body })).json();
  assert.ok(answer.access_token, JSON.stringify(answer));
  return answer.access_token;
}

async function rotation(login) {
  const old = login.saved.access_token;
  assert.equal((await post(old, initialize)).status, 200);
  await fetch(control, { method: 'POST' });
  // The server asks for keys at most every ten seconds.
  await new Promise((resolve) => setTimeout(resolve, 11_000));
  const fresh = new Login('alice@platform');
  const { client } = await connect(fresh);
  await client.close();
  show('after the provider changed its keys, a token by the new one is accepted');
  assert.equal((await post(old, initialize)).status, 401);
  show('and one by the key that it withdrew is refused');
}

await discovery();
const alice = await people();
await wrong(alice);
await stepUp();
await rotation(alice);
