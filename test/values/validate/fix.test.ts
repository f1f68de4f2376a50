import {describe, expect, test} from 'vitest';
import type {Fix} from '../../../src/values/validate/finding.ts';
import {applyFixes} from '../../../src/values/validate/fix.ts';

/** What is done, the file before, the change, the file after. */
type Case = [name: string, before: string, fix: Fix, after: string];

const fixed = (text: string, ...fixes: Fix[]): string => applyFixes(text, fixes).text;

const VALUES: Case[] = [
  ['a number becomes a text', 'tag: 1.10 # why\n', {path: ['tag'], value: '1.10'}, 'tag: "1.10" # why\n'],
  ['a plain text stays plain', "a:   'x'\ncache: ephemerl\n", {path: ['cache'], value: 'ephemeral'}, "a:   'x'\ncache: ephemeral\n"],
  ['single quotes stay', "cache: 'a'\n", {path: ['cache'], value: "it's"}, "cache: 'it''s'\n"],
  ['a plain text that would be read as something else gets quotes', 'debug: of\n', {path: ['debug'], value: 'off'}, 'debug: "off"\n'],
  ['a text becomes a switch', 'a: "yes"\nb: 1\n', {path: ['a'], value: true}, 'a: true\nb: 1\n'],
  ['an item of a list', 'args:\n  - 8080\n  - x\n', {path: ['args', 0], value: '8080'}, 'args:\n  - "8080"\n  - x\n'],
  ['a key in a list', 'env:\n  - name: A\n    value: 1\n', {path: ['env', 0, 'value'], value: '1'}, 'env:\n  - name: A\n    value: "1"\n'],
  ['in a mapping on one line', '{a: {b: 1, c: 2}}\n', {path: ['a', 'b'], value: '1'}, '{a: {b: "1", c: 2}}\n'],
  ['a key without a value', 'a:\nb: 1\n', {path: ['a'], value: 'x'}, 'a: "x"\nb: 1\n'],
  ['a text of several lines', 'a: |\n  one\n  two\nb: 1\n', {path: ['a'], value: 'one'}, 'a: "one"\nb: 1\n'],
  ['a mapping becomes a text', 'a:\n  b: 1\nc: 2\n', {path: ['a'], value: 'x'}, 'a: "x"\nc: 2\n'],
  ['a text becomes a mapping', 'a: x=y\nc: 2\n', {path: ['a'], value: {x: 'y', on: 1}}, 'a: {x: "y", "on": 1}\nc: 2\n'],
  [
    'a long mapping stands below its key',
    'a:\n    b: x # why\n',
    {path: ['a', 'b'], value: {first: 'a long text that goes on and on', second: ['and another one']}},
    'a:\n    b:\n        first: "a long text that goes on and on"\n        second:\n            - "and another one" # why\n',
  ],
];

const NAMES: Case[] = [
  [
    'a misspelt key',
    'agent:\n  # mine\n  tokne: "x" # note\n',
    {path: ['agent', 'tokne'], to: ['agent', 'token']},
    'agent:\n  # mine\n  token: "x" # note\n',
  ],
  ['with everything below it', 'limts: {cpu: 1}\na: 1\n', {path: ['limts'], to: ['limits']}, 'limits: {cpu: 1}\na: 1\n'],
  ['in quotes', '"tokne": x\n', {path: ['tokne'], to: ['token']}, '"token": x\n'],
  ['one that YAML would misread', 'nno: x\n', {path: ['nno'], to: ['no']}, '"no": x\n'],
  ['inside a list', 'a:\n  - nmae: x\n', {path: ['a', 0, 'nmae'], to: ['a', '0', 'name']}, 'a:\n  - name: x\n'],
  ['together with its value', 'a: 1\n', {path: ['a'], value: '1', to: ['b']}, 'b: "1"\n'],
];

