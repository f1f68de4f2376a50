import {InvalidValue, type Kind} from './kind.ts';
import {textIn} from './texts.ts';

function parseUrl(raw: unknown, schemes: readonly string[], example: string): URL {
  if (typeof raw !== 'string')
    throw new InvalidValue(`Expected a URL, got ${JSON.stringify(raw)}`, `Example: ${example}`);
  const value = raw.trim();
  if (value === '') throw new InvalidValue('The value is empty', `Example: ${example}`);
  if (/\s/.test(value))
    throw new InvalidValue(`"${value}" contains whitespace`, `Example: ${example}`);
  if (/[<>{}]/.test(value))
    throw new InvalidValue(`"${value}" contains a placeholder`, `Example: ${example}`);
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(value))
    throw new InvalidValue(`"${value}" has no scheme`, `Did you mean ${schemes[0]}://${value}?`);
  if (value.includes('@') && (!URL.canParse(value) || new URL(value).pathname.includes('@'))) {
    throw new InvalidValue(
      'The user name or password contains a character that must be escaped',
      'Escape / as %2F, @ as %40, : as %3A and \\ as %5C',
    );
  }
  if (!URL.canParse(value))
    throw new InvalidValue(`"${value}" is not a URL`, `Example: ${example}`);
  const url = new URL(value);
  if (!schemes.includes(url.protocol.slice(0, -1))) {
    throw new InvalidValue(
      `"${value}" does not start with ${schemes.map((each) => `${each}://`).join(' or ')}`,
      `Did you mean ${schemes[0]}://${url.host}?`,
    );
  }
  return url;
}

/** The URL of a Scalr account: https and a host only. */
export const accountUrl = (): Kind<string> => ({
  jsonSchema: {type: 'string', format: 'uri', pattern: '^https://'},
  hint: 'URL',
  parse(raw) {
    const url = parseUrl(raw, ['https'], 'https://acme.scalr.io');
    if (url.username !== '' || url.pathname !== '/' || url.search !== '' || url.hash !== '') {
      throw new InvalidValue(
        `"${String(raw).trim()}" contains more than a host`,
        `Did you mean ${url.origin}?`,
      );
    }
    if (NO_ACCOUNT.test(url.hostname))
      throw new InvalidValue(
        `${url.hostname} is not the host of a Scalr account`,
        'Enter the URL as in your browser, for example https://acme.scalr.io',
      );
    return url.origin;
  },
  format: (value) => [value],
  fromValues: textIn,
});

/** Hosts that people mistake for the one of their account. */
const NO_ACCOUNT = /^(?:(?:www\.|docs\.)?scalr\.(?:io|com)|app\.terraform\.io)$/;

const NAME = '[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?';
const ACCOUNT = new RegExp(`^${NAME}$`, 'i');
const HOST = new RegExp(`^(?:${NAME}(?:\\.${NAME})+|localhost)(?::\\d{1,5})?/?$`, 'i');

/** The URL of an account: `acme` and `acme.scalr.io` are https://acme.scalr.io. A pasted token is neither. */
export function accountUrlOf(typed: string): string | undefined {
  if (/^eyJ/.test(typed)) return undefined;
  if (HOST.test(typed)) return `https://${typed}`;
  return ACCOUNT.test(typed) ? `https://${typed.toLowerCase()}.scalr.io` : undefined;
}

/** `proxy:3128` is http://proxy:3128; a proxy on a port of HTTPS may expect TLS. */
export const proxyUrlOf = (typed: string): string | undefined =>
  /^[a-z0-9][-a-z0-9.]*:(?!443$|8443$)\d{2,5}\/?$/i.test(typed) ? `http://${typed}` : undefined;

const CREDENTIALS = '<user>:<password>';

/** The address of an HTTP proxy; `variable` can provide one with a password. */
export const proxyUrl = (variable: string): Kind<string> => ({
  jsonSchema: {type: 'string', format: 'uri', pattern: '^https?://'},
  hint: 'URL',
  parse(raw) {
    if (String(raw).includes(`//${CREDENTIALS}@`))
      throw new InvalidValue(
        'The user name and password are placeholders, because they are never saved',
        `Set the complete URL in ${variable}`,
      );
    const url = parseUrl(raw, ['http', 'https'], 'http://proxy.example.com:3128');
    if (url.pathname !== '/' || url.search !== '' || url.hash !== '') {
      throw new InvalidValue(
        `"${withoutCredentials(url.href)}" contains a path, which is not allowed in a proxy URL`,
        `Did you mean ${url.protocol}//${url.host}?`,
      );
    }
    if (/%(?![0-9a-f]{2})/i.test(url.username + url.password))
      throw new InvalidValue(
        'The user name or password contains % without two hexadecimal digits',
        'Escape % as %25',
      );
    return url.href.replace(/\/$/, '');
  },
  format: (value) => [withoutCredentials(value)],
  shown: withoutCredentials,
  fromValues: textIn,
});

export const hasCredentials = (url: string): boolean =>
  new URL(url).username + new URL(url).password !== '';

/** The URL with placeholders for user name and password; parsing rejects the placeholders. */
export const withoutCredentials = (url: string): string =>
  url.replace(/(?<=^[a-z]+:\/\/)[^@/]+(?=@)/i, CREDENTIALS);
