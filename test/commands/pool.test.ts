import {describe, expect, test} from 'vitest';
import PoolCreate from '../../src/commands/pool/create.ts';
import PoolDelete from '../../src/commands/pool/delete.ts';
import PoolLink from '../../src/commands/pool/link.ts';
import PoolList from '../../src/commands/pool/list.ts';
import PoolShow from '../../src/commands/pool/show.ts';
import PoolTokenCreate from '../../src/commands/pool/token/create.ts';
import PoolTokenList from '../../src/commands/pool/token/list.ts';
import PoolTokenRevoke from '../../src/commands/pool/token/revoke.ts';
import PoolUnlink from '../../src/commands/pool/unlink.ts';
import {ExitCode, ExpectedError} from '../../src/ground/errors.ts';
import {proxyServer} from '../checks/preflight/probe/web.ts';
import {idsIn, poolTokenOf, type Stored, USER_TOKEN} from '../extensions/account/mock-account.ts';
import {type MockApi, mockApi} from '../extensions/account/mock-api.ts';
import {certificates} from '../support/certificates.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {violations} from '../support/output-schema.ts';
import {runCommand} from '../support/run-command.ts';

const COMMANDS = {
  list: PoolList,
  show: PoolShow,
  create: PoolCreate,
  link: PoolLink,
  unlink: PoolUnlink,
  delete: PoolDelete,
  'token list': PoolTokenList,
  'token create': PoolTokenCreate,
  'token revoke': PoolTokenRevoke,
};
type Name = keyof typeof COMMANDS;
type Deps = Parameters<typeof runCommand>[2];

/** Runs `pool COMMAND`; the token of the user may appear nowhere. */
async function pool(api: MockApi, command: Name, argv: readonly string[], deps: Deps = {}) {
  const result = await runCommand<object>(COMMANDS[command] as never, [...argv, ...api.flags], {
    ...api.deps,
    ...deps,
  });
  expect(`${result.stdout}${result.stderr}${JSON.stringify(api.deps.files.written)}`).not.toContain(
    USER_TOKEN.split('.')[1],
  );
  return result;
}

/** The document of --json, which must match its schema. */
async function json(api: MockApi, command: Name, ...argv: string[]) {
  const {stdout, stderr, exit} = await pool(api, command, [...argv, '--json']);
  const document = JSON.parse(stdout);
  if (document.error === undefined)
    expect(violations(`pool-${command.replace(' ', '-')}`, stdout)).toEqual([]);
  return {document, stderr, exit};
}

const poolOf = (object: Stored | undefined, relationship = 'agent-pool'): string | undefined =>
  idsIn(object as Stored, relationship)[0];

test('every command needs a credential, and says where it looks', async () => {
  const api = await mockApi();
  for (const command of Object.keys(COMMANDS) as Name[]) {
    const more = command.startsWith('token')
      ? ['at-1']
      : command.endsWith('link')
        ? ['--account-default']
        : [];
    const argv =
      command === 'list'
        ? []
        : [
            'eks-prod',
            ...(command === 'token revoke' ? more : command.endsWith('link') ? more : []),
          ];
    const {stderr, exit} = await pool(api, command, argv, {env: {}});
    expect(stderr).toContain('No Scalr API token found.');
    expect(exit).toBe(ExitCode.usage);
  }
  expect(api.sent).toEqual([]);
});