const MOVES: Case[] = [
  [
    'below a mapping that is there',
    'token: "x" # t\nagent:\n  url: y\n',
    {path: ['token'], to: ['agent', 'token']},
    'agent:\n  url: y\n  token: "x" # t\n',
  ],
  [
    'with the comment above it, indented as its new neighbours',
    'a: 1\n\n# the token\ntoken: x\n\nagent:\n    url: y\nz: 1\n',
    {path: ['token'], to: ['agent', 'token']},
    'a: 1\n\nagent:\n    url: y\n    # the token\n    token: x\nz: 1\n',
  ],
  [
    'where the parent is missing, in its old place',
    'a: 1\nuser: x # c\nb: 2\n',
    {path: ['user'], to: ['agent', 'auth', 'user']},
    'a: 1\nagent:\n  auth:\n    user: x # c\nb: 2\n',
  ],
  [
    'out of a mapping that is empty then',
    'proxy:\n  # for http\n  http: x\nagent:\n  url: y\n',
    {path: ['proxy', 'http'], to: ['agent', 'httpProxy']},
    'agent:\n  url: y\n  # for http\n  httpProxy: x\n',
  ],
  [
    'with the comments of the mapping that goes',
    'a: 1\n# company\nproxy: # old\n  http: x # new\n  # https: z\nagent: {url: y}\n',
    {path: ['proxy', 'http'], to: ['httpProxy']},
    'a: 1\n# company\n# old\nhttpProxy: x # new\n# https: z\nagent: {url: y}\n',
  ],
  [
    'a mapping with all that is below it',
    'limits:\n  # cores\n  cpu: 1\n\n  memory: |\n    a\n     b\nagent:\n  url: y\n',
    {path: ['limits'], to: ['agent', 'limits']},
    'agent:\n  url: y\n  limits:\n    # cores\n    cpu: 1\n\n    memory: |\n      a\n       b\n',
  ],
  [
    'up, in its old place',
    'agent:\n  proxy:\n    http: x\n  url: y\n',
    {path: ['agent', 'proxy', 'http'], to: ['agent', 'http']},
    'agent:\n  http: x\n  url: y\n',
  ],
  ['below a key without a value', 'agent:\ntoken: x\n', {path: ['token'], to: ['agent', 'token']}, 'agent:\n  token: x\n'],
  ['below an empty {}', 'agent: {} # a\ntoken: x\n', {path: ['token'], to: ['agent', 'token']}, 'agent: # a\n  token: x\n'],
  [
    'into a mapping on one line',
    'agent: { url: y }\ntoken: x\n',
    {path: ['token'], to: ['agent', 'token']},
    'agent: { url: y, token: x }\n',
  ],
  [
    'out of a mapping on one line',
    'agent: {url: y, tokne: "x"}\n',
    {path: ['agent', 'tokne'], to: ['token']},
    'agent: {url: y}\ntoken: "x"\n',
  ],
  [
    'the first of a mapping on one line',
    'agent: {tokne: "x", url: y}\na:\n  b: 1\n',
    {path: ['agent', 'tokne'], to: ['a', 'token']},
    'agent: {url: y}\na:\n  b: 1\n  token: "x"\n',
  ],
  [
    'to the end of a file without a line end',
    'token: x\nagent:\n  url: y',
    {path: ['token'], to: ['agent', 'token']},
    'agent:\n  url: y\n  token: x',
  ],
  [
    'a list that is not indented',
    'tolerations:\n- key: a\n  value: b\nagent:\n  url: y\n',
    {path: ['tolerations'], to: ['agent', 'tolerations']},
    'agent:\n  url: y\n  tolerations:\n  - key: a\n    value: b\n',
  ],
  [
    'but not the comment that the file begins with',
    '# Values of mine\ntoken: x\nagent:\n  url: y\n',
    {path: ['token'], to: ['agent', 'token']},
    '# Values of mine\nagent:\n  url: y\n  token: x\n',
  ],
  [
    'and its value changes',
    'size: 5\nagent:\n  url: y\n',
    {path: ['size'], value: '5Gi', to: ['agent', 'size']},
    'agent:\n  url: y\n  size: "5Gi"\n',
  ],
  [
    'and its value stays as it was written',
    "size: '5Gi'\nagent:\n  url: y\n",
    {path: ['size'], value: '5Gi', to: ['agent', 'size']},
    "agent:\n  url: y\n  size: '5Gi'\n",
  ],
];

