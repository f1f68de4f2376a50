import {inspect} from 'node:util';
import {describe, expect, test} from 'vitest';
import {
  findCredential,
  noCredential,
  storedTokens,
} from '../../../src/extensions/account/credentials.ts';
import {failed} from '../../../src/ground/errors.ts';
import {isPoolToken, Secret} from '../../../src/ground/secret.ts';
import {memoryFiles} from '../../support/memory-files.ts';
import {poolTokenOf, USER_TOKEN} from './mock-account.ts';

const HOME = '/home/u';
const CONF = `${HOME}/.scalr/scalr.conf`;
const TFRC_JSON = `${HOME}/.terraform.d/credentials.tfrc.json`;
const TFRC = `${HOME}/.terraformrc`;
const ACME = 'https://acme.scalr.io';
const POOL_TOKEN = poolTokenOf('acme.scalr.io', 'apool-v0p7', 'at-v0q1');

const tfrc = (hosts: Record<string, string>): string =>
  JSON.stringify({
    credentials: Object.fromEntries(Object.entries(hosts).map(([host, token]) => [host, {token}])),
  });

async function found(
  content: Record<string, string>,
  env: Record<string, string> = {},
  url?: string,
  isStated = false,
) {
  const credential = await findCredential(
    {url, isStated},
    {env: {HOME, ...env}, files: memoryFiles(content)},
  );
  return credential && {...credential, token: credential.token.reveal()};
}

test('nothing is found on a machine without credentials', async () => {
  expect(await found({}, {}, ACME)).toBeUndefined();
  expect(await findCredential({isStated: false}, {env: {}, files: memoryFiles()})).toBeUndefined();
});

test('variables come first', async () => {
  const env = {SCALR_HOSTNAME: 'acme.scalr.io', SCALR_TOKEN: 'one'};
  const files = {[CONF]: JSON.stringify({hostname: 'acme.scalr.io', token: 'two'})};
  expect(await found(files, env)).toEqual({
    host: 'acme.scalr.io',
    token: 'one',
    source: 'SCALR_TOKEN',
  });
});

test('SCALR_TOKEN is not sent to another account', async () => {
  const env = {SCALR_HOSTNAME: 'acme.scalr.io', SCALR_TOKEN: 'one'};
  expect(await found({}, env, 'https://other.scalr.io', true)).toBeUndefined();
});

test('SCALR_TOKEN without a host is only sent to a URL that the user has stated', async () => {
  expect(await found({}, {SCALR_TOKEN: 'one'}, ACME, true)).toMatchObject({host: 'acme.scalr.io'});
  expect(await found({}, {SCALR_TOKEN: 'one'}, ACME, false)).toBeUndefined();
  expect(await found({}, {SCALR_TOKEN: 'one'})).toBeUndefined();
});

test('the host is that of the URL, with its port', async () => {
  const env = {SCALR_HOSTNAME: 'https://localhost:8443/', SCALR_TOKEN: 'one'};
  expect(await found({}, env, 'https://localhost:8443')).toMatchObject({host: 'localhost:8443'});
  expect(await found({}, env, 'https://localhost')).toBeUndefined();
});

