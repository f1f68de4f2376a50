import {expect, test} from 'vitest';
import {catalogue} from '../../src/settings/catalogue.ts';

/** The names that users script against; the order is the one of the contract. */
const CONTRACT: Readonly<Record<string, string>> = {
  Release: 'chart chart-version chart-source namespace release',
  Agent: 'url token-file token-secret token-secret-key debug log-format',
  Purpose: 'purpose isolation concurrency',
  Cluster: 'cloud node-os',
  Network: 'http-proxy https-proxy no-proxy metadata-service workload-identity',
  TLS: 'ca-file ca-secret ca-secret-key ca-scope ca-public-roots client-cert-file client-key-file client-cert-secret',
  Storage:
    'cache cache-claim cache-size cache-storage-class cache-access-mode cache-sub-path cache-path data-home data-size efs-handle provider-cache module-cache',
  Size: 'run-cpu-request run-cpu-limit run-memory-request run-memory-limit',
  Placement: 'node-selector controller-node-selector toleration controller-toleration',
  Identity: 'service-account-name service-account-annotation',
  Images: 'image-registry image-pull-secret agent-image runner-image',
  Observability: 'otel-endpoint otel-metrics otel-traces',
  Lifecycle: 'shutdown-mode grace-period',
  'Escape hatch': 'set extra-env',
};

test('every setting of the contract is declared once, in its group', () => {
  const flags = catalogue.filter(({onlyEnv}) => onlyEnv === undefined);
  const declared = Object.keys(CONTRACT).map((group) => [group, flags.filter((each) => each.group === group).map(({id}) => id)]);
  expect(Object.fromEntries(declared)).toEqual(Object.fromEntries(Object.entries(CONTRACT).map(([group, ids]) => [group, ids.split(' ')])));
});

test('a raw token has a variable and neither flag nor answers key', () => {
  expect(catalogue.filter(({onlyEnv}) => onlyEnv).map(({id, env}) => [id, env])).toEqual([['token', 'SCALR_AGENT_TOKEN']]);
});

test.each(
  catalogue.map((setting) => [setting.id, setting] as const),
)('%s can be asked, explained and spelled as a variable', (id, setting) => {
  expect(setting.question.length).toBeGreaterThan(8);
  expect(setting.summary).toMatch(/\.$/);
  expect(setting.kind.jsonSchema).toBeTypeOf('object');
  if (!setting.onlyEnv) expect(setting.env).toBe(`SCALR_AGENT_INSTALL_${id.toUpperCase().replaceAll('-', '_')}`);
});
