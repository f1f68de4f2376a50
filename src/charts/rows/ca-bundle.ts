import {rootCertificates} from 'node:tls';
import {caFile, caPublicRoots, caScope, caSecret, caSecretKey} from '../../settings/tls.ts';
import {asBase64, asText} from '../codecs.ts';
import type {Row} from '../define.ts';
import {at, getAt, type Values} from '../tree.ts';
import {implied, only, row, textKey, variable} from './row-kinds.ts';

const REPLACES = 'The bundle replaces the public roots: if it holds private CAs only, public registries cannot be reached.';
const PUBLIC_ROOTS = '# Public root certificates\n';

/** CA bundle as PEM at `<path>.caBundle` or in an existing Secret at `<path>.caBundleSecret`. */
export const caBundle = (path: string, range: string): Row[] => {
  const inline = at(`${path}.caBundle`);
  const secretKey = at(`${path}.caBundleSecret.key`);
  const pemIn = (values: Values): string | undefined => asText.read(getAt(values, inline) ?? '');
  return only({in: range}, [
    textKey(caSecret, `${path}.caBundleSecret.name`),
    row({
      ...textKey(caSecretKey, `${path}.caBundleSecret.key`),
      read: (values, {get}) => (get(caSecret) === undefined ? undefined : asText.read(getAt(values, secretKey) ?? '')),
    }),
    implied(caPublicRoots, (values) => pemIn(values)?.includes(PUBLIC_ROOTS)),
    implied(caScope, (values, {get}) => ((get(caSecret) ?? pemIn(values)) ? 'all' : undefined), {accepts: (scope) => scope === 'all'}),
    row({
      setting: caFile,
      paths: [inline],
      write: (pem, {get}) => [[inline, get(caPublicRoots) ? `${pem}${PUBLIC_ROOTS}${rootCertificates.join('\n')}\n` : pem]],
      read: (values) => pemIn(values)?.split(PUBLIC_ROOTS)[0],
      partly: (_, {get}) =>
        get(caPublicRoots) === undefined ? `${REPLACES} Add --ca-public-roots, or --no-ca-public-roots if that is meant.` : undefined,
    }),
  ]);
};

/** Linux passes no environment string longer than this to a process (MAX_ARG_STRLEN, execve(2)). */
const LONGEST_VARIABLE = 131_072;

/** CA bundle as base64 that ends in one environment variable of the agent; public roots do not fit into one. */
export const caVariable = (caRow: Row<string>): Row[] => [
  row({
    ...caRow,
    partly: (pem, scope) =>
      [
        caRow.partly?.(pem, scope),
        scope.get(caPublicRoots) === undefined
          ? `${REPLACES} They do not fit in here: put those that are needed into the file, or say --no-ca-public-roots.`
          : undefined,
      ]
        .filter(Boolean)
        .join(' ') || undefined,
    accepts: (pem) => String(asBase64.write(pem)).length + 64 < LONGEST_VARIABLE,
  }),
  row({
    ...implied(caPublicRoots, (values, scope) => (caRow.read(values, scope) === undefined ? undefined : false)),
    accepts: (asked) => !asked,
  }),
];

/** The same by way of the extra variables, where the agent and its runs share the bundle. */
export const caExtraVariable = (extra: Parameters<typeof variable<string>>[4] = {}): Row[] => [
  ...caVariable(variable(caFile, 'extraEnv', 'SCALR_AGENT_CA_CERT', asBase64, extra)),
  implied(caScope, (values) => (getAt(values, at('extraEnv.SCALR_AGENT_CA_CERT')) ? 'all' : undefined), {
    accepts: (scope) => scope === 'all',
  }),
];
