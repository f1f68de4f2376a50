type Env = readonly {name: string; value?: string}[];

/** The proxy through which a pod with these variables asks for an address; undefined where it asks directly. */
export function proxyFor(url: string, env: Env): string | undefined {
  const {protocol, hostname} = new URL(url);
  const of = (name: string): string =>
    [name.toUpperCase(), name].map((spelled) => env.find((each) => each.name === spelled)?.value).find(Boolean) ?? '';
  const isLeftOut = of('no_proxy')
    .split(',')
    .map((entry) => entry.trim().replace(/^\*?\./, ''))
    .some((entry) => entry !== '' && (entry === '*' || hostname === entry || hostname.endsWith(`.${entry}`)));
  return isLeftOut ? undefined : of(`${protocol.slice(0, -1)}_proxy`) || undefined;
}
