import {stringify} from 'yaml';
import {formsOf, rareFormsOf} from '../../../../src/extensions/bundle/redact/leak-check.ts';

/** Values as Secrets hold them, none of which was ever used. */
export const VALUES: Readonly<Record<string, string>> = {
  token:
    'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJhcG9vbC12MG8zNWw0IiwiaG9zdCI6ImFjbWUuc2NhbHIuaW8iLCJpYXQiOjE3MDAwMDAwMDB9.Jq3vVnWf0yZb7rXk1mLhD9sTtPcUaEoG5iQw2xRz8B4',
  word: 'mellon-7',
  shortest: 'x7Kp2q',
  spaced: 'correct Horse battery 9 staple',
  signs: `p@ss/W0rd+"quoted"'single'&<tag>=100% $HOME \\back`,
  onlySigns: '!@#$%^&*()[]{};:,<>/?|',
  quotes: `"'"'"`.repeat(3).concat('Xy9#%&+/'),
  unicode: 'pässwörd-日本語-Ключ-99',
  accents: 'é$à%ç&ü+ö/',
  percent: '50%25off%2Fdeal%41-really',
  backslashes: 'C:\\new\\table\\root\\u0041bc',
  hex: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  base64: 'q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQ+/+/+/8=',
  underscores: '___---___--__x1',
  url: 'https://bob:s3cr3t@proxy.example.com:3128/some/path?sig=abc',
  key: [
    '-----BEGIN PRIVATE KEY-----',
    'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj',
    'MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu',
    'NMoSfm76oqFvAp8Gy0iz5sxjZmSnXyCdPEovGhLa0VzMaQ8s+CLOyS56YyCFGeJZ',
    'n8rKq/2qRjU7wAxWkT==',
    '-----END PRIVATE KEY-----',
  ].join('\n'),
  serviceAccount: JSON.stringify(
    {
      type: 'service_account',
      project_id: 'acme-42',
      private_key_id: '3c9f0a',
      client_email: 'a@acme-42.iam',
    },
    null,
    2,
  ),
  long: Array.from({length: 300}, (_, index) => (index * 2_654_435_761).toString(36)).join('.'),
};

/** Where a secret was seen in bundles of others: `@` is its place. Some are JSON already, so what is put in is escaped for it. */
export const PLACES: Readonly<Record<string, string>> = {
  'line of an agent':
    '{"event": "starting @ now", "level": "info", "logger_name": "tacoagent.cmd", "timestamp": "2026-11-21 10:00:00.4"}\n',
  'line with a timestamp':
    '2026-11-21T10:00:00.123456789Z connecting with @ to acme\n2026-11-21T10:00:01.000000001Z next\n',
  'end of a line': 'using @\n',
  'all there is': '@',
  'plan of Terraform':
    '  + resource "x" "y" {\n      + value = "@" -> (known after apply)\n    }\n',
  event:
    'LAST SEEN   TYPE      REASON   OBJECT    MESSAGE\n2m          Warning   Failed   pod/x     Error: failed with @: not found\n',
  variable: 'HOME=/root\nAGENT_INPUT=@\nPATH=/bin\n',
  annotation: 'metadata:\n  annotations:\n    example.com/note: "@"\n  name: x\n',
  'config map': 'data:\n  settings.ini: |\n    [main]\n    input = @\n    other = 1\n',
  'values of helm': 'agent:\n  extra:\n    - --input=@\n  url: https://acme.scalr.io\n',
  'query of a URL': 'GET https://acme.scalr.io/api?x=1&input=@&y=2 200\n',
  'side by side': 'a@b @,@;@\n',
};

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);
const bytes = (latin1: string): Buffer => Buffer.from(latin1, 'latin1');

/** The forms of the program itself, and others made by other means. */
export function writings(value: string): ReadonlyMap<string, string> {
  const text = bytes(Buffer.from(value, 'utf8').toString('latin1')).toString('latin1');
  const around = (left: string, right: string): string =>
    Buffer.from(`${left}${value}${right}`, 'utf8').toString('base64');
  const wrap = (long: string, width: number, by: string): string =>
    long.match(new RegExp(`.{1,${width}}`, 'g'))?.join(by) as string;
  const utf8 = (other: string): string => Buffer.from(other, 'utf8').toString('latin1');
  return new Map([
    ...formsOf(text),
    ...rareFormsOf(text),
    ['component of a URL', encodeURIComponent(value)],
    ['form', utf8(new URLSearchParams({x: value}).toString().slice(2))],
    ['component twice', encodeURIComponent(encodeURIComponent(value))],
    [
      'string of YAML',
      utf8(
        stringify(value, {
          lineWidth: 0,
          defaultStringType: 'QUOTE_DOUBLE',
          doubleQuotedMinMultiLineLength: 9999,
        })
          .trim()
          .slice(1, -1),
      ),
    ],
    ['JSON in JSON in JSON', utf8(escaped(escaped(JSON.stringify({x: value}))))],
    ['base64 of user and value', around('bob:', '')],
    ['base64 of a file', around('a=1\nb=', '\nc=2\n')],
    ['base64 after one byte', around('x', 'yz')],
    ['base64 in lines', wrap(around('', ''), 76, '\n')],
    ['base64 in lines of JSON', escaped(wrap(around('', ''), 64, '\n'))],
    ['base64url', Buffer.from(value, 'utf8').toString('base64url')],
    ['base64 in a URL', encodeURIComponent(around('', ''))],
    [
      'entities of XML',
      utf8(
        value
          .replaceAll('&', '&amp;')
          .replaceAll('<', '&lt;')
          .replaceAll('>', '&gt;')
          .replaceAll('"', '&quot;'),
      ),
    ],
  ]);
}

/** Every needle: one value in one writing at one place. */
export function* needles(): Generator<{
  name: string;
  kind: string;
  value: string;
  written: string;
  text: Buffer;
}> {
  for (const [kind, value] of Object.entries(VALUES)) {
    for (const [writing, written] of writings(value)) {
      for (const [place, around] of Object.entries(PLACES)) {
        yield {
          name: `${kind} as ${writing} at ${place}`,
          kind,
          value,
          written,
          text: bytes(around.replaceAll('@', () => written)),
        };
      }
    }
  }
}
