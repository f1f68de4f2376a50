import {gzipSync} from 'node:zlib';
import type {FakeObject} from './fake-kubernetes.ts';

interface Stored {
  name: string;
  namespace: string;
  /** Name and version together: agent-job-0.6.5 */
  chart: string;
  revision?: number;
  status?: string;
  values?: object;
  manifest?: string;
}

/** The Secret in which Helm keeps a revision. */
export function helmRecord({
  name,
  namespace,
  chart,
  revision = 1,
  status = 'deployed',
  values = {},
  manifest = '',
}: Stored): FakeObject {
  const [, chartName = chart, version = '1.0.0'] = /^(.+?)-(\d.*)$/.exec(chart) ?? [];
  const info = {status, last_deployed: '2026-11-22T12:00:00Z'};
  const release = {
    name,
    namespace,
    version: revision,
    info,
    chart: {metadata: {name: chartName, version}},
    config: values,
    manifest,
  };
  const packed = gzipSync(JSON.stringify(release)).toString('base64');
  const labels = {owner: 'helm', name, status, version: String(revision)};
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {name: `sh.helm.release.v1.${name}.v${revision}`, namespace, labels},
    data: {release: Buffer.from(packed).toString('base64')},
  } as FakeObject;
}

/** The ServiceAccount that the chart of a release makes. */
export const chartObject = ({
  name,
  namespace,
  chart,
}: Pick<Stored, 'name' | 'namespace' | 'chart'>): FakeObject => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: {
    name,
    namespace,
    labels: {'helm.sh/chart': chart},
    annotations: {'meta.helm.sh/release-name': name},
  },
});