describe('pool list and show', () => {
  test('list prints a line for each pool, and leaves out the runners of Scalr', async () => {
    const api = await mockApi();
    const prod = api.account.environment('prod');
    const eks = api.account.pool('eks-prod', {environments: [prod], 'in-use': true});
    api.account.pool('github', {'vcs-enabled': true, 'is-shared': true, default: true});
    api.account.pool('scalr', {'is-scalr-managed': true});
    api.account.agent(eks, 'a');
    api.account.agent(eks, 'b', {status: 'busy'});
    const {stdout} = await pool(api, 'list', []);
    expect(stdout.split('\n').map((line) => line.replaceAll(/ {2,}/g, ' | '))).toEqual([
      'NAME | ID | PURPOSE | ENVIRONMENTS | DEFAULT | AGENTS',
      `eks-prod | ${eks.id} | runs | prod | 1 idle, 1 busy`,
      expect.stringMatching(/^github \| apool-\w+ \| VCS \| all \| yes \| none$/),
      '',
    ]);
    expect((await json(api, 'list')).document.pools).toMatchObject([
      {
        id: eks.id,
        name: 'eks-prod',
        default: false,
        vcs: false,
        shared: false,
        inUse: true,
        environments: ['prod'],
        agents: {idle: 1, busy: 1},
      },
      {
        name: 'github',
        default: true,
        vcs: true,
        shared: true,
        agents: {idle: 0, busy: 0, offline: 0, errored: 0},
      },
    ]);
  });

  test('an account without pools', async () => {
    const api = await mockApi();
    const {stdout, stderr} = await pool(api, 'list', []);
    expect(stdout).toBe('');
    expect(stderr).toContain('has no agent pools');
    expect((await json(api, 'list')).document).toEqual({schemaVersion: 1, pools: []});
  });

  test('show prints agents with their errors, and what uses the pool', async () => {
    const api = await mockApi();
    const eks = api.account.pool('eks-prod');
    api.account.workspace('network', api.account.environment('prod'), eks);
    api.account.agent(eks, 'scalr-agent-x', {status: 'errored', 'error-message': 'disk full'});
    api.account.agent(api.account.pool('other'), 'of-another-pool');
    const {stdout} = await pool(api, 'show', ['eks-prod']);
    expect(stdout).toMatch(/Workspaces +network\n/);
    expect(stdout).toMatch(/scalr-agent-x +errored +1\.9\.0 .* disk full\n/);
    expect(stdout).not.toContain('of-another-pool');
    const {document} = await json(api, 'show', eks.id);
    expect(document).toMatchObject({
      id: eks.id,
      workspaces: ['network'],
      agentsList: [{name: 'scalr-agent-x', status: 'errored'}],
    });
  });

  test('shows that a pool is not in use', async () => {
    const api = await mockApi();
    api.account.pool('eks-prod');
    expect((await pool(api, 'show', ['eks-prod'])).stdout).toContain('it receives no runs');
  });

  test('an unknown pool', async () => {
    const api = await mockApi();
    api.account.pool('eks-prod');
    const {document, exit} = await json(api, 'show', 'eks-prd');
    expect(document.error).toMatchObject({
      code: 'SCALR_NOT_FOUND',
      suggestions: expect.arrayContaining(['Did you mean eks-prod?']),
    });
    expect(exit).toBe(2);
  });

  test('a missing name', async () => {
    const {stderr, exit} = await pool(await mockApi(), 'show', []);
    expect(stderr).toContain('Missing argument: NAME of the agent pool.');
    expect(exit).toBe(2);
  });
});

test('--url selects the account, and the token of another account is not sent to it', async () => {
  const api = await mockApi();
  const {stderr} = await pool(api, 'list', ['--url', api.url], {
    env: {SCALR_HOSTNAME: 'acme.scalr.io', SCALR_TOKEN: USER_TOKEN},
  });
  expect(stderr).toContain(`No Scalr API token found for ${api.host}.`);
  expect(api.sent).toEqual([]);
  expect((await pool(api, 'list', ['--url', api.url], {env: {SCALR_TOKEN: USER_TOKEN}})).exit).toBe(
    0,
  );
});

test('SCALR_TOKEN goes to the URL of an answers file only if SCALR_HOSTNAME names it', async () => {
  const api = await mockApi();
  const files = memoryFiles({'ca.pem': api.ca, 'answers.yaml': `url: ${api.url}`});
  const list = (env: Record<string, string>) =>
    pool(api, 'list', ['--answers', 'answers.yaml'], {env, files});
  const {stderr, exit} = await list({SCALR_TOKEN: USER_TOKEN});
  expect(stderr).toContain(`SCALR_TOKEN is not sent to ${api.host}: only an answers file names`);
  expect(stderr).toContain(`Set SCALR_HOSTNAME=${api.host} if the token is for this account`);
  expect(exit).toBe(2);
  expect(api.sent).toEqual([]);
  expect((await list({SCALR_TOKEN: USER_TOKEN, SCALR_HOSTNAME: api.host})).exit).toBe(0);
});

