import {describe, expect, test} from 'vitest';
import {Secret} from '../../src/ground/secret.ts';
import {hostAndPort} from '../../src/settings/kinds/hosts.ts';
import {image, registry} from '../../src/settings/kinds/images.ts';
import {InvalidValue, type Kind} from '../../src/settings/kinds/kind.ts';
import {tolerations} from '../../src/settings/kinds/kubernetes.ts';
import {annotations, labels, variables} from '../../src/settings/kinds/lists.ts';
import {noProxyList, proxyFor} from '../../src/settings/kinds/no-proxy.ts';
import {integer, seconds} from '../../src/settings/kinds/numbers.ts';
import {bytes, canonicalQuantity, cpu, exceeds} from '../../src/settings/kinds/quantities.ts';
import {absolutePath, choice, objectName, onOff} from '../../src/settings/kinds/texts.ts';
import {secret} from '../../src/settings/kinds/token.ts';
import {accountUrl, proxyUrl} from '../../src/settings/kinds/urls.ts';

const now = new Date('2027-01-01');

function refusal(kind: Kind<unknown>, raw: unknown): InvalidValue {
  try {
    kind.parse(raw, {now});
  } catch (error) {
    if (error instanceof InvalidValue) return error;
    throw error;
  }
  throw new Error(`${JSON.stringify(raw)} was accepted`);
}

const mode = choice(['ephemeral', 'pvc']);

test.each<[string, Kind<unknown>, unknown, unknown]>([
  ['an address', accountUrl(), ' https://acme.scalr.io/ ', 'https://acme.scalr.io'],
  [
    'a proxy',
    proxyUrl('HTTPS_PROXY'),
    'http://proxy.example.com:3128/',
    'http://proxy.example.com:3128',
  ],
  [
    'a proxy with a password',
    proxyUrl('HTTPS_PROXY'),
    'http://user:p%40ss@proxy:3128',
    'http://user:p%40ss@proxy:3128',
  ],
  ['a size', bytes(), '1.5Gi', '1536Mi'],
  ['a decimal size', bytes(), '2000M', '2G'],
  ['cores', cpu(), '1500m', '1500m'],
  ['half a core', cpu(), 0.5, '500m'],
  ['whole cores as millis', cpu(), '2000m', '2'],
  ['seconds', seconds({min: 1, max: 9999}), '1h30m', 5400],
  ['a part of an hour', seconds({min: 1, max: 9999}), '1.1h', 3960],
  ['plain seconds', seconds({min: 1, max: 9999}), '90', 90],
  ['a switch in a variable', onOff(), 'false', false],
  ['a number in a variable', integer({min: 1, max: 5}), '3', 3],
  ['a directory', absolutePath(), '/var/lib/scalr/', '/var/lib/scalr'],
  ['an OTLP endpoint', hostAndPort(), 'http://otel-collector:4317', 'otel-collector:4317'],
  [
    'a registry',
    registry(),
    'registry.example.com:5000/mirror/',
    'registry.example.com:5000/mirror',
  ],
  ['an image', image(), 'ghcr.io/acme/agent:1.10', 'ghcr.io/acme/agent:1.10'],
  ['labels', labels(), ['b=2', 'a=1'], {a: '1', b: '2'}],
  ['labels in a mapping', labels(), {pool: 'runs'}, {pool: 'runs'}],
  ['a value with equals signs', variables(), ['A=b=c,d'], {A: 'b=c,d'}],
  [
    'NO_PROXY',
    noProxyList(['localhost']),
    'a.com, .b.com,localhost,10.0.0.0/8,a.com',
    ['a.com', '.b.com', '10.0.0.0/8'],
  ],
])('parses %s', (_, kind, raw, value) => {
  expect(kind.parse(raw, {now})).toEqual(value);
});

