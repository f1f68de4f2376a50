/** A value as it stands in a line, and what of it must not be left there. */
export interface Placed {
  text: string;
  secrets: readonly string[];
}

type Encode = (placed: Placed, argument: string) => Placed;

const both =
  (change: (text: string) => string): Encode =>
  ({text, secrets}) => ({text: change(text), secrets: secrets.map(change)});

const json = (text: string): string => JSON.stringify(text).slice(1, -1);
const goJson = (text: string): string =>
  json(text).replace(/[<>&]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);
const url = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!*'()]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
const ENTITIES: Readonly<Record<string, string>> = {
  '<': '&lt;',
  '>': '&gt;',
  '&': '&amp;',
  '"': '&#34;',
};
const html = (text: string): string => text.replace(/[<>&"]/g, (sign) => ENTITIES[sign] ?? sign);
const unpadded = (text: string): string => text.replace(/=+$/, '');
const pieces = (text: string, width: number): string[] =>
  text.match(new RegExp(`.{1,${width}}`, 'gs')) ?? [];

/** All of the secret in another form, in which it is one word. */
const whole =
  (change: (text: string) => string): Encode =>
  ({text}) => ({text: change(text), secrets: [unpadded(change(text))]});

const quoted =
  (plain: RegExp): Encode =>
  ({text, secrets}) => ({text: plain.test(text) ? text : `'${text}'`, secrets});

const lines = (text: string): string[] => text.split('\n');

/** The lines of a key that are left when only some of them are logged. */
const keep = (text: string, secrets: readonly string[]): Placed => ({
  text,
  secrets: secrets.filter((secret) => text.includes(secret)),
});

const ENCODINGS: Readonly<Record<string, Encode>> = {
  json: both(json),
  gojson: both(goJson),
  url: both(url),
  html: both(html),
  upper: both((text) => text.toUpperCase()),
  sh: quoted(/^[\w./+=:@%,-]+$/),
  yaml: quoted(/^[a-zA-Z][\w./+=-]*$/),
  b64: whole((text) => Buffer.from(text).toString('base64')),
  b64url: whole((text) => Buffer.from(text).toString('base64url')),
  hex: whole((text) => Buffer.from(text).toString('hex')),
  utf16: whole((text) => Buffer.from(text, 'utf16le').toString('base64')),
  wrap: ({text}, width) => {
    const parts = pieces(text, Number(width));
    return {
      text: parts.join('\n'),
      secrets: parts.map(unpadded).filter((part, index) => index === 0 || part.length > 11),
    };
  },
  cut: ({text}, length) => ({
    text: text.slice(0, Number(length)),
    secrets: [text.slice(0, Number(length))],
  }),
  end: ({text}, length) => ({
    text: text.slice(-Number(length)),
    secrets: [unpadded(text.slice(-Number(length)))],
  }),
  head: ({text, secrets}, count) => keep(lines(text).slice(0, Number(count)).join('\n'), secrets),
  tail: ({text, secrets}, count) => keep(lines(text).slice(-Number(count)).join('\n'), secrets),
  indent: ({text, secrets}, width) => ({
    text: lines(text).join(`\n${' '.repeat(Number(width))}`),
    secrets,
  }),
  margin: ({text, secrets}, sign) => ({text: lines(text).join(`\n${sign}`), secrets}),
  flat: ({text, secrets}) => ({text: lines(text).join(' '), secrets}),
  joined: ({text}) => {
    const body = lines(text)
      .filter((line) => !line.startsWith('-----'))
      .join('');
    return {text: body, secrets: [unpadded(body)]};
  },
};

/** Lines of a key that are the same in every one: armour, and the first line of OpenSSH. */
const PUBLIC = /^-----|: |^AAAA|^b3BlbnNzaC1rZXktdjE/;

/** The secrets of a value before anything is done to it: itself, or every other line of a key. */
function place(value: string): Placed {
  if (!value.includes('\n')) return {text: value, secrets: [unpadded(value)]};
  const body = lines(value).filter((line) => !PUBLIC.test(line) && unpadded(line).length >= 16);
  return {text: value, secrets: body.map(unpadded)};
}

/** Applies steps such as `b64`, `wrap:76`. */
export function encode(value: string, steps: readonly string[]): Placed {
  return steps.reduce((placed, step) => {
    const [name = '', argument = ''] = step.split(/:(.*)/s);
    const change = ENCODINGS[name];
    if (!change) throw new Error(`No encoding ${name}`);
    return change(placed, argument);
  }, place(value));
}
