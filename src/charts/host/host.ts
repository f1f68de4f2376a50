import {failed} from '../../ground/errors.ts';
import {type SettingFinding, warningOf} from '../../ground/finding.ts';
import {setAt, type Values} from '../../ground/tree.ts';
import {
  secretAnnotation,
  secretLabel,
  tokenFile,
  tokenSecret,
  tokenSecretKey,
} from '../../settings/agent.ts';
import {cache, cachePath, efsHandle, efsMountOption} from '../../settings/cache.ts';
import {extraEnv, set, valuesFile} from '../../settings/chart-values.ts';
import {cloud, nodeOs} from '../../settings/cluster.ts';
import {type Get, spell} from '../../settings/define.ts';
import {serviceAccountAnnotation, serviceAccountName} from '../../settings/identity.ts';
import {
  agentImage,
  imagePullPolicy,
  imagePullSecret,
  imageRegistry,
  runnerImage,
} from '../../settings/images.ts';
import {
  acquireTimeout,
  gracePeriod,
  jobTtl,
  schedulingTimeout,
  writableRoot,
} from '../../settings/lifecycle.ts';
import {metadataService, workloadIdentity} from '../../settings/network.ts';
import {
  affinity,
  controllerAffinity,
  controllerNodeSelector,
  controllerToleration,
  mount,
  nodeSelector,
  podAnnotation,
  podLabel,
  sidecar,
  toleration,
} from '../../settings/placement.ts';
import {concurrency, isolation, load, singleRun} from '../../settings/purpose.ts';
import {chart, chartSource, chartVersion, namespace, release} from '../../settings/release.ts';
import type {Settings} from '../../settings/settings.ts';
import {controllerReplicas, controllerSize, runSize, workerSize} from '../../settings/size.ts';
import {dataHome, dataSize} from '../../settings/storage.ts';
import {
  caFile,
  caScope,
  caSecret,
  caSecretKey,
  clientCertFile,
  clientCertSecret,
  clientKeyFile,
} from '../../settings/tls.ts';
import {newestOf} from '../releases/target.ts';
import {optionMeantBy} from '../shared/agent-options.ts';
import {CLAIM_SETTINGS} from '../shared/cache-rows.ts';
import type {Refusal, RowSet, Scope} from '../shared/row.ts';
import {notSupported, readRows, rowsFor, unsupportedBy} from '../shared/support.ts';
import {containerRows, OWN_VARIABLES, serviceRows} from './rows.ts';

export const refusals: readonly Refusal[] = [
  {
    settings: [chart, chartSource, set, valuesFile, load],
    reason: 'Helm charts are only for Kubernetes',
  },
  {
    settings: [chartVersion],
    reason: 'Helm charts are only for Kubernetes, and the image has the version of the agent',
    use: [{setting: agentImage, value: 'scalr/agent:VERSION'}],
  },
  {
    settings: [namespace, cloud, nodeOs, serviceAccountName, serviceAccountAnnotation],
    reason: 'it is only for Kubernetes',
  },
  {
    settings: [tokenSecret, tokenSecretKey],
    reason: 'Kubernetes Secrets do not exist here, and the token is written to agent.env',
    use: [{setting: tokenFile}],
  },
  {settings: [secretLabel, secretAnnotation], reason: 'Kubernetes Secrets do not exist here'},
  {
    settings: [caSecret, caSecretKey],
    reason: 'Kubernetes Secrets do not exist here',
    use: [{setting: caFile}],
  },
  {
    settings: [clientCertSecret],
    reason: 'Kubernetes Secrets do not exist here',
    use: [{setting: clientCertFile}, {setting: clientKeyFile}],
  },
  {
    settings: [imagePullSecret],
    reason: 'Kubernetes Secrets do not exist here; run docker login on the machine',
  },
  {
    settings: [metadataService],
    reason:
      'Docker has no network policies; block 169.254.169.254 with the firewall of the machine, in the chain DOCKER-USER',
  },
  {
    settings: [workloadIdentity],
    reason:
      'pods and service accounts exist only in Kubernetes; use the identity of the machine, or credentials of Scalr',
  },
  {
    settings: [runnerImage],
    reason: 'in a shared container, runs execute in the agent image',
    use: [{setting: agentImage}],
  },
  {settings: [caScope], reason: 'in a shared container, runs have the CA bundle of the agent'},
  {
    settings: [cache],
    reason: 'the cache is a directory of the machine',
    use: [{setting: cache, value: 'hostpath'}],
  },
  {settings: [gracePeriod], reason: 'only times above 60 s have an effect'},
  {settings: [writableRoot], reason: 'access to the Docker socket requires root'},
  {
    settings: [imageRegistry],
    reason: 'the agent is installed from a package, and VCS agents start no other containers',
  },
  {
    settings: [...CLAIM_SETTINGS, efsHandle, efsMountOption, dataSize],
    reason: 'Kubernetes volumes do not exist here',
    use: [{setting: cachePath}, {setting: dataHome}],
  },
  {
    settings: [runSize.cpuRequest, runSize.memoryRequest],
    reason:
      'Docker reserves no resources; use limits, and a machine that is large enough for all runs',
  },
  {
    settings: [
      controllerReplicas,
      controllerNodeSelector,
      controllerToleration,
      controllerAffinity,
      ...Object.values(controllerSize),
    ],
    reason: 'there is no controller',
  },
  {
    settings: [nodeSelector, toleration, affinity],
    reason: 'there are no nodes to select',
  },
  {
    settings: [mount, sidecar, ...Object.values(workerSize)],
    reason: 'pods exist only in Kubernetes',
  },
  {settings: [podAnnotation], reason: 'containers have no annotations', use: [{setting: podLabel}]},
  {
    settings: [jobTtl, schedulingTimeout, acquireTimeout],
    reason: 'Jobs and run pods exist only in Kubernetes',
  },
  {settings: [singleRun], reason: 'each run already gets its own container'},
];

