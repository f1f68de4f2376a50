import {expect, test} from 'vitest';
import {parseUnit} from '../../../../src/extensions/bundle/collect/journal.ts';
import {knownSecretsOfWords} from '../../../../src/extensions/bundle/redact/find-secrets.ts';

const seedsIn = (text: string): string[] =>
  parseUnit(text).knownSecrets.map(({value}) => value.reveal());

test.each([
  ['plain', 'Environment=SCALR_TOKEN=abc-123 SCALR_URL=https://a.scalr.io', ['abc-123']],
  ['in double quotes with a blank', 'Environment="SCALR_TOKEN=abc 123"', ['abc 123']],
  ['in single quotes', "Environment='DB_PASSWORD=a\"b' X=y", ['a"b']],
  ['quoted behind the name', 'Environment=SCALR_TOKEN="abc 123"', ['abc 123']],
  ['over two lines', 'Environment=A=b \\\n  SCALR_TOKEN=abc-123', ['abc-123']],
  ['with a percent sign', 'Environment=SCALR_TOKEN=50%%off', ['50%off']],
  ['as an argument', 'ExecStart=/bin/agent run --token=abc-123', ['abc-123']],
  [
    'as the next argument',
    'ExecStartPre=-/bin/agent configure --agent-token "abc 123" --user root',
    ['abc 123'],
  ],
  ['as a credential', 'SetCredential=scalr-token:abc-123', ['abc-123']],
  [
    'as the password of a proxy',
    'Environment=HTTPS_PROXY=http://me:p%%23ss@proxy:3128',
    ['p%23ss'],
  ],
])('a secret is found in a unit %s', (_, text, secrets) => {
  expect(seedsIn(`[Service]\n${text}\n`)).toEqual(secrets);
});

test('comments, names of files and what looks like no secret are none', () => {
  expect(
    seedsIn(
      '# Environment=SCALR_TOKEN=abc-123\n;x\n[Service]\nEnvironment=SCALR_URL=https://a\nLoadCredential=token:/etc/token\n',
    ),
  ).toEqual([]);
});

test('words of a command give their secrets, whatever stands around them', () => {
  const found = (...words: string[]): string[] =>
    knownSecretsOfWords(words).map(({value}) => value.reveal());
  expect(found('run', '--token', 'abc', '--debug')).toEqual(['abc']);
  expect(found('env', 'SCALR_TOKEN=abc', 'agent')).toEqual(['abc']);
  expect(found('run', '--token', '--debug')).toEqual([]);
  expect(found('run', 'token', 'abc')).toEqual([]);
  expect(found('kubectl', 'create', 'token', 'default')).toEqual([]);
  expect(found('kubectl', 'delete', 'secret', 'scalr-agent-token')).toEqual([]);
  expect(found('redis-cli', 'CONFIG', 'SET', 'requirepass', 'hunter2x')).toEqual(['hunter2x']);
});
