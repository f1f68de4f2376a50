import type {ClusterFacts} from '../../../cluster/facts/cluster-facts.ts';
import {knownValue} from '../../../cluster/facts/fact.ts';
import {workloadIdentity} from '../../../settings/network.ts';
import {type Check, fail, type Outcome, pass, skip, warn} from '../../check.ts';
import type {Situation} from '../../situation.ts';
import {NO_NODE_FOR_RUNS, nodesForRuns} from '../nodes/pods.ts';
import {count, few, ifKnown} from '../outcomes.ts';
import {blocks, ENFORCED} from './metadata.ts';

/** GKE marks the nodes whose pods get their identity from its own metadata server. */
const GKE_LABEL = 'iam.gke.io/gke-metadata-server-enabled';
const GKE = ['gke', 'gke-autopilot'];
const EKS_AGENT = 'eks-pod-identity-agent';

const isOf = (facts: ClusterFacts, clouds: readonly string[], conclude: (cloud: string) => Outcome): Outcome =>
  ifKnown(facts.platform.cloud, 'The provider of the cluster is', (cloud, source) =>
    clouds.includes(cloud)
      ? conclude(cloud)
      : warn(
          `The cluster is no ${(clouds[0] as string).toUpperCase()} but ${cloud} (${source}), where nothing of the kind comes with it`,
          'Use the --workload-identity of this provider, or none',
        ),
  );

const onGke = (situation: Situation): Outcome =>
  isOf(situation.facts, GKE, (cloud) => {
    if (cloud === 'gke-autopilot') return pass('Autopilot has Workload Identity on every node');
    return ifKnown(nodesForRuns(situation), 'The nodes that take runs are', (nodes) => {
      if (nodes.length === 0) return skip(NO_NODE_FOR_RUNS);
      const without = nodes.filter(({labels}) => labels[GKE_LABEL] !== 'true').map(({name, pool}) => pool ?? name);
      if (without.length === 0) return pass(`${count(nodes.length, 'node')} for runs with ${GKE_LABEL}`);
      const pools = [...new Set(without)];
      return fail(
        `Nodes of ${few(pools)} have no ${GKE_LABEL}: runs there get the identity of the node`,
        `Switch it on: gcloud container node-pools update ${pools[0]} --workload-metadata GKE_METADATA; or keep runs away with --node-selector ${GKE_LABEL}=true`,
      );
    });
  });

const podIdentity = ({facts, readings}: Situation): Outcome =>
  isOf(facts, ['eks'], () =>
    ifKnown(facts.platform.flavour, 'The flavour of EKS is', (flavour) => {
      if (flavour === 'auto-mode') return pass('EKS Auto Mode has the agent of Pod Identity built in');
      return ifKnown(readings.daemonSets, 'DaemonSets are', (sets) =>
        sets.some(({metadata}) => metadata.name === EKS_AGENT)
          ? pass(`DaemonSet ${EKS_AGENT}`)
          : fail(
              `No DaemonSet ${EKS_AGENT} runs here, so runs get no credentials`,
              'Install the add-on: aws eks create-addon --addon-name eks-pod-identity-agent --cluster-name CLUSTER',
            ),
      );
    }),
  );

const MECHANISMS: Readonly<Record<string, (situation: Situation) => Outcome>> = {
  gke: onGke,
  'eks-pod-identity': podIdentity,
  irsa: ({facts}) => isOf(facts, ['eks'], () => pass('EKS gives pods the token of their role itself')),
  azure: ({facts}) =>
    isOf(facts, ['aks'], () => skip('AKS brings Workload Identity where its add-on is on, which does not show in what is read here')),
};

export const identityMechanism: Check = {
  id: 'workload-identity',
  group: 'Network',
  title: 'the cluster hands out the identities that runs get their credentials with',
  ref: 'https://cloud.google.com/kubernetes-engine/docs/how-to/workload-identity, https://docs.aws.amazon.com/eks/latest/userguide/pod-identities.html',
  test: (situation) => MECHANISMS[situation.get(workloadIdentity) ?? 'none']?.(situation),
};

/** The block together with the setting is refused with the values, so this is about who gave neither. */
export const metadataIdentity: Check = {
  id: 'metadata-identity',
  group: 'Network',
  title: 'runs reach Workload Identity where the nodes have it',
  ref: 'https://cloud.google.com/kubernetes-engine/docs/concepts/workload-identity',
  test: (situation) => {
    const {facts, get} = situation;
    const cloud = knownValue(facts.platform.cloud);
    if (!blocks(situation) || get(workloadIdentity) !== undefined || cloud === undefined || !GKE.includes(cloud)) return undefined;
    return ifKnown(nodesForRuns(situation), 'The nodes that take runs are', (nodes) => {
      const isThere = cloud === 'gke-autopilot' || nodes.some(({labels}) => labels[GKE_LABEL] === 'true');
      if (!isThere) return pass('no node for runs has it');
      return ifKnown(facts.networkPolicies.areEnforced, ENFORCED, (enforced, why) =>
        enforced
          ? warn(
              `The nodes have Workload Identity, and the metadata block keeps runs from it (${why}): they get no credentials of Google that way`,
              'Say whether runs use it: --workload-identity gke, which opens the metadata service, or --workload-identity none',
            )
          : pass(`nothing enforces the block (${why})`),
      );
    });
  },
};
