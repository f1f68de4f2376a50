import {gzipSync} from 'node:zlib';
import {describe, expect, test} from 'vitest';
import {stringify} from 'yaml';
import {withoutSecrets} from '../../../../src/extensions/bundle/redact/find-secrets.ts';
import {redactorOf, seen} from './helpers.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const hide = (value: string): string => `<${value.length}>`;

test('of a Secret the names of its keys and their sizes are left', () => {
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: {name: 'scalr-agent-token', labels: {app: 'x'}},
    data: {token: base64('mellon-7\n'), empty: ''},
    stringData: {more: 'mellon-77'},
  };
  expect(withoutSecrets(secret, hide)).toEqual({
    ...secret,
    data: {token: '[redacted: 9 bytes]', empty: '[redacted: 0 bytes]'},
    stringData: {more: '[redacted: 9 bytes]'},
  });
});

test('in a list of the API, which does not say the kind again, too', () => {
  const list = {
    kind: 'SecretList',
    items: [{type: 'Opaque', metadata: {name: 'x'}, data: {a: base64('mellon-7')}}],
  };
  expect(JSON.stringify(withoutSecrets(list, hide))).not.toContain(base64('mellon-7'));
  const configMaps = {
    kind: 'ConfigMapList',
    items: [{metadata: {name: 'x'}, data: {a: 'visible'}}],
  };
  expect(withoutSecrets(configMaps, hide)).toEqual(configMaps);
});

describe('copies of objects', () => {
  test('managed fields and what was applied go, other annotations stay', () => {
    const object = {
      kind: 'Deployment',
      metadata: {
        name: 'x',
        managedFields: [{manager: 'helm'}],
        annotations: {
          'kubectl.kubernetes.io/last-applied-configuration': '{"data":{"token":"abc"}}',
          'meta.helm.sh/release-name': 'x',
        },
      },
    };
    expect(withoutSecrets(object, hide)).toEqual({
      kind: 'Deployment',
      metadata: {name: 'x', annotations: {'meta.helm.sh/release-name': 'x'}},
    });
  });

  test('the payload of a release of helm goes, from Secrets and from config maps', () => {
    const release = base64(gzipSync('{"config":{"token":"mellon-7"}}').toString('base64'));
    const metadata = {
      name: 'sh.helm.release.v1.scalr-agent.v3',
      labels: {owner: 'helm', version: '3'},
    };
    for (const kind of ['Secret', 'ConfigMap']) {
      const output = withoutSecrets({kind, metadata, data: {release}}, hide);
      expect(output).toEqual({
        kind,
        metadata,
        data: {release: expect.stringMatching(/^\[redacted: \d+ bytes\]$/)},
      });
    }
  });
});

test('variables that look secret have a pseudonym, those that name a Secret stay', () => {
  const env = [
    {name: 'DB_PASSWORD', value: 'mellon-7'},
    {name: 'PORT', value: '5432'},
    {
      name: 'SCALR_AGENT_TOKEN',
      valueFrom: {secretKeyRef: {name: 'scalr-agent-token', key: 'token'}},
    },
    {name: 'EMPTY_TOKEN', value: ''},
  ];
  const pod = {kind: 'Pod', spec: {initContainers: [{env}], containers: [{env}]}};
  const expected = [{name: 'DB_PASSWORD', value: '<8>'}, ...env.slice(1)];
  expect(withoutSecrets(pod, hide)).toEqual({
    kind: 'Pod',
    spec: {initContainers: [{env: expected}], containers: [{env: expected}]},
  });
});

test('what an object and a log say of one value is the same, and is counted', () => {
  const through = redactorOf({'db-password': 'mellon-7'});
  const file = through.file('pods.yaml');
  const pod = withoutSecrets({env: [{name: 'DB_PASSWORD', value: 'mellon-7'}]}, file.hide);
  const output = Buffer.concat([file.push(Buffer.from(stringify(pod))), file.end()]).toString();
  const name = through.text('log', 'using mellon-7').replace('using ', '');
  expect(output).toBe(`env:\n  - name: DB_PASSWORD\n    value: "${name}"\n`);
  expect(through.report().files).toEqual({'pods.yaml': {variable: 1}, log: {'known value': 1}});
});

test('what is left is left alone by the reading of its bytes', () => {
  const secret = withoutSecrets(
    {kind: 'Secret', metadata: {name: 'x'}, data: {token: base64('mellon-7')}},
    hide,
  );
  for (const text of [JSON.stringify(secret), stringify(secret)]) expect(seen(text)).toBe(text);
});

test('neither the object nor what is no object is changed', () => {
  const object = {kind: 'Secret', data: {a: 'eA=='}};
  withoutSecrets(object, hide);
  expect(object).toEqual({kind: 'Secret', data: {a: 'eA=='}});
  for (const each of [null, undefined, 3, 'x', [null, {a: null}]])
    expect(withoutSecrets(each, hide)).toEqual(each);
});
