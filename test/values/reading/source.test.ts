import {describe, expect, test} from 'vitest';
import type {ValuesSource} from '../../../src/values/reading/finding.ts';
import {mergeSources, readSource} from '../../../src/values/reading/source.ts';

const read = (text: string): ValuesSource => readSource(text).source as ValuesSource;

describe('reports a code, a position and a message for each problem', () => {
  test.each<[string, string, number, number, string]>([
    ['', 'EMPTY_FILE', 1, 1, 'The file is empty'],
    ['# nothing', 'EMPTY_FILE', 1, 1, 'The file is empty'],
    ['~', 'EMPTY_FILE', 1, 1, 'The file is empty'],
    ['- a', 'NO_MAPPING', 1, 1, 'must contain a mapping'],
    ['text', 'NO_MAPPING', 1, 1, 'must contain a mapping'],
    ['a: 1\n---\nb: 2', 'SEVERAL_DOCUMENTS', 2, 1, 'Helm 3 reads only the first'],
    ['%YAML 1.1\n---\na: 1', 'DIRECTIVE', 1, 1, 'Helm 4 rejects'],
    ['--- {a: 1}', 'DOCUMENT_MARKER', 1, 1, 'Helm 4'],
    ['  a: 1\nb: 2', 'IGNORED_REST', 2, 1, 'ignores the rest'],
    ['a:\n\tb: 1', 'INVALID_YAML', 2, 1, 'Tabs cannot be used for indentation; use spaces.'],
    [
      'a:\n  b: 1\n  \t# c\n  c: 1',
      'INVALID_YAML',
      3,
      3,
      'Tabs cannot be used for indentation; use spaces.',
    ],
    ['a: "\n \t"\nb: 1\n\t\nc: 1', 'INVALID_YAML', 4, 1, 'Tabs cannot'],
    ['a: |\n  \tx\n', 'INVALID_YAML', 2, 3, 'Tabs cannot'],
    ['a: b: c', 'INVALID_YAML', 1, 4, 'contains ": "'],
    ['a:\n  b: 1\n c: 2', 'INVALID_YAML', 3, 1, 'not aligned'],
    ['a: |\n   x\n  y\nb: 1', 'INVALID_YAML', 3, 1, 'not aligned'],
    ['a: "x\nb: 1', 'INVALID_YAML', 1, 4, 'Missing closing quote'],
    ['a: [1', 'INVALID_YAML', 1, 6, 'not closed'],
    ['a: 1\nb', 'INVALID_YAML', 2, 1, 'Expected "key: value"'],
    ['a: @x', 'INVALID_YAML', 1, 4, 'A string that starts with @ must be quoted.'],
    ['a: - b', 'INVALID_YAML', 1, 4, 'A list must start on the line below its key.'],
    ['a: "C:\\x\\q"', 'INVALID_YAML', 1, 7, 'Unknown escape sequence \\x\\q in double quotes'],
    ['a: "\\/"', 'INVALID_YAML', 1, 5, '\\/ in double quotes'],
    ['a: "\\\\/ \\ud83d\\ude00"', 'INVALID_YAML', 1, 9, 'Write the character itself'],
    ['a: [http://h/?q]', 'INVALID_YAML', 1, 5, 'must be quoted'],
    ['a: {b:}', 'INVALID_YAML', 1, 6, 'space is required after the colon'],
    ['a: *x', 'INVALID_YAML', 1, 4, 'Unknown anchor x'],
    ['a: &x [*x]', 'INVALID_YAML', 1, 8, 'contains itself'],
    ['a: ["x?", y?]', 'INVALID_YAML', 1, 11, 'must be quoted'],
    ['a: [:x]', 'INVALID_YAML', 1, 5, 'must be quoted'],
    ['a: [!!str , b]', 'INVALID_YAML', 1, 11, 'a tag must be followed by a value'],
    [`a: {"${'x'.repeat(1100)}": b}`, 'INVALID_YAML', 1, 5, 'A key must be on one line'],
    ['a:\n  b: 1\n<<<<<<< HEAD\n', 'INVALID_YAML', 3, 1, 'conflict markers'],
    ['a: 1\n=======\n', 'INVALID_YAML', 2, 1, 'conflict markers'],
    ['a: 1\n>>>>>>> main\n', 'INVALID_YAML', 2, 1, 'conflict markers'],
    ['a: 1\n=====\n', 'INVALID_YAML', 2, 1, 'Expected "key: value"'],
    ['a: 1\n<<<<<\n', 'INVALID_YAML', 2, 1, 'Expected "key: value"'],
    ['a: &x.y 1', 'INVALID_YAML', 1, 9, 'letters, digits'],
    ['a: !!int x', 'INVALID_YAML', 1, 10, 'Cannot decode "x" as !!int.'],
    ['<<: 1', 'INVALID_YAML', 1, 1, '<< requires a mapping'],
    ['a: {{ .Values.x }}', 'PLACEHOLDER', 1, 4, '{{ .Values.x }} is a template expression'],
    ['a: {{ x }}-y', 'PLACEHOLDER', 1, 4, '{{ x }} is a template expression'],
    ['{{- if x }}\na: 1\n{{- end }}', 'PLACEHOLDER', 1, 1, '{{- if x }} is a template expression'],
    ['a: .inf', 'NOT_FINITE', 1, 4, 'JSON does not support this number'],
    ['null: a', 'INVALID_KEY', 1, 1, 'cannot be null'],
    ['? [a]\n: b', 'INVALID_KEY', 1, 3, 'cannot be a list'],
    ['a: {ON: 1}', 'RENAMED_KEY', 1, 5, 'YAML reads the key ON as true.'],
    ['010: 1', 'RENAMED_KEY', 1, 1, 'YAML reads the key 010 as 8.'],
    ['a: 1\na: 2', 'DUPLICATE_KEY', 2, 1, 'Helm silently uses the last one'],
    [
      '<<: {1: a}\n"1": b',
      'DUPLICATE_KEY',
      2,
      1,
      'Duplicate key 1, as string and as int: Helm uses either one at random.',
    ],
    ['"1": b\n<<: {1: a}', 'DUPLICATE_KEY', 2, 1, 'at random'],
    ['<<: [{1: a}, {"1": b}]', 'DUPLICATE_KEY', 1, 1, 'at random'],
    ['x: &x {b: 1}\na: {b: 2, <<: *x}', 'MERGE_OVERWRITES', 2, 11, 'the merge key << overwrites b'],
    ['a: 010', 'OCTAL_NUMBER', 1, 4, 'YAML reads 010 as 8'],
    ['a: x\u0007', 'CONTROL_CHARACTER', 1, 5, 'U+0007'],
    ['a: \u{1F600}\uFFFD', 'NOT_UTF8', 1, 6, 'Invalid UTF-8'],
    ['a: x\u2028y', 'LINE_SEPARATOR', 1, 5, 'U+2028'],
  ])('%j is %s at %i:%i', (text, code, line, column, message) => {
    const [first, ...more] = readSource(text).findings;
    expect(first).toMatchObject({
      code,
      subject: {line, column},
      message: expect.stringContaining(message),
    });
    expect(more).toEqual([]);
  });

  test('rejects excessive aliasing quickly', () => {
    const text = `a0: &a0 x\n${Array.from({length: 40}, (_, at) => `a${at + 1}: &a${at + 1} [${Array(9).fill(`*a${at}`)}]\n`).join('')}`;
    expect(readSource(text.replaceAll(',', ', ')).findings).toMatchObject([
      {code: 'YAML_ALIAS_LIMIT'},
    ]);
  });

  test('reports a finding for a file that is nested too deeply', () => {
    expect(readSource(`a: ${'['.repeat(20_000)}`).findings).toMatchObject([{code: 'TOO_DEEP'}]);
  });

  test('continues with the value that Helm uses after a duplicate key', () => {
    expect(read('a: 1\na: 2').values).toEqual({a: 2});
    expect(read('x: &x {b: 1}\na: {b: 2, <<: *x}').values['a']).toEqual({b: 1});
  });
});