describe('the way to the account', () => {
  test.each(['http://', ''])('leads through HTTPS_PROXY=%sHOST:PORT', async (scheme) => {
    const api = await mockApi();
    const {port, asked} = await proxyServer();
    expect(
      (
        await pool(api, 'list', [], {
          env: {...api.deps.env, HTTPS_PROXY: `${scheme}127.0.0.1:${port}`},
        })
      ).exit,
    ).toBe(0);
    expect([...new Set(asked)]).toEqual([api.host]);
  });

  test('leads around the proxy with NO_PROXY, and through another one with --https-proxy', async () => {
    const api = await mockApi();
    const one = await proxyServer();
    const other = await proxyServer();
    const env = {...api.deps.env, https_proxy: `http://127.0.0.1:${one.port}`};
    expect(
      (await pool(api, 'list', [], {env: {...env, NO_PROXY: 'example.com, localhost'}})).exit,
    ).toBe(0);
    expect(
      (await pool(api, 'list', ['--https-proxy', `http://127.0.0.1:${other.port}`], {env})).exit,
    ).toBe(0);
    expect([one, other].map(({asked}) => [...new Set(asked)])).toEqual([[], [api.host]]);
  });

  test('a proxy variable that is no URL is an error without its password', async () => {
    const api = await mockApi();
    const {stderr, exit} = await pool(api, 'list', [], {
      env: {...api.deps.env, HTTPS_PROXY: 'socks5://u:hunter2@proxy:1080'},
    });
    expect(stderr).toContain('HTTPS_PROXY is not the URL of an HTTP proxy.');
    expect(stderr).not.toContain('hunter2');
    expect(exit).toBe(2);
  });

  test.each(['SSL_CERT_FILE', 'NODE_EXTRA_CA_CERTS'])('trusts the CA of %s', async (variable) => {
    const api = await mockApi();
    await api.deps.files.write('other.pem', String(certificates['ca.pem']), {isPrivate: false});
    const flags = variable === 'SSL_CERT_FILE' ? [] : ['--ca-file', 'other.pem'];
    const env = {...api.deps.env, [variable]: 'ca.pem'};
    expect((await runCommand(PoolList, flags, {...api.deps, env})).exit).toBe(0);
  });
});

