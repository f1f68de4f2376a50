import fc from 'fast-check';
import {CHARTS} from '../../src/charts/charts.ts';
import {isReadAsString} from '../../src/ground/yaml-text.ts';
import type {Setting} from '../../src/settings/define.ts';
import type {RawFlags} from './settings-from.ts';

type Raw = fc.Arbitrary<string | string[] | boolean>;

const name = fc.stringMatching(/^[a-z][a-z0-9]{0,8}(-[a-z0-9]{1,5})?$/).filter(isReadAsString);
const size = fc
  .tuple(fc.integer({min: 1, max: 900}), fc.constantFrom('Mi', 'Gi'))
  .map(([n, unit]) => `${n}${unit}`);
const cpu = fc.oneof(
  fc.integer({min: 1, max: 64}).map(String),
  fc.integer({min: 50, max: 4000}).map((n) => `${n}m`),
);
const pair = fc.tuple(name, name).map(([key, value]) => `example.com/${key}=${value}`);
const toleration = fc.constantFrom(
  'dedicated=scalr:NoSchedule',
  'spot:NoExecute',
  'gpu=yes',
  'any',
);
const proxy = name.map((each) => `http://${each}.example.com:3128`);
const image = fc.tuple(name, name).map(([team, tag]) => `${team}/agent:${tag}`);
const text = fc.stringMatching(/^[ -~\n]{0,30}$/);

/** Example values for this hint. */
const BY_HINT: Readonly<Record<string, fc.Arbitrary<string>>> = {
  NAME: name,
  KEY: name,
  SIZE: size,
  CPU: cpu,
  IMAGE: image,
  SECONDS: fc.integer({min: 1, max: 9000}).map(String),
  N: fc.integer({min: 1, max: 500}).map(String),
  DIRECTORY: name.map((each) => `/data/${each}`),
  'HOST:PORT': name.map((each) => `${each}.example.com:4317`),
  'HOST[/PATH]': name.map((each) => `${each}.example.com/mirror`),
  URL: name.map((each) => `https://${each}.example.com/providers/`),
  JSON: name.map((each) => JSON.stringify({name: each, image: `example.com/${each}:1`})),
  'KIND/NAME:PATH': fc
    .tuple(fc.constantFrom('secret', 'configmap', 'pvc'), name, name)
    .map(([kind, each, path]) => `${kind}/${each}:/mnt/${path}`),
  OPTION: fc.constantFrom('acregmin=1', 'acdirmax=3', 'noresvport', 'tls'),
  'key=value': pair,
  'key=value:effect': toleration,
};

const AFFINITY = name.map((key) =>
  JSON.stringify({
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{matchExpressions: [{key, operator: 'Exists'}]}],
      },
    },
  }),
);

/** Settings whose values their hint does not describe. */
const BY_ID: Readonly<Record<string, Raw>> = {
  affinity: AFFINITY,
  'controller-affinity': AFFINITY,
  url: name.map((each) => `https://${each}.scalr.io`),
  'http-proxy': proxy,
  'https-proxy': proxy,
  'no-proxy': fc.constantFrom('.example.com,10.0.0.0/8', 'localhost,registry.example.com:5000', ''),
  'ca-file': fc.constantFrom('ca.pem', 'second-ca.pem', 'ca.der'),
  'cache-storage-class': fc.oneof(name, fc.constant('-')),
  'cache-sub-path': name,
  // The mount path of the cache, too.
  'data-home': fc.oneof(
    name.map((each) => `/data/${each}`),
    fc.constant('/var/lib/scalr-agent/cache'),
  ),
  'service-account-annotation': fc.uniqueArray(
    fc.oneof(
      pair,
      fc.constantFrom(
        'eks.amazonaws.com/role-arn=arn:aws:iam::123456789012:role/scalr',
        'eks.amazonaws.com/role-arn=scalr',
        'azure.workload.identity/client-id=scalr',
        'iam.gke.io/gcp-service-account=scalr',
      ),
    ),
    {minLength: 1, maxLength: 3, selector: (each) => each.split('=')[0]},
  ),
  'controller-replicas': fc.integer({min: 1, max: 10}).map(String),
  'efs-handle': fc.constant('fs-0123456789abcdef0::fsap-0123456789abcdef0'),
  'extra-env': fc.uniqueArray(
    fc
      .tuple(fc.constantFrom('AWS_REGION', 'TF_LOG', 'SCALR_AGENT_GREETING', 'TEXT'), text)
      .map(([key, value]) => `${key}=${value}`),
    {minLength: 1, selector: (each) => each.split('=')[0]},
  ),
};

/** Raw answers of a setting: its options, or values that match its hint; undefined if unknown. */
export function rawOf({id, kind: {options, isSwitch, list, hint}}: Setting): Raw | undefined {
  if (BY_ID[id] !== undefined) return BY_ID[id];
  if (options !== undefined) return fc.constantFrom(...options);
  if (isSwitch) return fc.boolean();
  const one = BY_HINT[hint];
  return list && one
    ? fc.uniqueArray(one, {minLength: 1, maxLength: 3, selector: (each) => each.split('=')[0]})
    : one;
}

/** All settings that a chart writes; test/settings/complete.test.ts requires raw answers for each. */
const WRITTEN: readonly Setting[] = [
  ...new Set(Object.values(CHARTS).flatMap(({rows}) => rows.map(({setting}) => setting))),
];

const RAW: ReadonlyMap<string, Raw> = new Map(
  WRITTEN.flatMap((setting) => {
    const raw = rawOf(setting);
    return raw === undefined ? [] : [[setting.id, raw] as const];
  }),
);

export const RAW_IDS = [...RAW.keys()];

/** A subset of these settings, always with the URL. */
export const rawSettings = (ids: readonly string[] = RAW_IDS): fc.Arbitrary<RawFlags> =>
  fc.record(Object.fromEntries(ids.map((id) => [id, RAW.get(id) as Raw])), {
    requiredKeys: ids.filter((id) => id === 'url'),
  }) as fc.Arbitrary<RawFlags>;