/** The agent is a service of the Linux packages. */
const serviceRefusals: readonly Refusal[] = [
  {settings: [release], reason: 'the service is always called scalr-agent'},
  {settings: [isolation], reason: 'the service always starts a container for each run'},
  {
    settings: [concurrency],
    reason: 'a machine has one agent service, which executes at most 5 runs; use more machines',
  },
  {
    settings: [agentImage, imagePullPolicy, podLabel],
    reason: 'the agent is installed from a package and does not run in a container',
  },
  ...refusals,
];

/** Where an agent runs without Kubernetes: in Docker, in Docker Compose, or as a service of a virtual machine. */
export const HOST_TARGETS = ['docker', 'compose', 'systemd'] as const;
export type HostTarget = (typeof HOST_TARGETS)[number];

const CONTAINER: RowSet = {rows: containerRows, refusals};
export const HOSTS: Readonly<Record<HostTarget, RowSet>> = {
  docker: CONTAINER,
  compose: CONTAINER,
  systemd: {rows: serviceRows, refusals: serviceRefusals},
};

/** The image of an agent on a machine has the version of the newest chart. */
export const hostScope = (get: Get): Scope => ({
  get,
  spell,
  version: newestOf('agent-local'),
  defaults: {},
});

/** @throws ExpectedError for explicit settings that the target does not support, and for variables that a setting writes */
export function refuseUnsupported(settings: Settings, target: HostTarget): void {
  const refused = unsupportedBy(HOSTS[target], target, settings, hostScope(settings.get));
  if (refused.length > 0)
    throw notSupported(
      refused,
      [],
      ['For an agent in Kubernetes, use scalr-agent install with --target kubernetes'],
    );
  const name = settings.get(release) ?? '';
  if (target !== 'systemd' && name.length === 1)
    throw failed(
      'INVALID_SETTING',
      `--release ${name} is too short: a Docker container name has at least two characters.`,
      ['Use a longer --release'],
    );
  const names = Object.keys(settings.get(extraEnv) ?? {});
  const secret = names.find((name) => formerName(name) === 'SCALR_AGENT_TOKEN');
  if (secret !== undefined) {
    throw failed(
      'RESERVED_VARIABLE',
      `${secret} cannot be set with --extra-env, because it is the agent pool token.`,
      ['Use --token-file, or set SCALR_AGENT_TOKEN'],
    );
  }
  for (const name of names) {
    const own = OWN_VARIABLES.get(name);
    if (own !== undefined)
      throw failed(
        'RESERVED_VARIABLE',
        `${name} cannot be set with --extra-env, because it has its own flag.`,
        [`Use ${spell(own)}`],
      );
  }
}

/** The current name of a variable that only older agents read. */
function formerName(name: string): string | undefined {
  const meant = optionMeantBy(name);
  return meant?.isOld ? meant.option.name : undefined;
}

/** The same warning as for values. */
const oldVariables = (settings: Settings): SettingFinding[] =>
  Object.keys(settings.get(extraEnv) ?? {}).flatMap((name) => {
    const current = formerName(name);
    if (current === undefined) return [];
    const own = OWN_VARIABLES.get(current);
    const message = `${name} is the old name of ${current}. Use ${own === undefined ? current : spell(own)}.`;
    return [warningOf('UNKNOWN_VARIABLE', message, extraEnv.id)];
  });

/** The settings as a tree, as rows of charts write values. */
export function hostTree(
  settings: Settings,
  target: HostTarget,
): {tree: Values; warnings: SettingFinding[]} {
  const scope = hostScope(settings.get);
  const tree: Values = {};
  const warnings: SettingFinding[] = oldVariables(settings);
  for (const {setting, answer} of settings.entries()) {
    for (const row of rowsFor(HOSTS[target], setting, answer.value, scope)) {
      for (const [path, value] of row.write(answer.value, scope)) setAt(tree, path, value);
      const message = settings.isExplicit(setting) ? row.partly?.(answer.value, scope) : undefined;
      if (message !== undefined)
        warnings.push(warningOf(row.code ?? 'PARTLY_SUPPORTED', message, setting.id));
    }
  }
  return {tree, warnings};
}

/** Reads settings from the tree: the inverse of what the rows write. */
export const readHostTree = (tree: Values, target: HostTarget): ReadonlyMap<string, unknown> =>
  readRows(HOSTS[target].rows, tree, hostScope).settings;
