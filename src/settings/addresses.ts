import {BlockList, isIP} from 'node:net';
import {bareHost} from '../ground/text.ts';
import {InvalidValue, type Kind} from './define.ts';
import {text, textIn} from './kinds.ts';

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
    return url.origin;
  },
  format: (value) => [value],
  fromValues: textIn,
});

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

/** Whether a network such as 10.0.0.0/8 has an address and a prefix length of its family. */
function isNetwork(entry: string): boolean {
  const [address = '', prefix = ''] = entry.split('/');
  return isIP(address) > 0 && Number(prefix) <= (isIP(address) === 4 ? 32 : 128);
}

const NO_PROXY_ENTRY =
  /^(\*|\*?\.?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?(:\d+)?|[0-9.]+\/\d{1,2}|\[?[0-9A-Fa-f:]+\]?(\/\d{1,3})?)$/;

/** Hosts, domains and networks that bypass the proxy: comma-separated text, or a list in an answers file. */
export const noProxyList = (inCluster: readonly string[]): Kind<string[]> => ({
  jsonSchema: {anyOf: [{type: 'string'}, {type: 'array', items: {type: 'string'}}]},
  hint: 'HOST,...',
  parse(raw) {
    const parts = typeof raw === 'string' ? raw.split(',') : raw;
    if (!Array.isArray(parts) || parts.some((part) => typeof part !== 'string')) {
      throw new InvalidValue(
        `Expected a list of hosts, got ${JSON.stringify(raw)}`,
        'Example: .example.com,10.0.0.0/8',
      );
    }
    const entries = (parts as string[])
      .map((part) => part.trim())
      .filter((part) => part !== '' && !inCluster.includes(part));
    const wrong = entries.find(
      (entry) => !NO_PROXY_ENTRY.test(entry) || (entry.includes('/') && !isNetwork(entry)),
    );
    if (wrong !== undefined) {
      throw new InvalidValue(
        `"${wrong}" is not a host, domain or network`,
        'Use hosts and networks without schemes and spaces, for example .example.com,10.0.0.0/8',
      );
    }
    return [...new Set(entries)];
  },
  format: (value) => [value.join(',')],
});

/** Proxies for https:// and http:// URLs, and the entries of NO_PROXY. */
export interface ProxyVariables {
  https: string | undefined;
  http: string | undefined;
  excluded: readonly string[];
}

/** The proxy for this URL; undefined for a direct connection. */
export function proxyFor(url: URL, {https, http, excluded}: ProxyVariables): string | undefined {
  const host = bareHost(url.hostname);
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  const isExcluded = excluded
    .map((entry) => entry.trim().toLowerCase())
    .some((entry) => entry !== '' && excludes(entry, host, port));
  return isExcluded ? undefined : (url.protocol === 'https:' ? https : http) || undefined;
}

/** An entry of NO_PROXY is a name, a domain with its subdomains, a network or `*`; names can have a port. */
function excludes(entry: string, host: string, port: string): boolean {
  if (entry.includes('/') && isNetwork(entry)) return isIP(host) > 0 && isInNetwork(entry, host);
  const [, name = '', ofPort = port] =
    /^(.*?)(?::(\d+))?$/.exec(isIP(entry) === 6 ? `[${entry}]` : entry) ?? [];
  const bare = bareHost(name).replace(/^\*?\./, '');
  return ofPort === port && (bare === '*' || host === bare || host.endsWith(`.${bare}`));
}

function isInNetwork(entry: string, host: string): boolean {
  const [address = '', prefix] = entry.split('/');
  const [family, own] = [address, host].map((each) => (isIP(each) === 6 ? 'ipv6' : 'ipv4')) as [
    'ipv4' | 'ipv6',
    'ipv4' | 'ipv6',
  ];
  const list = new BlockList();
  list.addSubnet(address, Number(prefix), family);
  return list.check(host, own);
}

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
      throw new InvalidValue(
        `"${raw}" is not host:port`,
        'Example: otel-collector.observability.svc.cluster.local:4317',
      );
    }
    return value;
  },
});

const IMAGE =
  /^[a-z0-9]+([._-][a-z0-9]+)*(:\d+)?(\/[a-z0-9]+(([._]|__|-+)[a-z0-9]+)*)*(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@sha256:[0-9a-f]{64})?$/i;

