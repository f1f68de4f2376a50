import type {LogRecord} from '../collect.ts';
import type {Prepared} from '../prepare.ts';
import type {Evidence} from './evidence.ts';
import type {Finding} from './finding.ts';
import {findingsIn} from './in-cluster.ts';
import {withLine} from './of-machine.ts';
import {policyFindings} from './policies.ts';
import {mistakes} from './values.ts';
import {versionFindings} from './versions.ts';

/** Everything that stands out, errors first. Pure. */
export function allFindings(
  {scope: {objects}, releases, cluster, skewMs = 0, ...prepared}: Prepared,
  namespace: string,
  places: Evidence,
  logs: readonly LogRecord[],
  now: Date,
): Finding[] {
  const ofReleases = releases.flatMap(({name, chart, version, values}) => {
    const target = {chart, version};
    return [
      ...mistakes({name, target, values}, places),
      ...versionFindings({name, namespace, target}, {server: cluster?.server, nodes: cluster?.nodes ?? []}, places),
      ...(cluster?.enforcement ? policyFindings({name, chart, version}, objects, cluster.enforcement, places) : []),
    ];
  });
  const ofMachine = (prepared.findings?.(logs, now) ?? []).map((finding) => withLine(finding, places));
  const theirNow = new Date(now.getTime() + skewMs);
  const found = [...findingsIn({objects, logs, places, now: theirNow}), ...ofReleases, ...ofMachine];
  return found.toSorted((one, other) => Number(other.severity === 'error') - Number(one.severity === 'error'));
}
