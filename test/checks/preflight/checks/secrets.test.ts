import {describe, expect, test} from 'vitest';
import {secretChecks} from '../../../../src/checks/preflight/checks/secrets.ts';
import type {PreflightContext} from '../../../../src/checks/preflight/facts/context.ts';
import {requiredSecrets} from '../../../../src/checks/preflight/facts/referenced-objects.ts';
import type {KubernetesObject, SecretObject} from '../../../../src/cluster/kubernetes/objects.ts';
import {type Fact, known, unknown} from '../../../../src/ground/fact.ts';
import {tokenSecret} from '../../../../src/settings/agent.ts';
import {preflightContext, saidBy} from '../context.ts';

const NAME = 'scalr-agent-token';
const secret = (
  name: string,
  data: Record<string, string> = {},
  more: Partial<SecretObject> = {},
): SecretObject => ({
  metadata: {name},
  data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, btoa(text)])),
  ...more,
});
const holding = (...secrets: (SecretObject | string)[]): Pick<PreflightContext, 'secrets'> => ({
  secrets: new Map(
    secrets.map((each): [string, Fact<SecretObject | undefined>] =>
      typeof each === 'string'
        ? [each, known(undefined, each)]
        : [each.metadata.name, known(each, each.metadata.name)],
    ),
  ),
});
const REFUSED = {secrets: new Map([[NAME, unknown('forbidden', 'secrets is forbidden')]])};
const said = async (id: string, but: Partial<PreflightContext>, flags = {}) =>
  saidBy(
    secretChecks,
    id,
    await preflightContext({chart: 'agent-local', ...flags}, undefined, but),
  );
const wants = (isGiven: boolean, ...keys: string[]) => ({
  wantedSecrets: [{name: NAME, keys, isGiven}],
});

describe('Secrets', () => {
  test('pass when they exist with their keys', async () => {
    expect(await said('secrets', holding(secret(NAME, {token: 'x'})))).toBe(
      `pass: Secret ${NAME} has token`,
    );
  });

  test('fail when they do not exist or lack a key', async () => {
    expect(await said('secrets', holding(NAME))).toMatch(
      /^fail: Secret scalr-agent-token not found in scalr-agent -> .*--token-file/,
    );
    expect(await said('secrets', holding(secret(NAME, {tokne: 'x'})))).toMatch(
      /^fail: .* has no key token \(existing keys: tokne\)/,
    );
    const ca = {wantedSecrets: [{name: 'ca', keys: ['ca.pem'], isGiven: false}], ...holding('ca')};
    expect(await said('secrets', ca)).toContain(
      'kubectl create secret generic ca --namespace scalr-agent --from-file=ca.pem=ca.pem',
    );
    const certificate = {
      wantedSecrets: [{name: 'mtls', keys: ['tls.crt'], isGiven: false}],
      ...holding('mtls'),
    };
    expect(await said('secrets', certificate, {'client-cert-secret': 'mtls'})).toContain(
      '--client-cert-file',
    );
  });

  test('pass when they will be created from given content', async () => {
    expect(await said('secrets', {...wants(true, 'token'), ...holding(NAME), token: 'x'})).toBe(
      `pass: Secret ${NAME} will be created`,
    );
  });

  test('fail when they exist with other content of another owner', async () => {
    const theirs = {...wants(true, 'token'), ...holding(secret(NAME, {token: 'theirs'}))};
    expect(await said('secrets', {...theirs, token: 'ours'})).toMatch(
      /^fail: .*was not created by scalr-agent/,
    );
    expect(await said('secrets', {...theirs, token: 'theirs'})).toMatch(/^pass: /);
  });

  test('are skipped when they cannot be read', async () => {
    expect(await said('secrets', REFUSED)).toBe(
      `skip: Cannot read Secret ${NAME}: secrets is forbidden`,
    );
    expect(await said('token', REFUSED)).toMatch(/^skip: /);
  });
});