test.each([
  'mode: 0400',
  'defaultMode: 0777',
  'a: 089',
  'a: 007',
  'a: "010"',
  'a: 0',
  'a: 0o10',
  'true: 1',
  '1: 1',
  '"on": 1',
  // What looks odd but go-yaml accepts.
  'a: [1,\n \t2]',
  'a: {b: 1,\n \tc: 2}',
  'a: "x\n \ty"',
  'a: x ?y',
  'a: "[?]"',
  `a: ["${'x'.repeat(1200)}"]`,
  'a: ["x?", \'y?\']',
])('reports nothing for %j', (text) => {
  expect(readSource(text).findings).toEqual([]);
});

describe('a position', () => {
  const source = read(`base: &base
  tag: 1.10
  list:
    - name: a
    - {name: b, on: 0x1F}
copy: *base
merged:
  <<: *base
  own: 'it''s'
1: one
__proto__:
  deep: 1
`);

  test.each<[(string | number)[], number, number]>([
    [['base'], 1, 1],
    [['base', 'tag'], 2, 3],
    [['base', 'list', 1], 5, 7],
    [['base', 'list', '1', 'name'], 5, 8],
    [['base', 'list', 1, 'true'], 5, 17],
    [['copy', 'tag'], 2, 3],
    [['merged', 'tag'], 2, 3],
    [['merged', 'own'], 9, 3],
    [['merged', 'none', 'below'], 7, 1],
    [[1], 10, 1],
    [['1'], 10, 1],
  ])('of %j is %i:%i', (path, line, column) => {
    expect(source.locate(path)).toEqual({line, column});
  });

  test('is undefined for a missing key', () => {
    expect(source.locate([])).toBeUndefined();
    expect(source.locate(['none'])).toBeUndefined();
    expect(source.locate(['constructor'])).toBeUndefined();
  });

  test('contains the text as written', () => {
    expect(source.written(['copy', 'tag'])).toBe('1.10');
    expect(source.written(['base', 'list', 1, 'true'])).toBe('0x1F');
    expect(source.written(['merged', 'own'])).toBe("it's");
    expect(source.written(['base'])).toBeUndefined();
    expect(source.written(['base', 'none'])).toBeUndefined();
  });

  test('is correct after a byte order mark and with Windows line ends', () => {
    expect(read('\uFEFFa:\r\n  b: 1\r\n').locate(['a', 'b'])).toEqual({line: 2, column: 3});
  });
});

