import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {devNull, tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import fc from 'fast-check';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {sameTree} from '../../../src/ground/tree.ts';
import type {ValuesSource} from '../../../src/values/reading/finding.ts';
import {mergeSources, readSource} from '../../../src/values/reading/source.ts';
import {numRuns} from '../../support/sample.ts';
import {findHelmMatrix, type Helm} from './find-helm.ts';

const RUNS = numRuns(2);
const SEED = Number(process.env['PROPERTY_RUNS'] ?? 6);

const CHART = 'apiVersion: v2\nname: reads\nversion: 0.1.0\n';
/** Isolates helm from plugins, repositories and clusters of the user. */
const ALONE = {
  extendEnv: false,
  env: {PATH: process.env['PATH'] ?? '', HOME: '/nowhere', KUBECONFIG: devNull},
} as const;

let helms: readonly Helm[];
let scratch: string;
let chart: string;

beforeAll(async () => {
  helms = await findHelmMatrix();
  scratch = await mkdtemp(join(tmpdir(), 'scalr-yaml-'));
  chart = join(scratch, 'chart');
  await mkdir(join(chart, 'templates'), {recursive: true});
  await writeFile(join(chart, 'Chart.yaml'), CHART);
  await writeFile(
    join(chart, 'templates', 'values.yaml'),
    'read: {{ .Values | toJson | b64enc }}\n',
  );
});

afterAll(async () => {
  await rm(scratch, {recursive: true, force: true});
});

/** Undefined if helm rejects the files. */
async function readByHelm(helm: Helm, files: readonly string[], input = ''): Promise<unknown> {
  const flags = files.flatMap((file) => ['--values', file]);
  const {stdout, failed} = await execa(helm.path, ['template', 'reads', chart, ...flags], {
    ...ALONE,
    input,
    reject: false,
  });
  const encoded = /^read: (.*)$/m.exec(stdout)?.[1];
  return failed || encoded === undefined ? undefined : decoded(encoded);
}

const decoded = (encoded: string): unknown =>
  plain(JSON.parse(Buffer.from(encoded, 'base64').toString()));

/** JSON has no negative zero. */
const plain = (tree: unknown): unknown => JSON.parse(JSON.stringify(tree));

const bothRead = (text: string): Promise<unknown[]> =>
  Promise.all(helms.map((helm) => readByHelm(helm, ['-'], text)));

/** Helm reads another value than the file shows, and a finding reports it. */
const READ_OTHERWISE = ['DUPLICATE_KEY', 'MERGE_OVERWRITES', 'RENAMED_KEY'];

type Strictness = (code: string, message: string) => boolean;

/** Differences between readSource and helm; empty if they agree. */
function disagreement(
  text: string,
  byHelm: readonly unknown[],
  mayBeStricter: Strictness,
): unknown[] {
  const {source, findings} = readSource(text);
  const errors = findings.filter(
    ({verdict, code}) => verdict === 'error' && !READ_OTHERWISE.includes(code),
  );
  const values = source && plain(source.values);
  const isFine = byHelm.includes(undefined)
    ? errors.length > 0 && source === undefined
    : (errors.length > 0 && errors.every(({code, message}) => mayBeStricter(code, message))) ||
      // go-yaml silently uses either of keys such as 1 and "1"; the last line may end with the file (see below).
      findings.some(({code}) => code === 'DUPLICATE_KEY') ||
      (errors.length === 0 && byHelm.some((tree) => sameTree(tree, values)));
  return isFine ? [] : [{text, byHelm, values, errors}];
}

const SCALARS = (
  'on On oN yes no y Y n N true tRue off null Null nULL ~ 010 0o10 0O10 0777 08 089 -010 00 0x1F 0X1f 0x 0b11 0b2 1_000 _1 1_ 0_7 12:30 ' +
  '190:20:30 2001-01-01 2001-12-14t21:59:43.10-05:00 2001-13-01 .inf -.INF .nan 1e6 1E+3 1e400 1.10 1. .5 .5e3 .5_0 .5_ +.5 +1 -0 -0.0 ' +
  '9007199254740993 9223372036854775808 -9223372036854775809 18446744073709551616 0xFFFFFFFFFFFFFFFF 0x1FFFFFFFFFFFFFFFF 1e 1_0.5 1,000 ' +
  '= << -- -1 ?x :x a#b http://x:80/y @x %x `x` $X <x> {{x}} "{{x}}" \u{1F600} "\\x41" "\\u00e9" "\\ud83d\\ude00" "\\/" "\\N"'
).split(' ');

const TAGGED = [
  '!!str 1',
  '!!str',
  '!!str ~',
  '!!int 1',
  '!!int "1"',
  '!!int 1.5',
  '!!float 1',
  '!!bool "yes"',
  '!!bool x',
  '!!null ""',
  '!!null x',

  '!!binary aGk=',
  '!!binary "aGk"',
  '!!timestamp 2001-01-01',
  '!!timestamp x',
  '!foo 1',
  '! 1',
  '!!map {a: 1}',
  '!!map x',
  '!!set {a}',

  '!!str {a: 1}',
  '!!omap [a: 1]',
  '[!!str]',
  '&x 1',
  '&a.b 1',
  '*x',
  '&x [*x]',
  '&x {b: *x}',
  '&x !!str y',
];

const FLOW = [
  '[1, 2,]',
  '[1,,2]',
  '{a: 1,}',
  '{a}',
  '{a:1}',
  '{"a":1}',
  '{a: , b: }',
  '[a: 1, b: 2]',
  '[a, [b]]: c',
  '[:x]',
  '[a?b]',
  '{a: b:c}',
  '{a\n  b: 1}',

  '[http://x/y?z]',
  '[1,\n  2]',
  '{a: [\n  1\n  ]\n  }',
  '"a\\\n   b"',
  "'a\n\n  b'",
  '"a"#c',
  '"a" #c',
  '[a]#c',
  '[a',
  '{a',
  '"a',
  "'a",
];

const BLOCK = [
  '|\n  x\n',
  '|-\n  x\n',
  '|+\n  x\n\n',
  '>\n  x\n  y\n\n   z\n',
  '|2\n    x\n',
  '|0\n  x\n',
  '|x\n  y\n',
  '| # c\n  x\n',
  '|\n\tx\n',

  '|\n    \n  x\n',
  '|\n  x\n y\n',
  '|\n  x\n  \ty\n',
  '|\n x\n\t\n',
  'x\n  y\n\n  z',
  'x\n  y: z',
  'x\n  # c\n  y',
  'x\n\ty',
  'x\n  \t\n',
  '- b',
  '\tx',
  'x\t# c',
  'b: c',
  '"b": c',
  'b:',
  'x\nb',
];

const FILES = [
  '',
  '\n',
  '# c',
  '~',
  'null',
  '!!str',
  '!!null ""',
  '[]',
  '- a',
  'a',
  '1',
  '{}',
  '{"a": 1}\n',
  '\t',
  '\uFEFFa: 1',
  '\uFEFF# c\n---\na: 1',

  '1: a',
  'true: a',
  'null: a',
  '? [a]\n: b',
  '? {a: 1}\n: b',
  '1.5: a',
  '1e6: a',
  '1234567.5: a',
  '0.00001: a',
  '0x10: a',
  '.inf: a',

  '18446744073709551615: a',
  '2001-01-01: a',
  '*x : 1',
  'a: &x b\n*x : 1',
  '__proto__: {a: 1}\nconstructor: 2\ntoString: 3',
  'a\t: 1',

  'a: &x {b: 1}\nc: {<<: *x, d: 1}',
  'a: &x {b: 1}\nc: {b: 2, <<: *x}',
  'a: &x {b: 1}\nc: {<<: *x, b: 2}',
  'c: {<<: {a: 1}}',

  'a: &x {b: 1}\nd: &y {b: 2, e: 3}\nc: {<<: [*x, *y]}',
  'c: {"<<": {a: 1}}',
  'c: {<<: 1}',
  'c: {<<: }',
  'c: {<<: [1]}',
  'c: {<<: []}',

  'a: &x 1\nb: &x 2\nc: *x',
  'a: 1\n---\n',
  'a: 1\n---\n# c\n',
  '---\na: 1',
  '--- # c\na: 1',
  'a: 1\n...\n',
  '--- {a: 1}',
  '---a: 1',

  '%YAML 1.1\n---\na: 1',
  '%YAML 1.2\n---\na: 1',
  '# c\n%YAML 1.1\n---\na: 1',
  'a: 1\r\nb: |\r\n  x\r\n',
  'a: 1\rb: 2',
  'a: 1\u0085b: 2',

  'a: "\u0007"',
  'a: \u007F',
  'a: \uFFFE',
  'a:\n  b: 1\n c: 2',
  'a: 1\n b: 2',
  'a:\n  - b\n c: 1',
  'a:\n- b\nc: 1',
  '- a\nb: 1',
  'a: 1\n- b',

  'a:\n\tb: 1',
  'a:\n  b: 1\n\t\n  c: 2',
  'a:\n  b: 1\n  \t# c\n  c: 2',
  'a:\n  -\t1\n',
  'a:\n  - b: 1\n    c:\n    - 2\n  -\n    d: 1\n',

  '{{- if x }}\na: 1\n{{- end }}',
  '{{ x }}: 1',
  'a: {{ x }}-y',
  `${'k'.repeat(1100)}: 1`,
  `a: ${'['.repeat(200)}${']'.repeat(200)}`,
  bomb(3),
  bomb(4),
  bomb(9),
];

function bomb(depth: number): string {
  const levels = Array.from(
    {length: depth},
    (_, at) => `a${at + 1}: &a${at + 1} [${Array(9).fill(`*a${at}`).join(', ')}]\n`,
  );
  return `a0: &a0 x\n${levels.join('')}`;
}

test('reads handwritten YAML like helm, or refuses it like helm', {timeout: 600_000}, async () => {
  const oneLiners = [...SCALARS, ...TAGGED].map((text) => `a: ${text}\n`);
  const refused = oneLiners.filter((text) => readSource(text).source === undefined);
  // Helm must accept all texts that the program accepts, so these can share a file.
  const taken = oneLiners
    .filter((text) => !refused.includes(text))
    .map((text, at) => `k${at}${text.slice(1)}`);
  const others = [...FLOW, ...BLOCK].map((text) => `a: ${text}${text.endsWith('\n') ? '' : '\n'}`);
  expect(await disagreementsOfMany([...refused, ...others], () => false)).toEqual([]);
  expect(await disagreements([taken.join(''), ...FILES])).toEqual([]);
});

test.each<[string, string]>([
  // Helm silently drops these values.
  ['a: 1\na: 2', 'DUPLICATE_KEY'],
  ['a: 1\n...\nb: 2', 'SEVERAL_DOCUMENTS'],
  ['a: 1\n---\nb: 2', 'SEVERAL_DOCUMENTS'],
  ['  a: 1\nb: 2', 'IGNORED_REST'],
  ['a: &x {b: 1}\nc: {b: 2, <<: *x}', 'MERGE_OVERWRITES'],
  ['a: {ON: 1}', 'RENAMED_KEY'],
  // Characters that are a mistake at any position.
  ['a: \uFFFD', 'NOT_UTF8'],
  ['a: "x\u2028y"', 'LINE_SEPARATOR'],
  // Invalid YAML that the parser of Helm accepts.
  ['a: [\n1\n]', 'INVALID_YAML'],
  ['a: "x\ny"', 'INVALID_YAML'],
  ['a: "\\\'"', 'INVALID_YAML'],
  ['a: [-]', 'INVALID_YAML'],
  ['a: [?x]', 'INVALID_YAML'],
  ['a: [!!str, a]', 'INVALID_YAML'],
  ['a: [!!str ]', 'INVALID_YAML'],
  ['a: {b:}', 'INVALID_YAML'],
  ['a: !!str,', 'INVALID_YAML'],
])('%j: is an error (%s) although helm reads it', async (text, code) => {
  expect(await bothRead(text)).not.toContain(undefined);
  expect(readSource(text).findings).toMatchObject([{verdict: 'error', code}]);
});

test('reports files nested deeper than our reader supports', async () => {
  const text = `a: ${'['.repeat(2000)}${']'.repeat(2000)}`;
  expect(await bothRead(text)).not.toContain(undefined);
  expect(readSource(text).findings).toMatchObject([{verdict: 'error', code: 'TOO_DEEP'}]);
});

test('reports an error where the Helm majors differ, apart from a last line end', async () => {
  const differing = [
    'a: 1\n---\nb: 2',
    '--- {a: 1}',
    '---a: 1',
    '%YAML 1.1\n---\na: 1',
    '---\n---\na: 1',
  ];
  for (const text of differing) {
    const read = await bothRead(text);
    if (read.length > 1) expect(sameTree(read[0], read[1]), text).toBe(false);
    expect(readSource(text).findings, text).toMatchObject([{verdict: 'error'}]);
  }
  const unended = 'a: |\n  x';
  expect(await bothRead(unended)).toEqual(helms.map(({major}) => ({a: major === 3 ? 'x' : 'x\n'})));
  expect(readSource(unended).source?.values).toEqual({a: 'x\n'});
});

type Branch = string | {entries: [string, string, Branch][]} | {items: Branch[]};

const LEAVES = [
  'x',
  'on',
  '010',
  '0o17',
  '0b11',
  '1_000',
  '12:30',
  '2001-01-01',
  '1e6',
  '1.10',
  '.5',
  '089',
  '9007199254740993',
  '~',
  '',
  '"q"',
  "'s'",

  '"a\\tb"',
  'a b',
  'a#b',
  '&x 1',
  '*x',
  '!!str 1',
  '!!int "7"',
  '!foo z',
  '[a, 1]',
  '[a, {b: c}]',
  '{a: 1, "b": [x]}',
  '{}',
  '[a: 1]',
  '# c',
  'x # c',
  '-',
  '?',
  '@x',
  '<<',
  '.inf',
  'a: b',
  '\tt',
  't\t',
  'x:',
  '{{ x }}',

  '|\n{}  text\n{}   more\n',
  '>-\n{}  fold\n{}  ed\n\n{}  end',
  '|+\n{}  keep\n\n',
  '"two\n{} lines"',
  'plain\n{} goes on',
  '[1,\n{} 2]',
];
const KEYS = [
  'a',
  'b',
  'c',
  'on',
  '1',
  '0x10',
  '1.5',
  '"q k"',
  "'s'",
  'a b',
  'true',
  'null',
  '<<',
  '__proto__',
  '&k a',
  '*x ',
  '!!str 1',
  '{{ x }}',
  'a/b.c',
  '-x',
  'k ',
  'k\t',
  '"k" ',
];
const MISHAPS = [
  '\t',
  ' ',
  '  ',
  '\n',
  '\r\n',
  '\r',
  ':',
  ': ',
  '- ',
  '"',
  "'",
  '{',
  '}',
  '[',
  ']',
  ',',
  ' # c',
  '&x ',
  '*x',
  '---\n',
  '%',
  '{{',
];

const written = fc
  .letrec<{branch: Branch; map: Branch; list: Branch}>((tie) => ({
    branch: fc.oneof(
      {maxDepth: 3, depthSize: 'small'},
      fc.constantFrom(...LEAVES),
      tie('map'),
      tie('list'),
    ),
    map: fc
      .array(
        fc.tuple(
          fc.constantFrom(...KEYS),
          fc.constantFrom('', '', ' # c', ' &x', ' *x', ' !!map'),
          tie('branch'),
        ),
        {
          minLength: 1,
          maxLength: 3,
        },
      )
      .map((entries) => ({entries})),
    list: fc.array(tie('branch'), {minLength: 1, maxLength: 3}).map((items) => ({items})),
  }))
  .map.map((root) => print(root, 0));

const spoilt = fc
  .tuple(written, fc.nat(200), fc.nat(3), fc.constantFrom(...MISHAPS))
  .map(
    ([text, at, cut, mishap]) =>
      text.slice(0, at % (text.length + 1)) + mishap + text.slice((at % (text.length + 1)) + cut),
  )
  // A text that ends in its last line, several documents and odd characters in tags: the tables above have them.
  .map((text) => `${text}\n`)
  .filter((text) => !/^(---|\.\.\.)|![\w!]*[^\w!\s]/m.test(text));

function print(branch: Branch, indent: number): string {
  const pad = ' '.repeat(indent);
  if (typeof branch === 'string') return ` ${branch.replaceAll('{}', pad)}\n`;
  const below = (child: Branch): string =>
    (typeof child === 'string' ? '' : '\n') +
    print(child, typeof child === 'string' ? indent : indent + 2);
  if ('items' in branch) return branch.items.map((item) => `${pad}-${below(item)}`).join('');
  return branch.entries
    .map(
      ([key, note, child]) =>
        `${pad}${key}:${typeof child === 'string' ? '' : note}${below(child)}`,
    )
    .join('');
}

/** Invalid YAML, or YAML that loses a value. */
const isStricter: Strictness = (code, message) =>
  ['SEVERAL_DOCUMENTS', 'IGNORED_REST', 'NOT_FINITE', 'INVALID_KEY'].includes(code) ||
  /indented (?:more|less) than its key|one anchor|alias node|Block collections|must be quoted|Unknown escape|space is required after the colon|tag|separated|single line|template expression|Unexpected|Mapping values are not allowed/.test(
    message,
  );

test('reads generated YAML like helm', {timeout: 600_000}, async () => {
  // For helm, keys such as 1 and "1" are one key with a random value. A fixed seed generates the same texts.
  const texts = fc.sample(written, {numRuns: RUNS * 100, seed: SEED});
  expect(await allByTemplate(helms[0] as Helm, texts.slice(0, 10))).toEqual(
    await Promise.all(texts.slice(0, 10).map((text) => readByHelm(helms[0] as Helm, ['-'], text))),
  );
  expect(
    await disagreementsOfMany(texts, (code) => code === 'NOT_FINITE' || code === 'INVALID_KEY'),
  ).toEqual([]);
});

test('finds a mistake in generated YAML whenever helm refuses it', {timeout: 600_000}, async () => {
  // A fixed seed generates the same texts, because the parsers still differ in rare cases.
  expect(
    await disagreementsOfMany(fc.sample(spoilt, {numRuns: RUNS * 100, seed: SEED}), isStricter),
  ).toEqual([]);
});

test('merges several files like helm', {timeout: 600_000}, async () => {
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      {maxDepth: 3, depthSize: 'small'},
      fc.constantFrom(null, 1, 'x', true, [], {}, [{a: 1}]),
      tie('map'),
    ),
    map: fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__'), tie('value'), {
      maxKeys: 3,
      noNullPrototype: true,
    }),
  })).map;
  const stacks = fc.sample(fc.array(value, {minLength: 2, maxLength: 3}), {
    numRuns: RUNS * 5,
    seed: SEED,
  });
  const differing = await inPairs(stacks, async (stack, index) => {
    const texts = stack.map((values) => JSON.stringify(values));
    const files = texts.map((_, at) => join(scratch, `${index}-${at}.yaml`));
    await Promise.all(files.map((file, at) => writeFile(file, texts[at] as string)));
    const byHelm = await Promise.all(helms.map((helm) => readByHelm(helm, files)));
    const {values} = mergeSources(
      files.map((file, at) => ({
        file,
        source: readSource(texts[at] as string).source as ValuesSource,
      })),
    );
    return byHelm.every((tree) => sameTree(tree, plain(values))) ? [] : [{texts, byHelm, values}];
  });
  expect(differing).toEqual([]);
});

