import {BlockList, isIP} from 'node:net';
import {bareHost} from '../../ground/text.ts';
import {InvalidValue, type Kind} from './kind.ts';

/** Whether a network such as 10.0.0.0/8 has an address and a prefix length of its family. */
function isNetwork(entry: string): boolean {
  const [address = '', prefix = ''] = entry.split('/');
  return isIP(address) > 0 && Number(prefix) <= (isIP(address) === 4 ? 32 : 128);
}

const NO_PROXY_ENTRY =
  /^(\*|\*?\.?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?(:\d+)?|[0-9.]+\/\d{1,2}|\[?[0-9A-Fa-f:]+\]?(\/\d{1,3})?)$/;

const SEPARATORS = /\s*[;|\s]\s*/;
const RANGE = /^(\d+\.\d+\.\d+)\.\d+-\d+\.\d+\.\d+\.\d+$/;

/** The HTTP client of the agent knows `.corp.example`, but neither `*.corp.example` nor a dot at the end. */
const readableEntry = (entry: string): string =>
  entry.replace(/^\*(?=\.)/, '').replace(/(?<=[A-Za-z])\.$/, '');

/** The entries of a valid list that the agent ignores, and the list that it understands. */
export function ignoredEntries(text: string): {ignored: string[]; instead: string} {
  const entries = text.split(',').map((entry) => entry.trim());
  const ignored = entries.filter((entry) => readableEntry(entry) !== entry);
  return {ignored, instead: [...new Set(entries.map(readableEntry))].join(',')};
}

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
      .map((part) => readableEntry(part.trim()))
      .filter((part) => part !== '' && !inCluster.includes(part));
    const wrong = entries.find(
      (entry) =>
        !NO_PROXY_ENTRY.test(entry) ||
        RANGE.test(entry) ||
        (entry.includes('/') && !isNetwork(entry)),
    );
    if (wrong !== undefined) {
      throw new InvalidValue(
        `"${wrong}" is not a host, domain or network`,
        SEPARATORS.test(wrong)
          ? `Separate entries with commas: ${wrong.split(SEPARATORS).map(readableEntry).join(',')}`
          : 'Use hosts and networks without schemes and spaces, for example .example.com,10.0.0.0/8',
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
