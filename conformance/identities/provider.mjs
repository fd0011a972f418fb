// An identity provider on the loopback, for tests: `oidc-provider`, whose pages log in whoever types a name.
//
//     node provider.mjs PORT RESOURCE KEYS
//
// RESOURCE is the address of the server that tokens are for, KEYS a file that the provider's keys are kept in; each start with
// `--rotate` after it makes a new one. A person is in the group that their name has after an `@`.

import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import Provider from 'oidc-provider';

const [port, resource, file, rotate] = process.argv.slice(2);

function keys() {
  if (existsSync(file) && rotate !== '--rotate') return JSON.parse(readFileSync(file, 'utf8'));
  const pairs = [generateKeyPairSync('ec', { namedCurve: 'P-256' }), generateKeyPairSync('rsa', { modulusLength: 2048 })];
  const made = pairs.map((pair) => ({ ...pair.privateKey.export({ format: 'jwk' }), use: 'sig', kid: randomUUID() }));
  writeFileSync(file, JSON.stringify(made), { mode: 0o600 });
  return made;
}

const scope = 'skills:read skills:propose skills:run';
const scopes = ['openid', 'offline_access', ...scope.split(' ')];
const servers = {
  [resource]: { scope, audience: resource, accessTokenFormat: 'jwt', accessTokenTTL: 600, jwt: { sign: { alg: 'ES256' } } },
  // The same provider has other servers.
  'https://other.example.com/mcp': {
    scope,
    audience: 'https://other.example.com/mcp',
    accessTokenFormat: 'jwt',
    accessTokenTTL: 600,
    jwt: { sign: { alg: 'RS256' } },
  },
};

const provider = new Provider(`http://127.0.0.1:${port}`, {
  jwks: { keys: keys() },
  cookies: { keys: [randomUUID()] },
  scopes,
  // Nothing but to log in is asked: whoever has a name has an account.
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  extraTokenClaims: (_, token) => ({ groups: [token.accountId?.split('@')[1] ?? 'none'] }),
  pkce: { required: () => true },
  clientDefaults: { grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] },
  features: {
    registration: { enabled: true },
    devInteractions: { enabled: true },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      getResourceServerInfo: (_, indicator) => servers[indicator],
    },
  },
});
provider.listen(Number(port), '127.0.0.1', () => console.log('ready'));
