import {compare} from '../../charts/releases.ts';
import {isTooOld} from '../../charts/version-status.ts';
import {isKnown, knownValue} from '../../cluster/facts/fact.ts';
import {kubectlCommand, ownCommand} from '../../command-line.ts';
import {type Check, count, fail, pass, skip, warn} from '../check.ts';
import type {PreflightContext} from '../preflight-context.ts';

const OLDEST_HELM = '3.14.0';

const helm: Check = {
  id: 'helm-version',
  group: 'Tools',
  title: 'helm is new enough',
  ref: 'https://helm.sh/docs/topics/version_skew/',
  run({tools}) {
    if (!isKnown(tools.helm)) return fail(tools.helm.because, 'Install Helm 3.14 or newer, or say where it is with --helm');
    const {value} = tools.helm;
    return compare(value, OLDEST_HELM) < 0
      ? fail(`helm ${value} is older than 3.14`, 'Install Helm 3.14 or newer, or name another with --helm')
      : pass(`helm ${value}`);
  },
};

const kubectl: Check = {
  id: 'kubectl-version',
  group: 'Tools',
  title: 'kubectl fits the API server',
  ref: 'https://kubernetes.io/releases/version-skew-policy/#kubectl',
  run({tools, facts}) {
    if (!isKnown(tools.kubectl)) return fail(tools.kubectl.because, 'Install kubectl, or say where it is with --kubectl');
    const own = tools.kubectl.value;
    if (!isKnown(facts.versions.server))
      return skip(`kubectl ${own}; the version of the API server is unknown: ${facts.versions.server.because}`);
    const server = facts.versions.server.value;
    const apart = Math.abs(minorOf(own) - minorOf(server));
    return apart > 1
      ? warn(
          `kubectl ${own} and the API server ${server} are ${apart} minor versions apart; one is supported`,
          `Install kubectl 1.${minorOf(server)}, or name another with --kubectl`,
        )
      : pass(`kubectl ${own}, API server ${server}`);
  },
};

const minorOf = (version: string): number => Number(/^v?\d+\.(\d+)/.exec(version)?.[1]);

const reachable: Check = {
  id: 'cluster-reachable',
  group: 'Cluster',
  title: 'the API server answers',
  ref: 'https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/',
  run({tools, facts, context, name: {place}}) {
    if (!isKnown(tools.kubectl)) return skip('there is no kubectl to ask with');
    const {server: version} = facts.versions;
    const where = placeOf(context);
    if (isKnown(version)) return pass(`${where}Kubernetes ${version.value}`);
    if (version.unknown === 'forbidden') return pass(`${where}it keeps its version to itself`);
    return fail(
      `${where}${version.because}`,
      `Try: ${kubectlCommand(place, 'cluster-info')}; or name another cluster with --kube-context or --kubeconfig`,
    );
  },
};

function placeOf(context: PreflightContext['context']): string {
  const {name, cluster, server} = knownValue(context) ?? {};
  return [name && `context ${name}, `, cluster && `cluster ${cluster}, `, server && `${server}, `].filter(Boolean).join('');
}

const renders: Check = {
  id: 'chart-renders',
  group: 'Release',
  title: 'the chart can be fetched and rendered',
  ref: 'https://helm.sh/docs/helm/helm_template/',
  run({name, tools, target, manifest, refusal, facts}) {
    const what = `${target.chart} ${target.version}`;
    if (isKnown(manifest)) {
      const makes = `makes ${count(manifest.value.length, 'object')}`;
      if (refusal === undefined) return pass(`${what} ${makes}`);
      // The check server-version reports that the server is too old.
      return isTooOld(knownValue(facts.versions.server) ?? '', target)
        ? pass(`${what} ${makes} on a server that is new enough`)
        : fail(`${what}: ${refusal}`, 'Upgrade the cluster, or choose an older --chart-version');
    }
    if (!isKnown(tools.helm)) return skip('there is no helm to render it with');
    if (manifest.unknown === 'timed-out') return skip(`${what}: ${manifest.because}`, 'Give it more time with --timeout');
    return fail(
      `${what}: ${manifest.because}`,
      `Check --chart-version and --chart-source, and what is set with --set: ${ownCommand('values', name, '--explain')}`,
    );
  },
};

export const toolChecks: readonly Check[] = [helm, kubectl, reachable, renders];