describe('scalr.conf', () => {
  const profiles = {
    default: {hostname: 'acme.scalr.io', token: 'one'},
    prod: {hostname: 'prod.scalr.io', token: 'two'},
  };

  test('is read without profiles', async () => {
    const files = {
      [CONF]: JSON.stringify({hostname: 'acme.scalr.io', token: 'one', account: 'acc-1'}),
    };
    expect(await found(files)).toMatchObject({host: 'acme.scalr.io', token: 'one', source: CONF});
  });

  test('uses the default profile, or SCALR_PROFILE, or the one of the URL', async () => {
    const files = {[CONF]: JSON.stringify(profiles)};
    expect(await found(files)).toMatchObject({token: 'one', source: `${CONF} (profile default)`});
    expect(await found(files, {SCALR_PROFILE: 'prod'})).toMatchObject({token: 'two'});
    expect(await found(files, {}, 'https://prod.scalr.io')).toMatchObject({token: 'two'});
  });

  test('an unknown profile is an error that lists the others', async () => {
    await expect(
      found({[CONF]: JSON.stringify(profiles)}, {SCALR_PROFILE: 'stage'}),
    ).rejects.toMatchObject({
      code: 'NO_CREDENTIAL',
      suggestions: ['Set SCALR_PROFILE to one of default, prod'],
    });
  });

  test('two profiles for the same account are an error', async () => {
    const files = {
      [CONF]: JSON.stringify({
        a: {hostname: 'acme.scalr.io', token: 'one'},
        b: {hostname: 'acme.scalr.io', token: 'two'},
      }),
    };
    await expect(found(files, {}, ACME)).rejects.toMatchObject({
      message: `${CONF} (profile a) and ${CONF} (profile b) contain different tokens for acme.scalr.io.`,
      suggestions: expect.arrayContaining(['Select a profile with SCALR_PROFILE']),
    });
  });

  test('a broken file is an error that does not quote it', async () => {
    await expect(found({[CONF]: '{"token": "hunter2'})).rejects.toMatchObject({
      message: `${CONF} is not a JSON object.`,
    });
  });
});

describe('files of Terraform', () => {
  test.each([
    [
      'credentials.tfrc.json',
      {[TFRC_JSON]: tfrc({'acme.scalr.io': 'one', 'app.terraform.io': 'x'})},
      {},
    ],
    [
      '.terraformrc',
      {
        [TFRC]:
          '# token\ncredentials "acme.scalr.io" {\n  token = "one"\n}\nplugin_cache_dir = "x"\n',
      },
      {},
    ],
    [
      'TF_CLI_CONFIG_FILE',
      {'/etc/tf.rc': 'credentials "acme.scalr.io" { token = "one" }'},
      {TF_CLI_CONFIG_FILE: '/etc/tf.rc'},
    ],
    ['TF_TOKEN_<host>', {}, {TF_TOKEN_acme_scalr_io: 'one', TF_TOKEN_app_terraform_io: 'x'}],
  ])('%s has the token', async (_, files, env) => {
    expect(await found(files, env)).toMatchObject({host: 'acme.scalr.io', token: 'one'});
    expect(await found(files, env, ACME)).toMatchObject({token: 'one'});
  });

  test('a hyphen in a host is written as two underscores', async () => {
    expect(await found({}, {TF_TOKEN_my__team_scalr_io: 'one'})).toMatchObject({
      host: 'my-team.scalr.io',
    });
  });

  test('a commented block is ignored', async () => {
    expect(
      await found({[TFRC]: '# credentials "acme.scalr.io" {\n#   token = "one"\n# }\n'}),
    ).toBeUndefined();
  });

  test('several accounts are an error that lists them', async () => {
    const files = {[TFRC_JSON]: tfrc({'acme.scalr.io': 'one', 'other.scalr.io': 'two'})};
    await expect(found(files)).rejects.toMatchObject({
      message: 'Found tokens for several Scalr accounts: acme.scalr.io, other.scalr.io.',
    });
    expect(await found(files, {}, 'https://other.scalr.io')).toMatchObject({token: 'two'});
  });

  test('are read on Windows', async () => {
    const files = {'/roaming/terraform.d/credentials.tfrc.json': tfrc({'acme.scalr.io': 'one'})};
    expect(await found(files, {APPDATA: '/roaming'})).toMatchObject({token: 'one'});
  });
});

test('two files that differ are an error that names both', async () => {
  const files = {
    [CONF]: JSON.stringify({hostname: 'acme.scalr.io', token: 'one'}),
    [TFRC_JSON]: tfrc({'acme.scalr.io': 'two'}),
  };
  await expect(found(files)).rejects.toMatchObject({
    code: 'NO_CREDENTIAL',
    message: `${CONF} and ${TFRC_JSON} contain different tokens for acme.scalr.io.`,
  });
  expect(await found({...files, [TFRC_JSON]: tfrc({'acme.scalr.io': 'one'})})).toMatchObject({
    token: 'one',
    source: CONF,
  });
  expect(await found(files, {SCALR_HOSTNAME: 'acme.scalr.io', SCALR_TOKEN: 'three'})).toMatchObject(
    {token: 'three'},
  );
});

