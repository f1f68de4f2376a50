import {expect, test} from 'vitest';
import {linesWithoutSecrets} from '../../../src/values/reading/hidden-lines.ts';

test.each<[string, string, string]>([
  ['a value', 'token: hunter2 # old', 'token: [hidden]'],
  [
    'a list below its key, not indented',
    'API_KEY:\n- hunter2\nurl: a',
    'API_KEY:\n- [hidden]\nurl: a',
  ],
  [
    'a block',
    'password: |\n  hunter2\n\n  # hunter2\nurl: a',
    'password: |\n  [hidden]\n\n  [hidden]\nurl: a',
  ],
  [
    'a value that continues on the next line',
    'password: "hun\n  ter2"\nurl: a',
    'password: [hidden]\n  [hidden]\nurl: a',
  ],
  [
    'a list on several lines',
    'token: [\n  hunter2\n]\nurl: a',
    'token: [hidden]\n  [hidden]\n]\nurl: a',
  ],
  ['the rest of a mapping on one line', '{a: b, token: hunter2, c: d}', '{a: b, token: [hidden]'],
  [
    'the value beside the name of a variable',
    '- name: DB_PASSWORD\n  value: hunter2\n- name: B\n  value: c',
    '- name: DB_PASSWORD\n  value: [hidden]\n- name: B\n  value: c',
  ],
  [
    'such a value on one line',
    '[{name: DB_PASSWORD, value: hunter2}]',
    '[{name: DB_PASSWORD, value: [hidden]',
  ],
  ['a comment', '# token: hunter2', '# token: [hidden]'],
  ['a value in the form of a token', 'x: eyJabcdefgh.eyJabc.d', 'x: [hidden]'],
])('hides %s', (_, text, shown) => {
  expect(linesWithoutSecrets(text).join('\n')).toBe(shown);
});

test.each([
  'tokenExistingSecret: {name: t, key: k}',
  'tokenExistingSecretKey: k',
  'imagePullSecrets:\n- name: regcred',
  'volumes:\n- name: a\n  secret:\n    secretName: b',
  '- {name: a, secret: {secretName: b}}',
  'serviceAccountToken: {path: token, audience: a}',
  'automountToken: true',
  'secretKeyRef: {name: a, key: token}',
  'token: ""',
  'token: null',
  'token: "<your-token>"',
  'url: https://acme.scalr.io',
  'extraEnv:\n  SCALR_AGENT_DEBUG: "1"',
  '- name: SCALR_AGENT_DEBUG\n  value: "1"',
])('shows %s unchanged', (text) => {
  expect(linesWithoutSecrets(text).join('\n')).toBe(text);
});