describe('pool create', () => {
  test('creates a pool after confirmation', async () => {
    const api = await mockApi();
    const prod = api.account.environment('prod');
    const {stdout, stderr} = await pool(api, 'create', ['eks-prod', '--environment', 'prod'], {
      hasTerminal: true,
      prompter: {confirm: async () => true},
    });
    expect(stdout).toBe('');
    expect(stderr).toContain('1. Create agent pool eks-prod for prod');
    expect(api.account.ofType('agent-pools')).toMatchObject([
      {attributes: {name: 'eks-prod', 'vcs-enabled': false, 'is-shared': false}},
    ]);
    expect(idsIn(api.account.ofType('agent-pools')[0] as Stored, 'environments')).toEqual([
      prod.id,
    ]);
  });

  test('needs --yes without a terminal', async () => {
    const api = await mockApi();
    const {document, exit} = await json(api, 'create', 'eks-prod', '--shared');
    expect(document.error.code).toBe('NOT_CONFIRMED');
    expect(exit).toBe(2);
    expect(api.changes()).toEqual([]);
  });

  test('--dry-run prints the request and sends nothing', async () => {
    const api = await mockApi();
    const {stdout} = await pool(api, 'create', ['eks-prod', '--shared', '--dry-run']);
    expect(stdout).toContain(
      'POST /agent-pools {"data":{"type":"agent-pools","attributes":{"name":"eks-prod","vcs-enabled":false,"is-shared":true}}}',
    );
    expect(api.changes()).toEqual([]);
    expect((await json(api, 'create', 'eks-prod', '--shared', '--dry-run')).document).toMatchObject(
      {created: false, pool: {id: null}},
    );
  });

  test('is repeatable', async () => {
    const api = await mockApi();
    api.account.environment('prod');
    const first = (await json(api, 'create', 'eks-prod', '--environment', 'prod', '--yes'))
      .document;
    const again = (await json(api, 'create', 'eks-prod', '--environment', 'prod', '--yes'))
      .document;
    expect(first).toMatchObject({created: true, pool: {environments: ['prod']}});
    expect(again).toEqual({...first, created: false});
    expect(api.changes()).toHaveLength(1);
  });

  test('does not change a pool with other attributes', async () => {
    const api = await mockApi();
    api.account.pool('eks-prod', {'is-shared': true});
    const {document} = await json(api, 'create', 'eks-prod', '--vcs', '--yes');
    expect(document.error).toMatchObject({
      code: 'CONFLICTING_SETTINGS',
      message:
        'Agent pool eks-prod already exists, but it is not for VCS, and it is shared with all environments.',
    });
    expect(api.changes()).toEqual([]);
  });

  test('warns about a pool that no environment can use', async () => {
    const api = await mockApi();
    const {stderr} = await pool(api, 'create', ['eks-prod', '--yes']);
    expect(stderr).toContain('Agent pool eks-prod is not shared with an environment.');
  });

  test('finds the pool if the answer was lost, and does not create it twice', async () => {
    const api = await mockApi();
    api.inject('POST', /agent-pools$/, 'lost');
    const {document} = await json(api, 'create', 'eks-prod', '--shared', '--yes');
    expect(document).toMatchObject({
      created: true,
      pool: {id: api.account.ofType('agent-pools')[0]?.id},
    });
    expect(api.account.names('agent-pools')).toEqual(['eks-prod']);
  });

  test('fails if the request did not arrive', async () => {
    const api = await mockApi();
    api.inject('POST', /agent-pools$/, 'cut');
    expect((await json(api, 'create', 'eks-prod', '--shared', '--yes')).document.error.code).toBe(
      'SCALR_UNREACHABLE',
    );
    expect(api.account.names('agent-pools')).toEqual([]);
  });
});

