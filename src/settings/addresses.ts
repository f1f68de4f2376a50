import {InvalidValue, type Kind} from './define.ts';
import {text} from './kinds.ts';

function parseUrl(raw: unknown, schemes: readonly string[], example: string): URL {
  if (typeof raw !== 'string') throw new InvalidValue(`expected a URL, got ${JSON.stringify(raw)}`, `Write it like ${example}`);
  const value = raw.trim();
  if (/\s/.test(value)) throw new InvalidValue(`"${value}" holds a blank`, `Write it like ${example}`);
  if (/[<>{}]/.test(value)) throw new InvalidValue(`"${value}" still holds a placeholder`, `Write it like ${example}`);
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) throw new InvalidValue(`"${value}" has no scheme`, `Did you mean ${schemes[0]}://${value}?`);
  if (value.includes('@') && (!URL.canParse(value) || new URL(value).pathname.includes('@'))) {
    throw new InvalidValue(
      'holds a user name or password with a character that ends it too early',
      'Write / as %2F, @ as %40, : as %3A and \\ as %5C in them',
    );
  }
  if (!URL.canParse(value)) throw new InvalidValue(`"${value}" is not a URL`, `Write it like ${example}`);
  const url = new URL(value);
  if (!schemes.includes(url.protocol.slice(0, -1))) {
    throw new InvalidValue(
      `"${value}" does not begin with ${schemes.map((each) => `${each}://`).join(' or ')}`,
      `Did you mean ${schemes[0]}://${url.host}?`,
    );
  }
  return url;
}

/** The address of a Scalr account: https and a host, nothing behind it. */
export const accountUrl = (): Kind<string> => ({
  jsonSchema: {type: 'string', format: 'uri', pattern: '^https://'},
  hint: 'URL',
  parse(raw) {
    const url = parseUrl(raw, ['https'], 'https://acme.scalr.io');
    if (url.username !== '' || url.pathname !== '/' || url.search !== '' || url.hash !== '') {
      throw new InvalidValue(`"${String(raw).trim()}" holds more than a host`, `Did you mean ${url.origin}?`);
    }
    return url.origin;
  },
  format: (value) => [value],
});

/** The address of an HTTP proxy. */
export const proxyUrl = (): Kind<string> => ({
  jsonSchema: {type: 'string', format: 'uri', pattern: '^https?://'},
  hint: 'URL',
  parse(raw) {
    const url = parseUrl(raw, ['http', 'https'], 'http://proxy.example.com:3128');
    if (url.pathname !== '/' || url.search !== '' || url.hash !== '') {
      throw new InvalidValue(
        `"${withoutCredentials(url.href)}" holds a path, which no proxy has`,
        `Did you mean ${url.protocol}//${url.host}?`,
      );
    }
    return url.href.replace(/\/$/, '');
  },
  format: (value) => [withoutCredentials(value)],
  shown: withoutCredentials,
});

export const hasCredentials = (url: string): boolean => new URL(url).username + new URL(url).password !== '';

/** The URL with a blank to fill in place of what only the proxy may know; refused when it is given back like that. */
export const withoutCredentials = (url: string): string => url.replace(/(?<=^[a-z]+:\/\/)[^@/]+(?=@)/i, '<user>:<password>');

const NO_PROXY_ENTRY = /^(\*|\*?\.?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?(:\d+)?|[0-9.]+\/\d{1,2}|\[?[0-9A-Fa-f:]+\]?(\/\d{1,3})?)$/;