describe('several files', () => {
  const merged = (...texts: string[]): ValuesSource =>
    mergeSources(
      texts.map((text, index) => ({
        file: `${index}.yaml`,
        source: readSource(text).source as ValuesSource,
      })),
    );

  test.each<[string[], unknown]>([
    [[], {}],
    [['a: {b: 1, c: 1}', 'a: {b: 2}'], {a: {b: 2, c: 1}}],
    [['a: [1, 2]', 'a: [3]'], {a: [3]}],
    [['a: {b: 1}', 'a: 1', 'a: {c: 2}'], {a: {c: 2}}],
    [['a: {b: 1}', 'a: null'], {a: null}],
    [['a: {b: 1}', 'a: {b: null}'], {a: {b: null}}],
    [['a: null', 'a: {b: 1}'], {a: {b: 1}}],
    [['__proto__: {a: 1}', '__proto__: {b: 2}'], JSON.parse('{"__proto__": {"a": 1, "b": 2}}')],
  ])('%j are merged into %j', (texts, values) => {
    expect(merged(...texts).values).toEqual(values);
  });

  test('locate each value in the file that sets it', () => {
    const {locate, written} = merged(
      'a: {b: 010, c: 1}\nd: 1\nlist: [{e: 1}, {f: 1}]',
      '\na: {c: 2}\nd: {x: 1}',
      'list: [{e: 2}]',
    );
    expect(locate(['a', 'b'])).toEqual({file: '0.yaml', line: 1, column: 5});
    expect(written(['a', 'b'])).toBe('010');
    expect(locate(['a', 'c'])).toEqual({file: '1.yaml', line: 2, column: 5});
    expect(locate(['a'])).toEqual({file: '1.yaml', line: 2, column: 1});
    expect(locate(['a', 'missing'])).toEqual({file: '1.yaml', line: 2, column: 1});
    expect(locate(['list', 0, 'e'])).toEqual({file: '2.yaml', line: 1, column: 9});
    expect(locate(['list', 1, 'f'])).toEqual({file: '2.yaml', line: 1, column: 1});
    expect(written(['list', 1, 'f'])).toBeUndefined();
    expect(locate(['nowhere'])).toBeUndefined();
    expect(locate([])).toBeUndefined();
  });

  test('do not locate a value that a later file replaces, even by a map', () => {
    const {locate, written} = merged('a: {b: 1}', 'a: null', 'a: {c: 1}');
    expect(locate(['a', 'b'])).toEqual({file: '2.yaml', line: 1, column: 1});
    expect(written(['a', 'b'])).toBeUndefined();
  });

  test('are not modified', () => {
    const source = readSource('a: {b: 1}').source as ValuesSource;
    mergeSources([
      {file: 'x', source},
      {file: 'y', source: readSource('a: {c: 1}').source as ValuesSource},
    ]);
    expect(source.values).toEqual({a: {b: 1}});
  });
});