const disagreements = (texts: readonly string[]): Promise<unknown[]> =>
  inPairs(texts, async (text) => disagreement(text, await bothRead(text), () => false));

/**
 * Hundreds of texts in one process: fromYaml is the same call to the same reader as --values, only that Helm 4 does not cut the
 * text at --- first.
 */
async function allByTemplate(helm: Helm, texts: readonly string[]): Promise<unknown[]> {
  const directory = await mkdtemp(join(scratch, 'many-'));
  await mkdir(join(directory, 'templates'));
  await mkdir(join(directory, 'texts'));
  await writeFile(join(directory, 'Chart.yaml'), CHART);
  await writeFile(
    join(directory, 'templates', 'texts.yaml'),
    '{{ range $path, $_ := .Files.Glob "texts/*" }}\n{{ base $path }}: {{ $.Files.Get $path | fromYaml | toJson | b64enc }}\n{{ end }}\n',
  );
  for (const [at, text] of texts.entries())
    await writeFile(join(directory, 'texts', `t${at}`), text);
  const {stdout} = await execa(helm.path, ['template', 'reads', directory], ALONE);
  const read = new Map(
    [...stdout.matchAll(/^(t\d+): (.*)$/gm)].map(([, name, encoded]) => [
      name,
      decoded(encoded as string),
    ]),
  );
  return texts.map((_, at) => {
    const tree = read.get(`t${at}`);
    return tree === undefined || Object.hasOwn(tree as object, 'Error') ? undefined : tree;
  });
}

async function disagreementsOfMany(
  texts: readonly string[],
  mayBeStricter: Strictness,
): Promise<unknown[]> {
  const byHelms = await Promise.all(helms.map((helm) => allByTemplate(helm, texts)));
  return texts.flatMap((text, at) =>
    disagreement(
      text,
      byHelms.map((read) => read[at]),
      mayBeStricter,
    ),
  );
}

/** Two at a time, because each runs both versions of helm. */
async function inPairs<T>(
  items: readonly T[],
  work: (item: T, index: number) => Promise<unknown[]>,
): Promise<unknown[]> {
  const results: unknown[] = [];
  const queue = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) results.push(...(await work(item, index)));
  };
  await Promise.all([worker(), worker()]);
  return results;
}
