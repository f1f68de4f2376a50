import {expect, test} from 'vitest';
import type {KubernetesObject} from '../../../../src/cluster/kubernetes/objects.ts';
import {knownSecretsOf} from '../../../../src/extensions/bundle/redact/find-secrets.ts';

const valuesOf = (
  data: Readonly<Record<string, string>>,
  ...objects: KubernetesObject[]
): string[] => {
  const encoded = Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  );
  return knownSecretsOf([{metadata: {name: 'a'}, data: encoded}], objects).map(({value}) =>
    value.reveal(),
  );
};
const auth = Buffer.from('bob:Rg9-regPassw0rd').toString('base64');

test.each([
  ['password of a URL', 'postgres://app:Db9%2FPassw0rd@db/x', ['Db9%2FPassw0rd']],
  ['two URLs', 'http://a:One-111@x,http://b:Two-222@y', ['One-111', 'Two-222']],
  [
    'login of a registry',
    JSON.stringify({auths: {'r.io': {username: 'bob', auth}}}),
    [auth, 'Rg9-regPassw0rd'],
  ],
  [
    'account of a cloud',
    JSON.stringify({type: 'service_account', private_key: 'Key-9'}),
    ['Key-9'],
  ],
  ['list in JSON', JSON.stringify([{client_secret: 'Se-1'}, {name: 'x'}]), ['Se-1']],
  [
    'file of variables',
    '# db\nexport DB_PASSWORD="a b;c"\nDB_HOST=x\nAPI_TOKEN=To-1\n',
    ['a b;c', 'To-1'],
  ],
  ['file of YAML', "db:\n  password: 'Ya-1'\n  user: bob\n", ['Ya-1']],
  ['connection string', 'Server=x;UID=sa;PWD=Ad-9;Encrypt=true', ['Ad-9']],
  ['JSON in YAML', 'config: {"user": "bob", "password": "Jy-1"}\n', ['Jy-1']],
  [
    '.netrc',
    'machine github.com\n  login bob\n  password Nt-1\ndefault login a password "Nt-2"\n',
    ['Nt-1', 'Nt-2'],
  ],
  ['words that are no .netrc', 'forgot password Nt-1? default login', []],
  [
    '.pgpass',
    '# host:port:database:user:password\ndb.x:5432:*:app:Pg\\:1\n*:*:*:u:Pg-2',
    ['Pg\\:1', 'Pg-2'],
  ],
  ['lines with colons that are no .pgpass', 'a:b:c:d:e\n10:20:30\nx:80:y:z', []],
  [
    '.npmrc',
    '//registry.npmjs.org/:_authToken=Np-1\n//r/:_password="Np-2"\n@a:registry=https://x\n',
    ['Np-1', 'Np-2'],
  ],
  [
    'settings of Maven',
    '<server>\n<id>x</id><password>Mv&amp;1</password>\n</server><token/><a>password</a>',
    ['Mv&amp;1'],
  ],
  ['broken JSON', '{"password": "Br-1"', ['Br-1']],
  ['a short name', 'PASS=Sh-1\nAUTH=Sh-2\n', ['Sh-1', 'Sh-2']],
  [
    'what only points to it',
    'token = var.github_token\npassword: $DB_REF\npwd=/home/scalr\nauth: github-oauth\n',
    [],
  ],
  ['nothing of that', 'https://acme.scalr.io/?a=1', []],
])('what is secret inside of a value of a Secret may stand elsewhere: %s', (_, value, within) => {
  expect(valuesOf({it: value})).toEqual([value, ...within]);
});

test.each([
  ['a pod', {spec: {containers: [{args: ['--token', 'Ar-1', '--url=x', '--client-secret=Ar-2']}]}}],
  [
    'a command',
    {
      spec: {
        containers: [{command: ['run', '--token', 'Ar-1'], args: ['--client-secret', 'Ar-2']}],
      },
    },
  ],
  [
    'an ephemeral container',
    {spec: {ephemeralContainers: [{args: ['--token', 'Ar-1', '--client-secret', 'Ar-2']}]}},
  ],
  [
    'a template of a workload',
    {
      spec: {
        template: {
          spec: {initContainers: [{env: [{name: 'TOKEN', value: 'Ar-1'}], args: ['P_TOKEN=Ar-2']}]},
        },
      },
    },
  ],
  [
    'a shell',
    {spec: {containers: [{command: ['sh', '-c', 'login --token Ar-1 && TOKEN="Ar-2" run']}]}},
  ],
  [
    'a proxy',
    {
      spec: {
        containers: [
          {
            env: [{name: 'HTTPS_PROXY', value: 'http://bob:Ar-1@proxy'}, {name: 'A'}],
            args: ['--token=Ar-2'],
          },
        ],
      },
    },
  ],
  [
    'nothing in between',
    {spec: {containers: [{env: null, args: null}, {args: ['--token', 'Ar-1', '--token', 'Ar-2']}]}},
  ],
])('what stands in a command or a variable of %s is known', (_, more) => {
  expect(valuesOf({}, {metadata: {name: 'a'}, ...more} as KubernetesObject)).toEqual([
    'Ar-1',
    'Ar-2',
  ]);
});

test('the records of helm are not', () => {
  expect(
    knownSecretsOf(
      [{metadata: {name: 'a'}, type: 'helm.sh/release.v1', data: {release: 'eA=='}}],
      [],
    ),
  ).toEqual([]);
});
