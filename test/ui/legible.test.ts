import {readdirSync, readFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {afterEach, describe, expect, test, vi} from 'vitest';
import {asciiFallback, isAsciiOnly, paragraph} from '../../src/ui/theme.ts';

const ASCII = {hasColor: false, columns: 30, isAscii: true};

describe('a text for people', () => {
  test('is spelled in ASCII when nothing else can be shown, and is unchanged otherwise', () => {
    expect(asciiFallback('✓ done … → Zürich', {isAscii: true})).toBe('+ done ... -> Zürich');
    expect(asciiFallback('✓ done …', {})).toBe('✓ done …');
  });

  test('wraps by its width on the screen', () => {
    expect(paragraph('    → ', 'Set the address of the account…', ASCII)).toBe(
      '    -> Set the address of the\n       account...\n',
    );
  });

  test.each(['src', 'templates'])('has an ASCII spelling for every character in %s', (folder) => {
    const root = resolve(import.meta.dirname, '../..', folder);
    const all = readdirSync(root, {recursive: true, withFileTypes: true}).filter((entry) =>
      entry.isFile(),
    );
    // Redaction reads words of other languages, and prints none of them.
    const files = all.filter(({parentPath}) => !parentPath.endsWith('redact'));
    const texts = files.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
    const signs = new Set(texts.join('').match(/[^ -~\s]/gu));
    expect([...signs].filter((sign) => asciiFallback(sign, {isAscii: true}) === sign)).toEqual([]);
  });
});

describe('only ASCII is shown', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  test.each([
    [{LANG: 'C'}, true],
    [{LANG: 'POSIX'}, true],
    [{LANG: 'de_DE.ISO-8859-15@euro'}, true],
    [{LANG: 'C.UTF-8'}, false],
    [{LANG: 'en_US.utf8'}, false],
    [{LANG: 'en_US'}, false],
    [{}, false],
    [{LANG: '', LC_ALL: ''}, false],
    [{LANG: 'en_US.UTF-8', LC_CTYPE: 'C'}, true],
    [{LANG: 'C', LC_CTYPE: 'C', LC_ALL: 'C.UTF-8'}, false],
  ])('when the locale requires it: %j', (env, expected) => {
    expect(isAsciiOnly(env, true)).toBe(expected);
    expect(isAsciiOnly(env, false)).toBe(expected);
  });

  test.each(['dumb', 'linux'])('on a terminal %s, but not in a file', (TERM) => {
    vi.stubEnv('TERM', TERM);
    expect(isAsciiOnly({TERM}, true)).toBe(true);
    expect(isAsciiOnly({TERM}, false)).toBe(false);
  });
});
