import {isKnown} from '../../cluster/facts/fact.ts';
import {podSpecs} from '../../cluster/pod-specs.ts';
import {type Check, fail, pass, skip} from '../check.ts';
import {breaches, HOST_PATH, type Level} from '../pod-security.ts';
import {withoutHostPath} from './host-paths.ts';
import {skipped} from './outcomes.ts';

const exists: Check = {
  id: 'namespace',
  group: 'Namespace',
  title: 'the namespace is there or can be made',
  ref: 'https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/',
  test({readings: {namespaceObject}, name: {place}}) {
    if (!isKnown(namespaceObject)) return skip(namespaceObject.because);
    const found = namespaceObject.value;
    if (found === undefined) return pass(`${place.namespace} will be made`);
    return found.metadata.deletionTimestamp === undefined
      ? pass(`${place.namespace} is there`)
      : fail(
          `${place.namespace} is being deleted: nothing new can be made in it`,
          `Wait until it has gone (kubectl wait --for=delete namespace/${place.namespace}), or take another with --namespace`,
        );
  },
};

const LABEL = 'pod-security.kubernetes.io/enforce';
const LEVELS: readonly Level[] = ['restricted', 'baseline', 'privileged'];

const podSecurity: Check = {
  id: 'pod-security',
  group: 'Namespace',
  title: 'Pod Security lets the pods in',
  ref: 'https://kubernetes.io/docs/concepts/security/pod-security-standards/',
  test(situation) {
    const {facts, readings, manifest} = situation;
    const {place} = situation.name;
    if (!isKnown(manifest)) return skipped(manifest, 'What the chart makes is');
    const pods = manifest.value.flatMap((object) => podSpecs(object));
    const at = (level: Level): string[] => [...new Set(pods.flatMap((pod) => breaches(pod, level)))];
    const needed = LEVELS.find((level) => at(level).length === 0) as Level;
    const allow = `kubectl label namespace ${place.namespace} ${LABEL}=${needed} --overwrite`;
    const {podSecurity: level} = facts.policies;
    if (!isKnown(level)) {
      const {namespaceObject} = readings;
      if (needed === 'restricted') return pass('the pods keep the strictest level, restricted');
      if (!isKnown(namespaceObject)) return skip(namespaceObject.because);
      const make = namespaceObject.value === undefined ? `kubectl create namespace ${place.namespace} && ` : '';
      return needed === 'baseline'
        ? pass('the pods keep baseline, and no label asks for more')
        : skip(`the pods need privileged (${at('baseline').join(', ')}), and ${level.because}`, `Make sure of it: ${make}${allow}`);
    }
    const broken = at(level.value as Level);
    if (broken.length === 0) return pass(`${place.namespace} enforces ${level.value}, and the pods need ${needed}`);
    return fail(
      `${place.namespace} enforces ${level.value}, which refuses ${broken.join(', ')}`,
      broken.every((each) => each.startsWith(HOST_PATH))
        ? `${withoutHostPath(situation)}; or allow it: ${allow}`
        : `Allow it with: ${allow}`,
    );
  },
};

export const namespaceChecks: readonly Check[] = [exists, podSecurity];
