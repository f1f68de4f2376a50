import fc from 'fast-check';
import {staysText} from '../../src/settings/text.ts';
import type {RawFlags} from './settings-from.ts';

const name = fc.stringMatching(/^[a-z][a-z0-9]{0,8}(-[a-z0-9]{1,5})?$/).filter(staysText);
const size = fc.tuple(fc.integer({min: 1, max: 900}), fc.constantFrom('Mi', 'Gi')).map(([n, unit]) => `${n}${unit}`);
const cpu = fc.oneof(
  fc.integer({min: 1, max: 64}).map(String),
  fc.integer({min: 50, max: 4000}).map((n) => `${n}m`),
);
const pair = fc.tuple(name, name).map(([key, value]) => `example.com/${key}=${value}`);
const pairs = fc.uniqueArray(pair, {minLength: 1, maxLength: 3, selector: (text) => text.split('=')[0]});
const toleration = fc.constantFrom('dedicated=scalr:NoSchedule', 'spot:NoExecute', 'gpu=yes', 'any');
const directory = name.map((each) => `/data/${each}`);
const proxy = name.map((each) => `http://${each}.example.com:3128`);
const image = fc.tuple(name, name).map(([team, tag]) => `${team}/agent:${tag}`);
const text = fc.stringMatching(/^[ -~\n]{0,30}$/);

/** What an operator could type for each setting; `true` and `false` are the switch and its opposite. */
const RAW: Readonly<Record<string, fc.Arbitrary<string | string[] | boolean>>> = {
  url: name.map((each) => `https://${each}.scalr.io`),
  'token-secret': name,
  'token-secret-key': name,
  debug: fc.boolean(),
  'log-format': fc.constantFrom('json', 'plain', 'dev'),
  purpose: fc.constantFrom('runs', 'vcs'),
  isolation: fc.constantFrom('shared', 'per-run'),
  concurrency: fc.integer({min: 1, max: 500}).map(String),
  cloud: fc.constantFrom('gke', 'gke-autopilot', 'eks', 'aks', 'openshift', 'other'),
  'node-os': fc.constantFrom('cos', 'al2', 'al2023', 'bottlerocket', 'ubuntu', 'other'),
  'http-proxy': proxy,
  'https-proxy': proxy,
  'no-proxy': fc.constantFrom('.example.com,10.0.0.0/8', 'localhost,registry.example.com:5000', ''),
  'metadata-service': fc.constantFrom('block', 'allow'),
  'workload-identity': fc.constantFrom('none', 'gke', 'irsa', 'eks-pod-identity', 'azure'),
  'ca-file': fc.constantFrom('ca.pem', 'second-ca.pem', 'ca.der'),
  'ca-secret': name,
  'ca-secret-key': name,
  'ca-scope': fc.constantFrom('all', 'tasks'),
  'ca-public-roots': fc.boolean(),
  'client-cert-secret': name,
  cache: fc.constantFrom('ephemeral', 'pvc', 'existing-pvc', 'hostpath', 'efs'),
  'cache-claim': name,
  'cache-size': size,
  'cache-storage-class': fc.oneof(name, fc.constant('-')),
  'cache-access-mode': fc.constantFrom('ReadWriteOnce', 'ReadWriteMany', 'ReadWriteOncePod'),
  'cache-sub-path': name,
  'cache-path': directory,
  'data-home': directory,
  'data-size': size,
  'efs-handle': fc.constant('fs-0123456789abcdef0::fsap-0123456789abcdef0'),
  'provider-cache': fc.boolean(),
  'module-cache': fc.boolean(),
  'run-cpu-request': cpu,
  'run-cpu-limit': cpu,
  'run-memory-request': size,
  'run-memory-limit': size,
  'node-selector': pairs,
  'controller-node-selector': pairs,
  toleration: fc.uniqueArray(toleration, {minLength: 1}),
  'controller-toleration': fc.uniqueArray(toleration, {minLength: 1}),
  'service-account-name': name,
  'service-account-annotation': pairs,
  'image-registry': name.map((each) => `${each}.example.com/mirror`),
  'image-pull-secret': fc.uniqueArray(name, {minLength: 1, maxLength: 2}),
  'agent-image': image,
  'runner-image': image,
  'otel-endpoint': name.map((each) => `${each}.example.com:4317`),
  'otel-metrics': fc.boolean(),
  'otel-traces': fc.boolean(),
  'shutdown-mode': fc.constantFrom('graceful', 'drain', 'force'),
  'grace-period': fc.integer({min: 1, max: 9000}).map(String),
  'extra-env': fc.uniqueArray(
    fc.tuple(fc.constantFrom('AWS_REGION', 'TF_LOG', 'SCALR_AGENT_GREETING', 'TEXT'), text).map(([key, value]) => `${key}=${value}`),
    {
      minLength: 1,
      selector: (each) => each.split('=')[0],
    },
  ),
};

export const RAW_IDS = Object.keys(RAW);

/** Some of these settings, the address always among them. */
export const rawSettings = (ids: readonly string[] = RAW_IDS): fc.Arbitrary<RawFlags> =>
  fc.record(Object.fromEntries(ids.map((id) => [id, RAW[id] as fc.Arbitrary<string | string[] | boolean>])), {
    requiredKeys: ids.filter((id) => id === 'url'),
  }) as fc.Arbitrary<RawFlags>;