test.each<[Kind<unknown>, unknown, string, string | undefined]>([
  [accountUrl(), 'acme.scalr.io', 'has no scheme', 'Did you mean https://acme.scalr.io?'],
  [
    accountUrl(),
    'http://acme.scalr.io',
    'does not start with https://',
    'Did you mean https://acme.scalr.io?',
  ],
  [accountUrl(), 'https://<account>.scalr.io', 'placeholder', 'Example: https://acme.scalr.io'],
  [
    accountUrl(),
    'https://scalr.io',
    'not the host of a Scalr account',
    'Enter the URL as in your browser, for example https://acme.scalr.io',
  ],
  [
    accountUrl(),
    'https://app.terraform.io',
    'not the host',
    'Enter the URL as in your browser, for example https://acme.scalr.io',
  ],
  [
    accountUrl(),
    'https://acme.scalr.io/v2/e/env',
    'more than a host',
    'Did you mean https://acme.scalr.io?',
  ],
  [accountUrl(), 'https://acme scalr.io', 'contains whitespace', 'Example: https://acme.scalr.io'],
  [proxyUrl('HTTPS_PROXY'), 'proxy:3128', 'has no scheme', 'Did you mean http://proxy:3128?'],
  [
    proxyUrl('HTTPS_PROXY'),
    'http://bob:se/cret@proxy:3128',
    'contains a character that must be escaped',
    'Escape / as %2F, @ as %40, : as %3A and \\ as %5C',
  ],
  [
    proxyUrl('HTTPS_PROXY'),
    'socks5://proxy:1080',
    'does not start with http:// or https://',
    'Did you mean http://proxy:1080?',
  ],
  [bytes(), '5', 'has no unit', 'Did you mean 5Gi or 5Mi?'],
  [bytes(), '512m', 'not a valid Kubernetes quantity', 'Did you mean 512Mi?'],
  [bytes(), '2GB', 'not a valid Kubernetes quantity', 'Did you mean 2Gi?'],
  [bytes(), '0Gi', 'must be greater than zero', undefined],
  [bytes(), 'much', 'not a size', 'Use a number with a unit, for example 2Gi'],
  [cpu(), '2Gi', 'not a valid CPU quantity', 'Use 2 for two cores, or 500m for half a core'],
  [mode, 'pvx', 'not one of ephemeral, pvc', 'Did you mean pvc?'],
  [onOff(), 'yes', 'not a boolean', 'Use true or false'],
  [integer({min: 1, max: 5}), '9', 'not between 1 and 5', undefined],
  [integer({min: 1, max: 5}), '2.5', 'not an integer', undefined],
  [seconds({min: 1, max: 86_400}), '48h', '48h is longer than 24h', 'Use 24h or less'],
  [seconds({min: 1, max: 5400}), '2h', '2h is longer than 90m', 'Use 90m or less'],
  [seconds({min: 10, max: 60}), '9s', '9s is shorter than 10s', 'Use 10s or more'],
  [
    seconds({min: 1, max: 86_400}),
    '1ms',
    '"1ms" is not a duration',
    'Use a duration such as 90s, 10m or 1h30m',
  ],
  [
    seconds({min: 1, max: 86_400}),
    '',
    '"" is not a duration',
    'Use a duration such as 90s, 10m or 1h30m',
  ],
  [seconds({min: 1, max: 86_400}), '1.5s', '1.5s is not a whole number of seconds', undefined],
  [seconds({min: 1, max: 86_400}), '100000', '100000 is not between 1 and 86400', undefined],
  [objectName(), 'My_Secret', 'not a valid Kubernetes name', 'Did you mean my-secret?'],
  [objectName(), 5, 'Expected a string', 'Quote the value'],
  [absolutePath(), 'var/lib', 'not an absolute path', 'Example: /var/lib/scalr'],
  [absolutePath(), '/var/../etc', 'must not contain ".."', undefined],
  [image({tagged: true}), 'acme/runner', 'has no tag', 'Add a tag, for example acme/runner:1.0.0'],
  [
    image(),
    'acme/agent:1.0@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
    'a tag and a digest',
    undefined,
  ],
  [
    registry(),
    'https://registry.example.com',
    'has a scheme',
    'Did you mean registry.example.com?',
  ],
  [
    choice(['agent-local'], '--chart-version'),
    'agent-local@0.6.5',
    '"agent-local@0.6.5" is not one of agent-local',
    'Did you mean agent-local --chart-version 0.6.5?',
  ],
  [registry(), 'mirror', 'not an image registry', 'Example: registry.example.com/mirror'],
  [labels(), ['pool'], 'has no "="', 'Use pool=value'],
  [labels(), ['a=1', 'a=2'], 'set twice', undefined],
  [labels(), ['a=not a label'], 'is not a valid value', undefined],
  [annotations(), {a: true}, 'is not a string', 'Quote the value: a: "true"'],
  [
    tolerations(),
    ['a=b:Never'],
    'not a valid taint effect',
    'Use one of NoSchedule, PreferNoSchedule, NoExecute',
  ],
  [tolerations(), ['=b:NoSchedule'], '"=b:NoSchedule" is not a valid toleration', undefined],
  [tolerations(), ['a b:NoSchedule'], 'is not a valid toleration', undefined],
  [
    tolerations(),
    ['a=b!:NoSchedule'],
    '"b!" is not a valid taint value',
    'Use at most 63 letters, digits, -, _ and .',
  ],
  [variables(), ['1A=x'], 'not a valid environment variable name', 'Use the form NAME=value'],
  [noProxyList([]), 'http://a.com', 'not a host, domain or network', undefined],
  [hostAndPort(), 'https://otel:4317', 'not host:port', undefined],
  [
    secret(),
    'abc def',
    'contains whitespace',
    'Copy the token again without spaces and line breaks',
  ],
  [secret(), ' \n', 'is empty', undefined],
  [secret(), '<token>', 'placeholder', undefined],
])('%o refuses %j with a next step', (kind, raw, message, suggestion) => {
  const found = refusal(kind, raw);
  expect(found.message).toContain(message);
  if (suggestion !== undefined) expect(found.suggestion?.text).toBe(suggestion);
});