/** Hosts, domains and networks reached without the proxy: comma-separated text, or a list in an answers file. */
export const noProxyList = (inCluster: readonly string[]): Kind<string[]> => ({
  jsonSchema: {anyOf: [{type: 'string'}, {type: 'array', items: {type: 'string'}}]},
  hint: 'HOST,...',
  parse(raw) {
    const parts = typeof raw === 'string' ? raw.split(',') : raw;
    if (!Array.isArray(parts) || parts.some((part) => typeof part !== 'string')) {
      throw new InvalidValue(`expected a list of hosts, got ${JSON.stringify(raw)}`, 'Write .example.com,10.0.0.0/8');
    }
    const entries = (parts as string[]).map((part) => part.trim()).filter((part) => part !== '' && !inCluster.includes(part));
    const wrong = entries.find((entry) => !NO_PROXY_ENTRY.test(entry));
    if (wrong !== undefined) {
      throw new InvalidValue(
        `"${wrong}" is neither a host, a domain nor a network`,
        'Write .example.com,10.0.0.0/8 without schemes or blanks',
      );
    }
    return [...new Set(entries)];
  },
  format: (value) => [value.join(',')],
});

/** host:port of a gRPC server. */
export const hostAndPort = (): Kind<string> => ({
  ...text(),
  hint: 'HOST:PORT',
  parse(raw) {
    const value = String(raw)
      .trim()
      .replace(/^http:\/\//, '')
      .replace(/\/$/, '');
    if (!/^[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?:\d{1,5}$/.test(value)) {
      throw new InvalidValue(`"${raw}" is not host:port`, 'Write it like otel-collector.observability.svc.cluster.local:4317');
    }
    return value;
  },
});

const IMAGE =
  /^[a-z0-9]+([._-][a-z0-9]+)*(:\d+)?(\/[a-z0-9]+(([._]|__|-+)[a-z0-9]+)*)*(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@sha256:[0-9a-f]{64})?$/i;

/** A container image reference. */
export const image = ({tagged = false} = {}): Kind<string> => {
  const kind = text({hint: 'IMAGE', pattern: IMAGE, expected: 'an image reference', example: 'registry.example.com/team/agent:1.4.0'});
  return {
    ...kind,
    parse(raw, context) {
      const value = kind.parse(raw, context);
      const {tag, digest} = splitImage(value);
      if (tagged && tag === undefined) throw new InvalidValue(`"${value}" has no tag`, `Write the tag too, such as ${value}:1.0.0`);
      if (tag !== undefined && digest) {
        if (/:[^/@]+@/.test(value))
          throw new InvalidValue(`"${value}" has a tag and a digest; the charts can take one`, `Write ${value.replace(/:[^/@]+@/, '@')}`);
      }
      return value;
    },
  };
};

/** Repository and tag as the charts join them with a colon; a digest travels as `name@sha256` and its hex. */
export function splitImage(reference: string): {repository: string; tag?: string; digest: boolean} {
  const [, digested, hex] = /^(.*@sha256):([0-9a-f]{64})$/.exec(reference) ?? [];
  if (digested !== undefined && hex !== undefined) return {repository: digested, tag: hex, digest: true};
  const [, repository = reference, tag] = /^(.*?)(?::([^/:]+))?$/.exec(reference) ?? [];
  return tag === undefined ? {repository, digest: false} : {repository, tag, digest: false};
}

/** True when the reference names its registry: docker.io's short names have neither dot nor port in the first part. */
export function namesRegistry(reference: string): boolean {
  const [first = '', ...rest] = reference.split('/');
  return rest.length > 0 && (/[.:]/.test(first) || first === 'localhost');
}

/** host[:port][/path] of an image registry. */
export const registry = (): Kind<string> => ({
  ...text(),
  hint: 'HOST[/PATH]',
  parse(raw) {
    const value = String(raw).trim();
    if (/^[a-z]+:\/\//.test(value)) throw new InvalidValue(`"${value}" has a scheme`, `Did you mean ${value.replace(/^[a-z]+:\/\//, '')}?`);
    const trimmed = value.replace(/\/+$/, '');
    if (!IMAGE.test(trimmed) || trimmed.includes('@') || !namesRegistry(`${trimmed}/`)) {
      throw new InvalidValue(`"${value}" is not an image registry`, 'Write it like registry.example.com/mirror');
    }
    return trimmed;
  },
});