describe('an agent pool token is not a credential', () => {
  test('in SCALR_TOKEN', async () => {
    await expect(
      found({}, {SCALR_HOSTNAME: 'acme.scalr.io', SCALR_TOKEN: POOL_TOKEN}),
    ).rejects.toMatchObject({
      code: 'NO_CREDENTIAL',
      message: 'SCALR_TOKEN contains an agent pool token, which has no access to the Scalr API.',
    });
  });

  test('if it is also in SCALR_AGENT_TOKEN', async () => {
    const env = {
      SCALR_HOSTNAME: 'acme.scalr.io',
      SCALR_TOKEN: 'opaque',
      SCALR_AGENT_TOKEN: 'opaque',
    };
    await expect(found({}, env)).rejects.toMatchObject({code: 'NO_CREDENTIAL'});
  });

  test('the token of a user is one', () => {
    expect(isPoolToken(new Secret(USER_TOKEN))).toBe(false);
    expect(isPoolToken(new Secret('opaque'))).toBe(false);
    expect(isPoolToken(new Secret(POOL_TOKEN))).toBe(true);
  });
});

test('a credential prints without its token', async () => {
  const credential = await findCredential(
    {isStated: false},
    {env: {SCALR_HOSTNAME: 'acme.scalr.io', SCALR_TOKEN: USER_TOKEN}, files: memoryFiles()},
  );
  expect(`${JSON.stringify(credential)} ${inspect(credential)}`).not.toContain('eyJ');
});

test('the tokens of all sources, hosts and profiles are known, so that none leaves the machine', async () => {
  const files = memoryFiles({
    [CONF]: JSON.stringify({
      default: {hostname: 'acme.scalr.io', token: 'one'},
      prod: {hostname: 'prod.scalr.io', token: 'two'},
    }),
    [TFRC_JSON]: tfrc({'acme.scalr.io': 'three'}),
    [TFRC]: 'credentials "other.example.com" {\n  token = "four"\n}\n',
  });
  const env = {HOME, SCALR_TOKEN: 'five', TF_TOKEN_acme_scalr_io: 'six', SCALR_PROFILE: 'prod'};
  const tokens = (await storedTokens({env, files})).map((each) => each.reveal());
  expect(tokens.toSorted()).toEqual(['five', 'four', 'one', 'six', 'three', 'two']);
  const broken = memoryFiles({[CONF]: '{', [TFRC_JSON]: tfrc({'acme.scalr.io': 'three'})});
  expect(await storedTokens({env: {HOME}, files: broken})).toHaveLength(1);
});

test('a home directory of another user has no credential, and is named', async () => {
  const unread: string[] = [];
  const files = {
    ...memoryFiles(),
    kindOf: async (path: string) => {
      throw failed('UNWRITABLE_FILE', `Cannot write ${path}: permission denied.`);
    },
  };
  const deps = {env: {HOME}, files, onUnread: (path: string) => void unread.push(path)};
  expect(await findCredential({url: ACME, isStated: true}, deps)).toBeUndefined();
  expect(unread).toEqual([CONF, TFRC_JSON, TFRC]);
  expect(noCredential(ACME, unread).message).toBe(
    `No Scalr API token found for acme.scalr.io. Not read (permission denied): ${CONF}, ${TFRC_JSON}, ${TFRC}.`,
  );
  const env = {HOME, SCALR_HOSTNAME: 'acme.scalr.io', SCALR_TOKEN: USER_TOKEN};
  expect((await findCredential({url: ACME, isStated: true}, {...deps, env}))?.source).toBe(
    'SCALR_TOKEN',
  );
});