describe('pool link and unlink', () => {
  test('links each side, and leaves other links alone', async () => {
    const api = await mockApi();
    const {account} = api;
    const prod = account.environment('prod');
    const dev = account.environment('dev');
    const eks = account.pool('eks-prod');
    const old = account.pool('old', {default: true});
    const network = account.workspace('network', prod, old);
    const other = account.workspace('other', prod, old);
    account.workspace('network', dev);
    const argv = [
      'eks-prod',
      '--workspace',
      'prod/network',
      '--environment',
      'prod',
      '--account-default',
      '--yes',
    ];
    const {document} = await json(api, 'link', ...argv);
    expect(document).toMatchObject({pool: {id: eks.id, name: 'eks-prod'}, changed: true});
    expect(document.steps.map(({title}: {title: string}) => title)).toEqual([
      'Link workspace network to agent pool eks-prod instead of old',
      'Link the default of environment prod to agent pool eks-prod',
      'Link the account default to agent pool eks-prod instead of old',
    ]);
    expect([poolOf(network), poolOf(other), poolOf(prod, 'default-workspace-agent-pool')]).toEqual([
      eks.id,
      old.id,
      eks.id,
    ]);
    expect([eks.attributes['default'], old.attributes['default']]).toEqual([true, false]);
    expect((await json(api, 'link', ...argv)).document).toMatchObject({changed: false, steps: []});
  });

  test('unlinks only links to this pool', async () => {
    const api = await mockApi();
    const {account} = api;
    const prod = account.environment('prod');
    const eks = account.pool('eks-prod');
    const old = account.pool('old');
    const network = account.workspace('network', prod, eks);
    const other = account.workspace('other', prod, old);
    const {document, stderr} = await json(
      api,
      'unlink',
      'eks-prod',
      '--workspace',
      'network,other',
      '--yes',
    );
    expect(document.changed).toBe(true);
    expect(stderr).toContain('Workspace other does not use agent pool eks-prod.');
    expect([poolOf(network), poolOf(other)]).toEqual([undefined, old.id]);
  });

  test('a VCS provider needs a VCS pool', async () => {
    const api = await mockApi();
    const provider = api.account.vcsProvider('github');
    api.account.pool('eks-prod');
    const vcs = api.account.pool('vcs', {'vcs-enabled': true});
    expect(
      (await json(api, 'link', 'eks-prod', '--vcs-provider', 'github', '--yes')).document.error
        .code,
    ).toBe('CONFLICTING_SETTINGS');
    expect(api.changes()).toEqual([]);
    await json(api, 'link', 'vcs', '--vcs-provider', 'github', '--yes');
    expect(poolOf(provider)).toBe(vcs.id);
  });

  test('needs something to link', async () => {
    const {document, exit} = await json(await mockApi(), 'link', 'eks-prod');
    expect(document.error).toMatchObject({
      code: 'USAGE',
      suggestions: expect.arrayContaining(['Add --workspace NAME', 'Add --account-default']),
    });
    expect(exit).toBe(2);
  });

  test('a failure names what was completed, and a rerun continues', async () => {
    const api = await mockApi();
    const prod = api.account.environment('prod');
    const eks = api.account.pool('eks-prod');
    const one = api.account.workspace('one', prod);
    const two = api.account.workspace('two', prod);
    api.inject('PATCH', new RegExp(two.id), {status: 403, body: '{"errors":[{"detail":"No."}]}'});
    const argv = ['eks-prod', '--workspace', 'one', '--workspace', 'two', '--yes'];
    const {document} = await json(api, 'link', ...argv);
    expect(document.error).toMatchObject({
      code: 'SCALR_DENIED',
      message:
        'Cannot link workspace two: permission denied (HTTP 403). No. Completed: Link workspace one to agent pool eks-prod.',
      suggestions: ['Request the permission workspaces:update for your user in Scalr'],
    });
    expect((await json(api, 'link', ...argv)).document.steps).toHaveLength(1);
    expect([poolOf(one), poolOf(two)]).toEqual([eks.id, eks.id]);
  });

  test('Ctrl-C ends after the current request', async () => {
    const api = await mockApi();
    const prod = api.account.environment('prod');
    api.account.pool('eks-prod');
    const one = api.account.workspace('one', prod);
    const two = api.account.workspace('two', prod);
    const stop = new AbortController();
    const {exit, stderr} = await pool(
      api,
      'link',
      ['eks-prod', '--workspace', 'one,two', '--yes'],
      {
        handleInterrupts: () => ({
          interrupt: stop.signal,
          forceQuit: new AbortController().signal,
          release: () => undefined,
        }),
        stderr: (text) => {
          if (text.includes('✓')) stop.abort('SIGINT');
        },
      },
    );
    expect(exit).toBe(130);
    expect(stderr).toBe('');
    expect([poolOf(one) === undefined, poolOf(two)]).toEqual([false, undefined]);
  });
});

