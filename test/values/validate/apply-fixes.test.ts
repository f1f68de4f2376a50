import {describe, expect, test} from 'vitest';
import type {Edit} from '../../../src/ground/finding.ts';
import {applyFixes} from '../../../src/values/validate/apply-fixes.ts';

/** What is done, the file before, the change, the file after. */
type Case = [name: string, before: string, fix: Edit, after: string];

const fixed = (text: string, ...fixes: Edit[]): string => applyFixes(text, fixes).text;

const VALUES: Case[] = [
  [
    'a number becomes a text',
    'tag: 1.10 # why\n',
    {path: ['tag'], value: '1.10'},
    'tag: "1.10" # why\n',
  ],
  [
    'a plain text stays plain',
    "a:   'x'\ncache: ephemerl\n",
    {path: ['cache'], value: 'ephemeral'},
    "a:   'x'\ncache: ephemeral\n",
  ],
  ['single quotes stay', "cache: 'a'\n", {path: ['cache'], value: "it's"}, "cache: 'it''s'\n"],
  [
    'a plain text that would be read as something else gets quotes',
    'debug: of\n',
    {path: ['debug'], value: 'off'},
    'debug: "off"\n',
  ],
  [
    'a text with a line break stays on its line',
    'a: x\nb: 1\n',
    {path: ['a'], value: 'x\ny'},
    'a: "x\\ny"\nb: 1\n',
  ],
  ['a text becomes a switch', 'a: "yes"\nb: 1\n', {path: ['a'], value: true}, 'a: true\nb: 1\n'],
  [
    'an item of a list',
    'args:\n  - 8080\n  - x\n',
    {path: ['args', 0], value: '8080'},
    'args:\n  - "8080"\n  - x\n',
  ],
  [
    'a key in a list',
    'env:\n  - name: A\n    value: 1\n',
    {path: ['env', 0, 'value'], value: '1'},
    'env:\n  - name: A\n    value: "1"\n',
  ],
  [
    'a value in a mapping on one line',
    '{a: {b: 1, c: 2}}\n',
    {path: ['a', 'b'], value: '1'},
    '{a: {b: "1", c: 2}}\n',
  ],
  [
    'a text that ends a mapping on one line',
    '{a: {b: 1}}\n',
    {path: ['a', 'b'], value: 'x}'},
    '{a: {b: "x}"}}\n',
  ],
  [
    'a text of several lines',
    'a: | # why\n  one\n  two\nb: 1\n',
    {path: ['a'], value: 'one'},
    'a: "one" # why\nb: 1\n',
  ],
  ['a type that is spelled out', 'a: !!str 1\n', {path: ['a'], value: '2'}, 'a: !!str "2"\n'],
  ['an anchor without references', 'a: &x 1\n', {path: ['a'], value: '1'}, 'a: &x "1"\n'],
  ['the end of a file without a line end', 'a: 1', {path: ['a'], value: '1'}, 'a: "1"'],
];

const NAMES: Case[] = [
  [
    'a misspelled key',
    'agent:\n  # mine\n  tokne: "x" # note\n',
    {path: ['agent', 'tokne'], name: 'token'},
    'agent:\n  # mine\n  token: "x" # note\n',
  ],
  [
    'with everything below it',
    'limts: {cpu: 1}\na: 1\n',
    {path: ['limts'], name: 'limits'},
    'limits: {cpu: 1}\na: 1\n',
  ],
  [
    'with an anchor below it',
    'limts:\n  cpu: &c 1\nb: *c\n',
    {path: ['limts'], name: 'limits'},
    'limits:\n  cpu: &c 1\nb: *c\n',
  ],
  [
    'beside a merge key',
    'd: &d {x: 1}\na:\n  <<: *d\n  tokne: 1\n',
    {path: ['a', 'tokne'], name: 'token'},
    'd: &d {x: 1}\na:\n  <<: *d\n  token: 1\n',
  ],
  ['without a value', 'tokne:\nb: 1\n', {path: ['tokne'], name: 'token'}, 'token:\nb: 1\n'],
  ['in quotes', '"tokne": x\n', {path: ['tokne'], name: 'token'}, '"token": x\n'],
  ['one that YAML would misread', 'nno: x\n', {path: ['nno'], name: 'no'}, '"no": x\n'],
  [
    'inside a list',
    'a:\n  - nmae: x\n',
    {path: ['a', 0, 'nmae'], name: 'name'},
    'a:\n  - name: x\n',
  ],
  ['together with its value', 'a: 1\n', {path: ['a'], value: '1', name: 'b'}, 'b: "1"\n'],
  [
    'and its value stays as it was written',
    "size: '5Gi'\n",
    {path: ['size'], value: '5Gi', name: 'storage'},
    "storage: '5Gi'\n",
  ],
];

