import {at, getAt, type Path, textAt, type Values} from '../../ground/tree.ts';
import {caFile, caPublicRoots, caScope, caSecret, caSecretKey} from '../../settings/tls.ts';
import {asBase64} from './codecs.ts';
import type {Row} from './row.ts';
import {implied, key, row, variable} from './row-kinds.ts';

const filledText = (values: Values, path: string | Path): string | undefined =>
  textAt(values, path) || undefined;

const REPLACES =
  'The CA bundle replaces the public root certificates. If it contains only private CAs, public registries cannot be reached.';
const PUBLIC_ROOTS = '# Public root certificates\n';

/** CA bundle as PEM at `<path>.caBundle` or in an existing Secret at `<path>.caBundleSecret`. */
export const caBundleRows = (path: string): Row[] => {
  const inline = at(`${path}.caBundle`);
  const secretKey = `${path}.caBundleSecret.key`;
  return [
    key(caSecret, `${path}.caBundleSecret.name`),
    row({
      ...key(caSecretKey, secretKey),
      read: (values, {get}) =>
        get(caSecret) === undefined ? undefined : filledText(values, secretKey),
    }),
    implied(caPublicRoots, (values) => filledText(values, inline)?.includes(PUBLIC_ROOTS), {
      from: [inline],
    }),
    implied(
      caScope,
      (values, {get}) => ((get(caSecret) ?? filledText(values, inline)) ? 'all' : undefined),
      {from: [inline], accepts: (scope) => scope === 'all'},
    ),
    row({
      setting: caFile,
      paths: [inline],
      write: (pem, {get}) => [
        [inline, get(caPublicRoots) ? `${pem}${PUBLIC_ROOTS}${publicRoots().join('\n')}\n` : pem],
      ],
      read: (values) => filledText(values, inline)?.split(PUBLIC_ROOTS)[0],
      code: 'CAUTION',
      partly: (_, {get, spell}) =>
        get(caPublicRoots) === undefined
          ? `${REPLACES} Add them with ${spell(caPublicRoots, true)}, or confirm it with ${spell(caPublicRoots, false)}.`
          : undefined,
    }),
  ];
};

/** Loaded only when they are written, because every command knows the rows. */
const publicRoots = (): readonly string[] => process.getBuiltinModule('node:tls').rootCertificates;

/** Linux passes no environment string longer than this to a process (MAX_ARG_STRLEN, execve(2)). */
const MAX_VARIABLE_BYTES = 131_072;

/** CA bundle as base64 in one environment variable of the agent, which is too small for public root certificates. */
export const caVariable = (caRow: Row<string>): Row[] => [
  row({
    ...caRow,
    code: caRow.partly === undefined ? 'CAUTION' : undefined,
    partly: (pem, scope) =>
      [
        caRow.partly?.(pem, scope),
        scope.get(caPublicRoots) === undefined
          ? `${REPLACES} The public root certificates do not fit in an environment variable. Add the required ones to the file. If only these CAs are needed, confirm it with ${scope.spell(caPublicRoots, false)}.`
          : undefined,
      ]
        .filter(Boolean)
        .join(' ') || undefined,
    accepts: (pem) => String(asBase64.write(pem)).length + 64 < MAX_VARIABLE_BYTES,
  }),
  implied(
    caPublicRoots,
    (values, scope) => (caRow.read(values, scope) === undefined ? undefined : false),
    {from: caRow.paths, accepts: (asked) => !asked},
  ),
];

/** CA bundle in the extra variables, shared by the agent and its runs. */
export const caExtraVariable = (options: Pick<Row<string>, 'partly'> = {}): Row[] => [
  ...caVariable(variable(caFile, {map: 'extraEnv', as: asBase64, ...options})),
  implied(
    caScope,
    (values) => (getAt(values, at('extraEnv.SCALR_AGENT_CA_CERT')) ? 'all' : undefined),
    {from: [at('extraEnv')], accepts: (scope) => scope === 'all'},
  ),
];
