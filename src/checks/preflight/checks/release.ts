import {CHART_CHANGES, changeWithUpgrade} from '../../../charts/advise.ts';
import {isBelow} from '../../../charts/charts.ts';
import {scalrChart} from '../../../charts/releases/chart-name.ts';
import type {ScalrRelease} from '../../../cluster/platform/cluster-facts.ts';
import {ownCommand} from '../../../ground/command-line.ts';
import {knownValue} from '../../../ground/fact.ts';
import {changing} from '../../../ground/finding.ts';
import {few} from '../../../ground/text.ts';
import {agentImage} from '../../../settings/images.ts';
import {nodeSelector} from '../../../settings/placement.ts';
import {purpose} from '../../../settings/purpose.ts';
import {release} from '../../../settings/release.ts';
import {withValue} from '../../../settings/spelling.ts';
import {readValues} from '../../../values/reading/read-values.ts';
import {type Check, check} from './check.ts';
import {fail, ifKnown, notChecked, pass, warn} from './check-result.ts';
import {chartDefinition, leftDefinitions} from './crds.ts';
import {nodeData} from './node-data.ts';
import {objectOwners} from './object-owners.ts';
import {isThisRelease, RELEASES} from './other-releases.ts';

const releaseName = check('Release', 'release-name', 'Helm release', {
  ref: 'https://helm.sh/docs/helm/helm_upgrade/',
  run: (context) =>
    ifKnown(context.readings.releases, RELEASES, ({releases}) => {
      const {target, name} = context;
      const {namespace} = name.kubeTarget;
      const found = releases.find((each) => isThisRelease(each, context));
      if (found === undefined) return pass(`No release ${name.release} in ${namespace} yet`);
      const ours = scalrChart(found.chart);
      const text = `Release ${found.name} in ${namespace} is ${found.chart}`;
      if (ours === undefined)
        return fail(
          `${text}, which is not a Scalr agent. An upgrade would replace it`,
          changing`Use another name with ${release}`,
        );
      if (/^(pending-|uninstalling)/.test(found.status))
        return warn(
          `${text} with status ${found.status}: a Helm operation is in progress or was interrupted`,
          'Wait until the operation ends. If it was interrupted, scalr-agent install marks it as failed and continues',
        );
      if (ours.chart !== target.chart)
        return warn(
          `${text}. An install of ${target.chart} ${CHART_CHANGES.install}`,
          changeWithUpgrade(target.chart, ownCommand('upgrade', name)),
        );
      return pass(`${found.chart} in ${namespace}, ${found.status}`);
    }),
});

const OLDEST_AGENT = '0.45.0';

const agentVersion = check('Release', 'agent-version', 'Agent version', {
  ref: 'agent-local, README, "Prerequisites": Scalr Agent 0.45.0 or newer',
  run: ({get}) => {
    const image = get(agentImage);
    // Without a tag it is the one of the chart.
    if (image === undefined || !/:[^/]+$|@/.test(image)) return undefined;
    const version = /:v?(\d+\.\d+\.\d+)(?![^@])/.exec(image)?.[1];
    if (version === undefined)
      return notChecked(`Cannot read the agent version of ${image}: its tag is not a version`);
    return isBelow(version, OLDEST_AGENT)
      ? warn(
          `${image} is older than ${OLDEST_AGENT}, the oldest agent that the charts support`,
          changing`Use ${agentImage} with a newer tag, or remove it`,
        )
      : pass(`Agent ${version}`);
  },
});

/** Releases with unknown values are those of run agents, as most are. */
const isVcsRelease = ({chart, version, values}: ScalrRelease): boolean =>
  readValues(knownValue(values) ?? {}, {chart, version}).settings.get(purpose.id) === 'vcs';

const vcsSeparate = check('Release', 'vcs-separate', 'Separate clusters for VCS and run agents', {
  ref: 'https://docs.scalr.io/docs/agent-pools',
  run: (context) => {
    const isForVcs = context.get(purpose) === 'vcs';
    return ifKnown(context.facts.releases, 'list other agent releases', ({scope, releases}) => {
      const found = releases.filter(
        (each) => !isThisRelease(each, context) && isVcsRelease(each) !== isForVcs,
      );
      // Most clusters have no VCS agents, so nothing is said about them without a reason.
      if (!isForVcs && found.length === 0) return undefined;
      const others = found.map(({name, namespace, chart}) => `${namespace}/${name} (${chart})`);
      if (others.length > 0)
        return warn(
          `VCS agents must not share infrastructure with run agents. Releases of ${isForVcs ? 'run' : 'VCS'} agents in this cluster: ${few(others)}`,
          changing`Install VCS agents in another cluster, or on dedicated nodes: ${withValue(nodeSelector, 'KEY=VALUE')}`,
        );
      return scope === 'namespace'
        ? notChecked('Cannot list agent releases of other namespaces with your user')
        : pass(`No release of ${isForVcs ? 'run' : 'VCS'} agents in this cluster`);
    });
  },
});

export const releaseChecks: readonly Check[] = [
  releaseName,
  objectOwners,
  nodeData,
  chartDefinition,
  leftDefinitions,
  agentVersion,
  vcsSeparate,
];