describe('pool delete', () => {
  test('shows what still uses the pool, and deletes only this pool', async () => {
    const api = await mockApi();
    const eks = api.account.pool('eks-prod');
    const other = api.account.pool('other');
    api.account.token(eks);
    api.account.token(other);
    api.account.agent(eks, 'a');
    api.account.workspace('network', api.account.environment('prod'), eks);
    const {document} = await json(api, 'delete', 'eks-prod', '--yes');
    expect(document).toMatchObject({changed: true, pool: {name: 'eks-prod'}});
    expect(document.warnings.map(({message}: {message: string}) => message)).toEqual([
      '1 connected agent will lose the connection to Scalr: a.',
      '1 token will become invalid.',
      'Agent pool eks-prod is used by network.',
    ]);
    expect(api.account.names('agent-pools')).toEqual(['other']);
    expect(api.account.ofType('access-tokens')).toHaveLength(1);
  });

  test('is blocked while an agent is busy', async () => {
    const api = await mockApi();
    api.account.agent(api.account.pool('eks-prod'), 'a', {status: 'busy'});
    const {document, exit} = await json(api, 'delete', 'eks-prod', '--yes');
    expect(document.error).toMatchObject({
      code: 'SCALR_REJECTED',
      message: expect.stringContaining('has busy agents'),
    });
    expect(exit).toBe(1);
    expect(api.changes()).toEqual([]);
  });

  test('of a pool that became busy reports what Scalr says', async () => {
    const api = await mockApi();
    const eks = api.account.pool('eks-prod');
    const {stderr} = await pool(api, 'delete', ['eks-prod'], {
      hasTerminal: true,
      prompter: {
        confirm: async () => {
          api.account.agent(eks, 'a', {status: 'busy'});
          return true;
        },
      },
    });
    expect(stderr).toContain(
      'Cannot delete agent pool eks-prod (HTTP 409). The agent pool has busy agents.',
    );
  });
});

