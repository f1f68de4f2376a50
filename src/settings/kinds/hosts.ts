import {InvalidValue, type Kind} from './kind.ts';
import {text} from './texts.ts';

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
