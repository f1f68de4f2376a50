import {extraEnv} from '../../settings/escape-hatch.ts';
import type {Row} from '../define.ts';
import {at, getAt, isMap} from '../tree.ts';
import {row} from './row-kinds.ts';

interface VariableMap {
  path: string;
  /** Which names belong into this map; every one if absent. */
  takes?: (name: string) => boolean;
}

/** Extra variables of the agent; the ones that have a setting are left to its row. */
export const extraVariables = (maps: readonly VariableMap[], partly?: string): Row =>
  row({
    setting: extraEnv,
    paths: maps.map(({path}) => at(path)),
    write: (given) =>
      maps.flatMap(({path, takes = () => true}) =>
        Object.entries(given)
          .filter(([name]) => takes(name))
          .map(([name, value]) => [[...at(path), name], value] as const),
      ),
    read: (values) => {
      const found = maps.flatMap(({path}) => Object.entries(mapAt(values, path)));
      const free = found.filter(([name, value]) => typeof value === 'string' && !VARIABLES_OF_SETTINGS.has(name)) as [string, string][];
      return free.length === 0 ? undefined : Object.fromEntries(free.toSorted(([one], [other]) => (one < other ? -1 : 1)));
    },
    ...(partly === undefined ? {} : {partly: () => partly}),
  });

function mapAt(values: Parameters<Row['read']>[0], path: string): object {
  const map = getAt(values, at(path));
  return isMap(map) ? map : {};
}

/** Variables that have a setting of their own: two sources for one name would race. */
export const VARIABLES_OF_SETTINGS: ReadonlyMap<string, string> = new Map([
  ['HTTP_PROXY', 'http-proxy'],
  ['HTTPS_PROXY', 'https-proxy'],
  ['NO_PROXY', 'no-proxy'],
  ['SCALR_URL', 'url'],
  ['SCALR_AGENT_TOKEN', 'token-file'],
  ['SCALR_AGENT_DEBUG', 'debug'],
  ['SCALR_AGENT_LOG_FORMAT', 'log-format'],
  ['SCALR_AGENT_CA_CERT', 'ca-file'],
  ['SSL_CERT_FILE', 'ca-file'],
  ['SCALR_AGENT_TLS_CERT_FILE', 'client-cert-file'],
  ['SCALR_AGENT_TLS_KEY_FILE', 'client-key-file'],
  ['SCALR_AGENT_OTLP_ENDPOINT', 'otel-endpoint'],
  ['SCALR_AGENT_OTLP_METRICS_ENABLED', 'otel-metrics'],
  ['SCALR_AGENT_OTLP_TRACES_ENABLED', 'otel-traces'],
  ['SCALR_AGENT_PROVIDER_CACHE_ENABLED', 'provider-cache'],
  ['SCALR_AGENT_MODULE_CACHE_ENABLED', 'module-cache'],
  ['SCALR_AGENT_CONCURRENCY', 'concurrency'],
]);