describe('tolerations', () => {
  test.each([
    'dedicated=scalr:NoSchedule',
    'spot:NoExecute',
    'gpu=yes',
    'any',
  ])('round trip of %s', (text) => {
    const kind = tolerations();
    expect(kind.format(kind.parse([text], {now}))).toEqual([text]);
  });

  test.each([
    {key: 'a', operator: 'Exists'},
    {key: 'a', operator: 'Exists', effect: 'NoExecute'},
    {key: 'a', operator: 'Equal', value: 'b', effect: 'NoSchedule'},
  ])('%j in values is a setting', (item) => {
    expect(tolerations().fromValues?.([item])).toEqual([item]);
  });

  test.each([
    [[]],
    ['a'],
    [['a=b']],
    [[{operator: 'Exists'}]],
    [[{key: 'a'}]],
    [[{key: 'a', operator: 'Equal'}]],
    [[{key: 'a', operator: 'Exists', value: 'b'}]],
    [[{key: 'a', operator: 'Exists', tolerationSeconds: 60}]],
    [[{key: 'a', operator: 'Exists', unknown: 'text'}]],
    [[{key: 'a', operator: 'Exists', effect: 1}]],
    [
      [
        {key: 'a', operator: 'Exists'},
        {key: 'b', operator: 'Exists', tolerationSeconds: 60},
      ],
    ],
  ])('%j in values is no setting', (tree) => {
    expect(tolerations().fromValues?.(tree)).toBeUndefined();
  });
});

test.each([
  ['1024Mi', '1Gi'],
  ['1.5Gi', '1536Mi'],
  ['0.5', '500m'],
  ['1000m', '1'],
  ['1000000k', '1G'],
  ['1Ei', '1Ei'],
  ['0', '0'],
  ['abc', undefined],
])('Kubernetes spells %s as %s', (text, canonical) =>
  expect(canonicalQuantity(text)).toBe(canonical));

test('compares quantities with different suffixes', () => {
  expect(exceeds('1Gi', '1G')).toBe(true);
  expect(exceeds('1500m', '2')).toBe(false);
});

test('prints a secret as [hidden]', async () => {
  const {inspect} = await import('node:util');
  const token = secret().parse('hunter2\n', {now});
  expect(token).toBeInstanceOf(Secret);
  expect(
    [`${token}`, JSON.stringify({token}), inspect(token), inspect({token})].join(),
  ).not.toContain('hunter2');
  expect(token.reveal()).toBe('hunter2');
});

test.each([
  ['acme.scalr.io', '443', ['scalr.io'], true],
  ['acme.scalr.io', '443', ['.scalr.io'], true],
  ['acme.scalr.io', '443', ['*.scalr.io'], true],
  ['notscalr.io', '443', ['scalr.io'], false],
  ['acme.scalr.io', '443', ['*'], true],
  ['acme.scalr.io', '443', ['acme.scalr.io:8443'], false],
  ['acme.scalr.io', '8443', ['acme.scalr.io:8443'], true],
  ['10.1.2.3', '443', ['10.0.0.0/8'], true],
  ['ACME.scalr.io', '443', ['Acme.Scalr.io'], true],
  ['11.1.2.3', '443', ['10.0.0.0/8'], false],
  ['[fd00::1]', '443', ['fd00::/8'], true],
  ['acme.scalr.io', '443', ['10.0.0.0/8', ''], false],
])('host %s, port %s, NO_PROXY %j: direct is %s', (host, port, excluded, isDirect) => {
  const proxy = 'http://proxy.example.com:3128';
  const found = proxyFor(new URL(`https://${host}:${port}`), {
    https: proxy,
    http: undefined,
    excluded,
  });
  expect(found).toBe(isDirect ? undefined : proxy);
});