describe('pool token', () => {
  test('create prints only the token on standard output', async () => {
    const api = await mockApi();
    const eks = api.account.pool('eks-prod');
    const {stdout, stderr} = await pool(api, 'token create', [
      'eks-prod',
      '--expires-in',
      '720h',
      '--yes',
    ]);
    const [token] = api.account.ofType('access-tokens');
    expect(stdout).toBe(`${poolTokenOf(api.host, eks.id, token?.id as string)}\n`);
    expect(stderr).not.toContain('eyJ');
    expect(token?.attributes['expires-at']).toBe('2026-12-21T12:00:00.000Z');
  });

  test('create --json contains the token', async () => {
    const api = await mockApi();
    const eks = api.account.pool('eks-prod');
    const {document} = await json(api, 'token create', 'eks-prod', '--yes');
    expect(document).toEqual({
      schemaVersion: 1,
      id: expect.stringMatching(/^at-/),
      token: poolTokenOf(api.host, eks.id, document.id),
      expiresAt: null,
    });
  });

  test('create --out writes a private file, and prints no token', async () => {
    const api = await mockApi();
    api.account.pool('eks-prod');
    const {stdout, stderr} = await pool(api, 'token create', [
      'eks-prod',
      '--out',
      'token.txt',
      '--yes',
    ]);
    expect(`${stdout}${stderr}`).not.toContain('eyJ');
    expect(api.deps.files.written).toEqual([
      {path: 'token.txt', text: expect.stringMatching(/^eyJ\S+\n$/), isPrivate: true},
    ]);
  });

  test('create --out does not replace a file, and creates nothing', async () => {
    const api = await mockApi();
    api.account.pool('eks-prod');
    const {stderr} = await pool(api, 'token create', ['eks-prod', '--out', 'ca.pem']);
    expect(stderr).toContain('ca.pem already exists.');
    expect(api.changes()).toEqual([]);
  });

  test('create --out revokes the token if the file cannot be written', async () => {
    const api = await mockApi();
    api.account.pool('eks-prod');
    const write = async (): Promise<never> => {
      throw new ExpectedError('Cannot write token.txt: no space left on device.', {
        code: 'UNWRITABLE_FILE',
      });
    };
    const {stderr} = await pool(api, 'token create', ['eks-prod', '--out', 'token.txt', '--yes'], {
      files: {...api.deps.files, write},
    });
    expect(stderr).toContain('no space left on device');
    expect(api.account.ofType('access-tokens')).toEqual([]);
  });

  test.each([
    'lost',
    'truncated',
  ] as const)('create revokes a token whose answer was %s', async (fault) => {
    const api = await mockApi();
    const eks = api.account.pool('eks-prod');
    const theirs = api.account.token(eks, {
      name: 'scalr-agent',
      description: 'Created by scalr-agent pool token create',
    });
    api.inject('POST', /access-tokens$/, fault);
    const {document, exit} = await json(api, 'token create', 'eks-prod', '--yes');
    expect(document.error).toMatchObject({
      code: 'SCALR_UNREACHABLE',
      message: expect.stringContaining('The token that was created is revoked.'),
    });
    expect(exit).toBe(1);
    expect(api.account.ofType('access-tokens').map(({id}) => id)).toEqual([theirs.id]);
    expect(api.changes()).toHaveLength(2);
  });

  test('create does not guess which of two new tokens is ours', async () => {
    const api = await mockApi();
    const eks = api.account.pool('eks-prod');
    api.inject('POST', /access-tokens$/, 'lost');
    const twin = {name: 'scalr-agent', description: 'Created by scalr-agent pool token create'};
    api.afterNext('POST', /access-tokens$/, () => void api.account.token(eks, twin));
    const {document} = await json(api, 'token create', 'eks-prod', '--yes');
    expect(document.error.message).toContain('Agent pool eks-prod may have a new, unused token.');
    expect(api.account.ofType('access-tokens')).toHaveLength(2);
  });

  test('list shows when each token was used, and never the token', async () => {
    const api = await mockApi();
    const eks = api.account.pool('eks-prod');
    api.account.token(eks, {name: 'one', 'last-used-at': '2026-11-20T08:00:00Z'});
    api.account.token(eks, {name: 'two', 'expires-at': '2026-11-01T00:00:00Z', 'is-expired': true});
    api.account.token(api.account.pool('other'), {name: 'three'});
    const {stdout} = await pool(api, 'token list', ['eks-prod']);
    expect(stdout).toMatch(/one +2026-11-21T12:00:00Z +2026-11-20T08:00:00Z +never/);
    expect(stdout).toMatch(/two .* never +expired 2026-11-01T00:00:00Z/);
    expect((await json(api, 'token list', 'eks-prod')).document.tokens).toMatchObject([
      {name: 'one'},
      {name: 'two', expired: true},
    ]);
  });

  test('revoke takes a name or an ID, and warns about a token in use', async () => {
    const api = await mockApi();
    const eks = api.account.pool('eks-prod');
    const used = api.account.token(eks, {name: 'one', 'last-used-at': '2026-11-20T08:00:00Z'});
    api.account.token(eks, {name: 'two'});
    const {document} = await json(api, 'token revoke', 'eks-prod', 'one', '--yes');
    expect(document).toMatchObject({
      id: used.id,
      revoked: true,
      warnings: [{message: expect.stringContaining('was last used at 2026-11-20')}],
    });
    expect(api.account.ofType('access-tokens').map(({attributes}) => attributes['name'])).toEqual([
      'two',
    ]);
  });

  test('revoke lists the candidates of an ambiguous name, and knows no tokens of other pools', async () => {
    const api = await mockApi();
    const eks = api.account.pool('eks-prod');
    const same = [api.account.token(eks, {name: 'one'}), api.account.token(eks, {name: 'one'})].map(
      ({id}) => id,
    );
    const foreign = api.account.token(api.account.pool('other'));
    const {document} = await json(api, 'token revoke', 'eks-prod', 'one', '--yes');
    expect(document.error.message).toBe(
      `Several tokens of agent pool eks-prod have the name one: ${same.join(', ')}.`,
    );
    expect(
      (await json(api, 'token revoke', 'eks-prod', foreign.id, '--yes')).document.error.code,
    ).toBe('SCALR_NOT_FOUND');
    expect(api.changes()).toEqual([]);
  });

  test('revoke does not repeat a token that was pasted instead of its ID', async () => {
    const api = await mockApi();
    const eks = api.account.pool('eks-prod');
    const {stderr} = await pool(api, 'token revoke', [
      'eks-prod',
      poolTokenOf(api.host, eks.id, 'at-1'),
    ]);
    expect(stderr).toContain('has no token [hidden]');
  });
});
