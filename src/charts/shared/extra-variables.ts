import {at} from '../../ground/tree.ts';
import {extraEnv} from '../../settings/chart-values.ts';
import {mapAt} from './pod-rows.ts';
import type {Row} from './row.ts';
import {row} from './row-kinds.ts';

interface VariableMap {
  path: string;
  /** Filter for variable names (default: all). */
  takes?: (name: string) => boolean;
}

/** Extra variables of the agent, without those that have a setting. */
export const extraVariables = (
  maps: readonly VariableMap[],
  {
    own = VARIABLES_OF_SETTINGS,
    ...options
  }: Pick<Row<object>, 'partly'> & {own?: ReadonlyMap<string, string>} = {},
): Row =>
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
      const free = found.filter(([name, value]) => typeof value === 'string' && !own.has(name)) as [
        string,
        string,
      ][];
      return free.length === 0
        ? undefined
        : Object.fromEntries(free.toSorted(([one], [other]) => (one < other ? -1 : 1)));
    },
    ...options,
  });

/** Variables that have their own setting, so they cannot be set twice. */
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
  ['SCALR_AGENT_PROVIDER_CACHE_SIZE_LIMIT_MB', 'provider-cache-limit'],
  ['SCALR_AGENT_MODULE_CACHE_ENABLED', 'module-cache'],
  ['SCALR_AGENT_MODULE_CACHE_SIZE_LIMIT_MB', 'module-cache-limit'],
  ['SCALR_AGENT_SINGLE', 'single-run'],
  ['SCALR_AGENT_CONCURRENCY', 'concurrency'],
]);