describe.each([
  ['values', VALUES],
  ['names', NAMES],
  ['moves', MOVES],
])('%s', (_, cases) => {
  test.each(cases)('%s', (_name, before, fix, after) => {
    expect(fixed(before, fix)).toBe(after);
  });

  test.each(cases)('%s, with the line ends of Windows and a byte order mark', (_name, before, fix, after) => {
    const windows = (text: string) => `\uFEFF${text.replaceAll('\n', '\r\n')}`;
    expect(fixed(windows(before), fix)).toBe(windows(after));
  });
});

const REFUSED: [name: string, text: string, fix: Fix][] = [
  ['the destination has a value', 'tokne: a\ntoken: b\n', {path: ['tokne'], to: ['token']}],
  ['the destination has a value elsewhere', 'token: a\nagent:\n  token: b\n', {path: ['token'], to: ['agent', 'token']}],
  ['something that is no mapping stands in the way', 'token: a\nagent: x\n', {path: ['token'], to: ['agent', 'token']}],
  ['an anchor', 'a: &x 1\nb: *x\n', {path: ['a'], value: '1'}],
  ['a reference', 'a: &x 1\nb: *x\n', {path: ['b'], value: '1'}],
  ['below an anchor', 'a: &x {tokne: 1}\nb: *x\n', {path: ['a', 'tokne'], to: ['a', 'token']}],
  ['an anchor below', 'limts:\n  cpu: &c 1\nb: *c\n', {path: ['limts'], to: ['limits']}],
  ['a merge key', 'd: &d {x: 1}\na:\n  <<: *d\n  tokne: 1\n', {path: ['a', 'tokne'], to: ['a', 'token']}],
  ['a type that is spelt out', 'a: !!str 1\n', {path: ['a'], value: '2'}],
  ['nothing there', 'a: 1\n', {path: ['b'], value: '2'}],
  ['out of a list', 'a:\n  - b: 1\n    c: 2\n', {path: ['a', 0, 'b'], to: ['b']}],
  ['into itself', 'a:\n  b: 1\n', {path: ['a'], to: ['a', 'c']}],
  ['onto its parent', 'a:\n  b: 1\n', {path: ['a', 'b'], to: ['a']}],
  ['a comment would be lost', 'a: # why\n  b: 1\n', {path: ['a'], value: 'x'}],
  ['lines into one line', 'agent: {url: y}\nlimits:\n  cpu: 1\n', {path: ['limits'], to: ['agent', 'limits']}],
  ['bytes that are no text', 'a: \uFFFD\nb: 1\n', {path: ['b'], value: '1'}],
  ['two documents', 'a: 1\n---\na: 1\n', {path: ['a'], value: '1'}],
  ['no YAML', 'a: [\n', {path: ['a'], value: '1'}],
];

test.each(REFUSED)('leaves alone: %s', (_, text, fix) => {
  expect(applyFixes(text, [fix])).toEqual({text, applied: []});
});

test('several changes at once, of which one cannot be made', () => {
  const fixes: Fix[] = [
    {path: ['tokne'], to: ['agent', 'token']},
    {path: ['nothing'], value: 1},
    {path: ['agent', 'debug'], value: true},
  ];
  expect(applyFixes('tokne: x\nagent:\n  debug: "yes"\n', fixes)).toEqual({
    text: 'agent:\n  debug: true\n  token: x\n',
    applied: [fixes[0], fixes[2]],
  });
});