const PULLING = {
  manifest: known(
    [{metadata: {name: 'a'}, spec: {imagePullSecrets: [{name: 'pull'}]}} as KubernetesObject],
    'helm template',
  ),
};

test.each([
  ['kubernetes.io/dockerconfigjson', /^pass: /],
  [
    'Opaque',
    /^fail: .*type Opaque.* -> Delete it: kubectl delete secret pull .*\n.*kubectl create secret docker-registry pull/,
  ],
])('a pull secret of type %s', async (type, outcome) => {
  expect(await said('pull-secrets', {...PULLING, ...holding(secret('pull', {}, {type}))})).toMatch(
    outcome,
  );
});

test('fails for a missing pull Secret, skips an unreadable one, and does not apply without one', async () => {
  expect(await said('pull-secrets', {...PULLING, ...holding('pull')})).toMatch(
    /^fail: Secret pull not found/,
  );
  expect(
    await said('pull-secrets', {
      ...PULLING,
      secrets: new Map([['pull', unknown('forbidden', 'no')]]),
    }),
  ).toMatch(/^skip: /);
  expect(await said('pull-secrets', {})).toBeUndefined();
});

const jwt = (claims: object): string =>
  ['{"alg":"HS256"}', JSON.stringify(claims), 'x']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');
const at = (date: string): {exp: number} => ({exp: Date.parse(date) / 1000});

describe('the token', () => {
  test.each([
    [jwt({}), /^pass: The token does not expire/],
    [jwt(at('2028-01-01')), /^pass: The token is valid until 2028-01-01/],
    [jwt(at('2027-01-03')), /^warn: The token expires on 2027-01-03/],
    [jwt(at('2026-12-31')), /^fail: The token expired on 2026-12-31/],
    [jwt({iss: 'user'}), /^fail: This is a user token, not an agent pool token/],
    ['hunter2', /^warn: The token is not a Scalr agent pool token/],
  ])('%s', async (token, outcome) => {
    const text = await said('token', {token});
    expect(text).toMatch(outcome);
    expect(text).not.toContain(token);
  });

  test('is also read from the Secret', async () => {
    expect(await said('token', holding(secret(NAME, {token: jwt(at('2026-12-31'))})))).toMatch(
      /^fail: The token expired/,
    );
    expect(await said('token', holding(secret(NAME, {token: 'whatever'})))).toMatch(/^skip: /);
    expect(await said('token', holding(NAME))).toBeUndefined();
  });
});

test('requires what pods read, unless it is optional or created by the chart', async () => {
  const {get} = await preflightContext({chart: 'agent-local', 'ca-secret': 'ca'});
  const pod = {
    kind: 'Deployment',
    metadata: {name: 'a'},
    spec: {
      containers: [
        {
          env: [
            {valueFrom: {secretKeyRef: {name: 'one', key: 'a'}}},
            {valueFrom: {secretKeyRef: {name: 'maybe', key: 'a', optional: true}}},
            {valueFrom: {secretKeyRef: {name: 'own', key: 'a'}}},
          ],
          envFrom: [{secretRef: {name: 'all'}}],
        },
      ],
      volumes: [{secret: {secretName: 'one', items: [{key: 'b'}]}}],
    },
  };
  const objects = [pod, {kind: 'Secret', metadata: {name: 'own'}}] as KubernetesObject[];
  expect(
    requiredSecrets(
      [
        {
          name: NAME,
          type: 'Opaque',
          data: {token: undefined},
          howToGive: {text: ''},
          setting: tokenSecret,
        },
      ],
      get,
      objects,
    ),
  ).toEqual([
    {name: NAME, keys: ['token'], isGiven: false},
    {name: 'one', keys: ['a', 'b'], isGiven: false},
    {name: 'all', keys: [], isGiven: false},
    {name: 'ca', keys: ['ca-bundle.crt'], isGiven: false},
  ]);
});
