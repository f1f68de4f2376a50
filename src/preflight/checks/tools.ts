import {isTooOld} from '../../charts/charts.ts';
import {compare} from '../../charts/releases.ts';
import {ownCommand} from '../../ground/command-line.ts';
import {isKnown, knownValue} from '../../ground/fact.ts';
import {count} from '../../ground/text.ts';
import {serverProblem, unreachableSteps} from '../../ground/unreachable.ts';
import {type Check, check, fail, pass, skip, warn} from '../check.ts';
import type {PreflightContext} from '../preflight-context.ts';

const OLDEST_HELM = '3.14.0';

const helm = check('Tools', 'helm-version', 'Helm version', {
  ref: 'https://helm.sh/docs/topics/version_skew/',
  run({tools}) {
    if (!isKnown(tools.helm)) return fail(tools.helm.because, 'Install Helm 3.14 or newer, or set its path with --helm');
    const {value} = tools.helm;
    return compare(value, OLDEST_HELM) < 0
      ? fail(`helm ${value} is older than 3.14`, 'Install Helm 3.14 or newer, or set another path with --helm')
      : pass(`helm ${value}`);
  },
});

const kubectl = check('Tools', 'kubectl-version', 'kubectl', {
  ref: 'https://kubernetes.io/releases/version-skew-policy/#kubectl',
  run({tools, facts}) {
    if (!isKnown(tools.kubectl)) return fail(tools.kubectl.because, 'Install kubectl, or set its path with --kubectl');
    const own = tools.kubectl.value;
    if (!isKnown(facts.versions.server)) return skip(`Cannot compare kubectl ${own} with the API server: ${facts.versions.server.because}`);
    const server = facts.versions.server.value;
    const apart = Math.abs(minorOf(own) - minorOf(server));
    return apart > 1
      ? warn(
          `kubectl ${own} and API server ${server} differ by ${apart} minor versions; at most one is supported`,
          `Install kubectl 1.${minorOf(server)}, or set another path with --kubectl`,
        )
      : pass(`kubectl ${own}, API server ${server}`);
  },
});

const minorOf = (version: string): number => Number(/^v?\d+\.(\d+)/.exec(version)?.[1]);

const reachable = check('Cluster', 'cluster-reachable', 'Kubernetes API', {
  ref: 'https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/',
  run({tools, facts, context, name: {kubeTarget}}) {
    if (!isKnown(tools.kubectl)) return skip('kubectl not found');
    const {server: version} = facts.versions;
    const where = placeOf(context);
    if (isKnown(version)) return pass(`${where}Kubernetes ${version.value}`);
    if (version.unknown === 'forbidden') return pass(`${where}server version not readable with this account`);
    return fail(`${where}${serverProblem(version)}`, unreachableSteps(version.because, kubeTarget).join('; '));
  },
});

function placeOf(context: PreflightContext['context']): string {
  const {name, cluster, server} = knownValue(context) ?? {};
  return [name && `context ${name}, `, cluster && `cluster ${cluster}, `, server && `${server}, `].filter(Boolean).join('');
}

const renders = check('Release', 'chart-renders', 'Chart download and rendering', {
  ref: 'https://helm.sh/docs/helm/helm_template/',
  run({name, tools, target, manifest, refusal, facts}) {
    const what = `${target.chart} ${target.version}`;
    if (isKnown(manifest)) {
      const creates = `creates ${count(manifest.value.length, 'object')}`;
      if (refusal === undefined) return pass(`${what} ${creates}`);
      // The check server-version reports that the server is too old.
      return isTooOld(knownValue(facts.versions.server) ?? '', target)
        ? pass(`${what} ${creates} on a supported Kubernetes version`)
        : fail(`${what}: ${refusal}`, 'Upgrade the cluster, or use an older --chart-version');
    }
    if (!isKnown(tools.helm)) return skip('helm not found');
    if (manifest.unknown === 'timed-out') return skip(`${what}: ${manifest.because}`, 'Increase --timeout');
    return fail(
      `${what}: ${manifest.because}`,
      `Check --chart-version, --chart-source and --set: ${ownCommand('values', name, '--explain')}`,
    );
  },
});

export const toolChecks: readonly Check[] = [helm, kubectl, reachable, renders];
