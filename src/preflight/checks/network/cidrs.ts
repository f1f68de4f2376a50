/** Address and prefix of an IPv4 network; undefined for anything else. */
function rangeOf(cidr: string): {from: number; prefix: number} | undefined {
  const [, address = '', prefix] = /^(\d+\.\d+\.\d+\.\d+)\/(\d+)$/.exec(cidr) ?? [];
  const bytes = address.split('.').map(Number);
  if (prefix === undefined || bytes.some((byte) => byte > 255) || Number(prefix) > 32) return undefined;
  return {from: bytes.reduce((sum, byte) => sum * 256 + byte, 0), prefix: Number(prefix)};
}

/** True where every address of the second network lies in the first; networks of IPv6 only when they are spelled alike. */
export function covers(outer: string, inner: string): boolean {
  const [one, other] = [rangeOf(outer), rangeOf(inner)];
  if (one === undefined || other === undefined) return outer.toLowerCase() === inner.toLowerCase();
  const size = 2 ** (32 - one.prefix);
  return one.prefix <= other.prefix && Math.floor(one.from / size) === Math.floor(other.from / size);
}
