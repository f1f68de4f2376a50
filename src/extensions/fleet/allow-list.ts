import {type Endpoint, isInside} from '../../charts/endpoints.ts';

/** One host per line for a firewall or a proxy, as Squid (dstdomain) and AWS Network Firewall read it: a dot at its start includes every subdomain. */
export function allowListText(endpoints: readonly Endpoint[]): string {
  const outside = endpoints.filter((each) => !isInside(each));
  const required = domainsOf(outside.filter((each) => each.required));
  const optional = domainsOf(outside.filter((each) => !each.required)).filter(
    ({domain}) => !required.some((each) => covers(each.domain, domain)),
  );
  const ports = [...new Set(outside.map(({port}) => port))].toSorted((one, other) => one - other);
  return [
    `# Hosts that an agent connects to, outbound, TCP port ${ports.join(', ')}. Optional hosts are commented out.`,
    ...required.map(({domain}) => domain),
    ...optional.map(({domain, usage}) => `#${domain}  (${usage})`),
    '',
  ].join('\n');
}

interface Domain {
  domain: string;
  usage: string;
}

/** Without domains that another one includes: Squid rejects them. */
function domainsOf(endpoints: readonly Endpoint[]): Domain[] {
  const all = new Map(
    endpoints.map(({host, usage}) => [domainOf(host), {domain: domainOf(host), usage}]),
  );
  return [...all.values()].filter(
    ({domain}) => ![...all.keys()].some((other) => other !== domain && covers(other, domain)),
  );
}

/** What comes after the last * is a domain: sts.*.amazonaws.com -> .amazonaws.com */
const domainOf = (host: string): string => host.slice(host.lastIndexOf('*') + 1);

const covers = (domain: string, other: string): boolean =>
  domain === other ||
  (domain.startsWith('.') && (other.endsWith(domain) || other === domain.slice(1)));