const MOVES: Case[] = [
  [
    'into a map that is there',
    'task:\n  runner:\n    # for runs\n    nodeSelector: # mine\n      pool: runs\n    image:\n      tag: "1"\nreplicaCount: 1\n',
    {path: ['task', 'runner', 'nodeSelector'], to: ['task', 'nodeSelector']},
    'task:\n  runner:\n    image:\n      tag: "1"\n  # for runs\n  nodeSelector:\n    # mine\n    pool: runs\nreplicaCount: 1\n',
  ],
  [
    'a map that becomes empty goes',
    'task:\n  runner:\n    nodeSelector:\n      pool: runs\na: 1\n',
    {path: ['task', 'runner', 'nodeSelector'], to: ['task', 'nodeSelector']},
    'a: 1\ntask:\n  nodeSelector:\n    pool: runs\n',
  ],
  [
    'below keys that are missing',
    'resources:\n  limits:\n    cpu: 1\na: 1\n',
    {path: ['resources'], to: ['task', 'runner', 'resources']},
    'a: 1\ntask:\n  runner:\n    resources:\n      limits:\n        cpu: 1\n',
  ],
  [
    'a list at the column of its key',
    'tolerations:\n- operator: Exists\n- key: a\nagent:\n  url: x\n',
    {path: ['tolerations'], to: ['agent', 'tolerations']},
    'agent:\n  url: x\n  tolerations:\n  - operator: Exists\n  - key: a\n',
  ],
  [
    'on one line',
    'agent:\n  url: x\n  replicas: 2 # two\n',
    {path: ['agent', 'replicas'], to: ['replicaCount']},
    'agent:\n  url: x\nreplicaCount: 2 # two\n',
  ],
  [
    'out of a mapping on one line',
    'a: {b: {c: 1}, d: 2}\n',
    {path: ['a', 'b'], to: ['b']},
    'a: {d: 2}\nb: {c: 1}\n',
  ],
  [
    'in a file with four blanks, an anchor and texts of all styles',
    "# head\n\na:\n    b: &b 'it''s'\n    # mine\n    c: |\n        one\n\n          two\n    d: {e: \"1\"}\n# z\nz: *b\n# tail\n",
    {path: ['a', 'c'], to: ['c']},
    "# head\n\na:\n    b: &b 'it''s'\n    d: {e: \"1\"}\n# z\nz: *b\n\n# mine\nc: |\n    one\n\n      two\n\n# tail\n",
  ],
];

describe.each([
  ['values', VALUES],
  ['names', NAMES],
  ['places', MOVES],
])('%s', (_, cases) => {
  test.each(cases)('%s', (_name, before, fix, after) => {
    expect(fixed(before, fix)).toBe(after);
  });

  test.each(
    cases,
  )('%s, with Windows line ends and a byte order mark', (_name, before, fix, after) => {
    const windows = (text: string) => `\uFEFF${text.replaceAll('\n', '\r\n')}`;
    expect(fixed(windows(before), fix)).toBe(windows(after));
  });
});

test('keeps every other line byte for byte', () => {
  const file = (value: string) =>
    `# Values\r\n\r\na :  {b:   '${value}', }   # odd  \nc:\n-   x\n\n\n...\n`;
  expect(fixed(file('y'), {path: ['a', 'b'], value: 'z'})).toBe(file('z'));
});

const REFUSED: [name: string, text: string, fix: Edit][] = [
  ['a new name that already has a value', 'tokne: a\ntoken: b\n', {path: ['tokne'], name: 'token'}],
  [
    'a new name that a merge provides',
    'd: &d {token: a}\na:\n  <<: *d\n  tokne: b\n',
    {path: ['a', 'tokne'], name: 'token'},
  ],
  ['an anchor', 'a: &x 1\nb: *x\n', {path: ['a'], value: '1'}],
  ['a reference', 'a: &x 1\nb: *x\n', {path: ['b'], value: '1'}],
  ['a key below an anchor', 'a: &x {tokne: 1}\nb: *x\n', {path: ['a', 'tokne'], name: 'token'}],
  ['a merged key', 'd: &d {x: 1}\na:\n  <<: *d\n', {path: ['a', 'x'], value: '1'}],
  ['a duplicate key', 'a: 1\na: 2\n', {path: ['a'], value: '2'}],
  ['a mapping', 'a: # why\n  b: 1\n', {path: ['a'], value: 'x'}],
  ['a missing key', 'a: 1\n', {path: ['b'], value: '2'}],
  ['an item without a name', 'a:\n  - b\n', {path: ['a', 0], name: 'c'}],
  ['invalid UTF-8', 'a: \uFFFD\nb: 1\n', {path: ['b'], value: '1'}],
  ['two documents', 'a: 1\n---\na: 1\n', {path: ['a'], value: '1'}],
  ['a move to a place in use', 'a:\n  b: 1\n  c: 1\nb: 2\n', {path: ['a', 'b'], to: ['b']}],
  ['a move below a text', 'a: 1\nb: x\n', {path: ['a'], to: ['b', 'a']}],
  ['a move of an anchor behind its alias', 'a: &x {c: 1}\nb: *x\n', {path: ['a'], to: ['z', 'a']}],
  ['invalid YAML', 'a: [\n', {path: ['a'], value: '1'}],
];

test.each(REFUSED)('changes nothing for %s', (_, text, fix) => {
  expect(applyFixes(text, [fix])).toEqual({text, applied: []});
});

test('makes the other changes when one of several cannot be made', () => {
  const fixes: Edit[] = [
    {path: ['agent', 'tokne'], name: 'token'},
    {path: ['nothing'], value: 1},
    {path: ['agent', 'debug'], value: true},
  ];
  expect(applyFixes('agent:\n  tokne: x\n  debug: "yes"\n', fixes)).toEqual({
    text: 'agent:\n  token: x\n  debug: true\n',
    applied: [fixes[0], fixes[2]],
  });
});