export const image = ({tagged = false} = {}): Kind<string> => {
  const kind = text({
    hint: 'IMAGE',
    pattern: IMAGE,
    expected: 'a valid image reference',
    example: 'registry.example.com/team/agent:1.4.0',
  });
  return {
    ...kind,
    parse(raw, context) {
      const value = kind.parse(raw, context);
      const {tag, digest} = splitImage(value);
      if (tagged && tag === undefined)
        throw new InvalidValue(`"${value}" has no tag`, `Add a tag, for example ${value}:1.0.0`);
      if (tag !== undefined && digest) {
        if (/:[^/@]+@/.test(value))
          throw new InvalidValue(
            `"${value}" has a tag and a digest, but the charts support only one of them`,
            `Use ${value.replace(/:[^/@]+@/, '@')}`,
          );
      }
      return value;
    },
  };
};

/** Repository and tag, which the charts join with a colon; a digest is split into `name@sha256` and its hex digits. */
export function splitImage(reference: string): {repository: string; tag?: string; digest: boolean} {
  const [, digested, hex] = /^(.*@sha256):([0-9a-f]{64})$/.exec(reference) ?? [];
  if (digested !== undefined && hex !== undefined)
    return {repository: digested, tag: hex, digest: true};
  const [, repository = reference, tag] = /^(.*?)(?::([^/:]+))?$/.exec(reference) ?? [];
  return tag === undefined ? {repository, digest: false} : {repository, tag, digest: false};
}

export const withoutRegistry = (reference: string, registry: string | undefined): string =>
  registry !== undefined && reference.startsWith(`${registry}/`)
    ? reference.slice(registry.length + 1)
    : reference;

/** True if the reference contains a registry: short names of docker.io have no dot and no port in the first part. */
export function namesRegistry(reference: string): boolean {
  const [first = '', ...rest] = reference.split('/');
  return rest.length > 0 && (/[.:]/.test(first) || first === 'localhost');
}

/** Media types of the manifest of an image, for one platform or several. */
export const MANIFEST_TYPES = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',

  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
];

/** Where a registry has the manifest of an image. Like Docker, only registries of this machine are asked without TLS. */
export function manifestUrl(reference: string): string {
  const [host = '', ...path] = reference.split('/');
  const {repository, tag = 'latest', digest} = splitImage(path.join('/'));
  const scheme = /^(localhost|127\.[\d.]+)(:\d+)?$/.test(host) ? 'http' : 'https';
  return `${scheme}://${host}/v2/${digest ? repository.replace('@sha256', '') : repository}/manifests/${digest ? `sha256:${tag}` : tag}`;
}

/** host[:port][/path] of an image registry. */
export const registry = (): Kind<string> => ({
  ...text(),
  hint: 'HOST[/PATH]',
  parse(raw) {
    const value = String(raw).trim();
    if (/^[a-z]+:\/\//.test(value))
      throw new InvalidValue(
        `"${value}" has a scheme`,
        `Did you mean ${value.replace(/^[a-z]+:\/\//, '')}?`,
      );
    const trimmed = value.replace(/\/+$/, '');
    if (!IMAGE.test(trimmed) || trimmed.includes('@') || !namesRegistry(`${trimmed}/`)) {
      throw new InvalidValue(
        `"${value}" is not an image registry`,
        'Example: registry.example.com/mirror',
      );
    }
    return trimmed;
  },
});

const LABEL = '[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?';
const DNS_NAME = new RegExp(`^${LABEL}(\\.${LABEL})*\\.?$`);

/** A DNS name; IPv4 addresses have the same format. */
export const isHost = (text: string): boolean => text.length <= 253 && DNS_NAME.test(text);

/** host:port, with an optional scheme as in the default of agent-job. */
export function isHostAndPort(text: string): boolean {
  const [, host, port] =
    /^(?:https?:\/\/)?(\[[\da-fA-F:]+\]|[^:/@]+):(\d{1,5})\/?$/.exec(text) ?? [];
  return (
    host !== undefined &&
    port !== undefined &&
    (host.startsWith('[') || isHost(host)) &&
    Number(port) >= 1 &&
    Number(port) <= 65_535
  );
}
