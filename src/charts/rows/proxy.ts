import {httpProxy, httpsProxy, IN_CLUSTER, noProxy} from '../../settings/network.ts';
import {asText, type Codec} from '../codecs.ts';
import type {Row} from '../define.ts';
import {at, getAt} from '../tree.ts';
import {key, row, variable} from './row-kinds.ts';

/** NO_PROXY with the names inside the cluster added. */
const asNoProxy: Codec<string[]> = {
  write: (entries) => [...entries, ...IN_CLUSTER].join(','),
  read: (tree) => (typeof tree === 'string' && tree !== '' ? tree.split(',').filter((entry) => !IN_CLUSTER.includes(entry)) : undefined),
};

/** Proxy variables by way of a map of extra environment variables. */
export const proxyVariables = (map: string, partly?: string): Row[] => {
  const extra = partly === undefined ? {} : {partly: () => partly};
  return [
    variable(httpProxy, map, 'HTTP_PROXY', asText, extra),
    variable(httpsProxy, map, 'HTTPS_PROXY', asText, extra),
    variable(noProxy, map, 'NO_PROXY', asNoProxy),
  ];
};

/** Proxy keys below a switch, which exports nothing unless it is on. */
export const proxyKeys = (path: string): Row[] => {
  const enabled = at(`${path}.enabled`);
  return [
    key(httpProxy, `${path}.httpProxy`, asText),
    key(httpsProxy, `${path}.httpsProxy`, asText),
    key(noProxy, `${path}.noProxy`, asNoProxy),
  ].map((plain: Row) =>
    row({
      ...plain,
      paths: [...plain.paths, enabled],
      write: (value, scope) => [[enabled, true], ...plain.write(value, scope)],
      read: (values, scope) => (getAt(values, enabled) === true ? plain.read(values, scope) : undefined),
    }),
  );
};
