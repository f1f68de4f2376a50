import {missesRuns} from '../../cluster/facts/policy-weakness.ts';
import type {KubernetesObject} from '../../cluster/objects.ts';
import {type PodTemplate, podTemplates} from '../../cluster/pod-specs.ts';
import {type ProbeObjects, probeLabels} from '../../cluster/probe.ts';
import {url as urlSetting} from '../../settings/agent.ts';
import {blocks} from '../checks/network/metadata.ts';
import {roleOf} from '../checks/nodes/pods.ts';
import type {Situation} from '../situation.ts';
import {probePod, speakerOf} from './probe-pod.ts';
import {proxyFor} from './proxy.ts';

/** A probe that could be made, with what its findings are judged by. */
export interface ProbePlan extends ProbeObjects {
  image: string;
  url: string | undefined;
  /** Without user and password. */
  proxy: string | undefined;
  hasCertificates: boolean;
  /** What stands in for what is not there yet. */
  notes: readonly string[];
}

interface Ask {
  there: ReadonlySet<string>;
  /** After which the pod ends, whoever looks. */
  seconds: number;
}

type About = Pick<Situation, 'name' | 'target' | 'get' | 'now'>;

/** What a probe consists of; undefined where the chart makes no pod for runs. Pure. */
export function planProbe(about: About, objects: readonly KubernetesObject[], {there, seconds}: Ask): ProbePlan | undefined {
  const {release} = about.name;
  const [template] = objects.filter((each) => roleOf(each, about.target.chart) === 'runs').flatMap(podTemplates);
  if (template === undefined) return undefined;
  const name = `${release}-probe-${about.now.getTime().toString(36)}`;
  const labels = probeLabels(release);
  const url = about.get(urlSetting);
  const {pod, data, hasCertificates, notes, env} = probePod(template, {
    ...{name, labels, objects, there, url, seconds},
    waitsForBlock: blocks(about),
  });
  const configMap = {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name, labels}, data};
  const proxy = url === undefined ? undefined : proxyFor(url, env);
  return {
    pod: name,
    objects: [...policiesFor(template, about, objects, name), ...(data ? [configMap] : []), pod],
    image: String(speakerOf(template)['image']),
    url,
    proxy: proxy?.replace(/^.*@/, ''),
    hasCertificates,
    notes,
  };
}

interface Policy extends KubernetesObject {
  spec?: {podSelector?: {matchLabels?: Readonly<Record<string, string>>}};
}

/** The policies of the chart that hold for runs, for the probe: they may not be there yet, and it has none of their labels. */
function policiesFor({metadata}: PodTemplate, about: About, objects: readonly KubernetesObject[], name: string): KubernetesObject[] {
  if (missesRuns(about.target)) return [];
  const labels = probeLabels(about.name.release);
  return (objects as readonly Policy[])
    .filter(({kind}) => kind === 'NetworkPolicy')
    .filter(({spec}) => Object.entries(spec?.podSelector?.matchLabels ?? {}).every(([key, value]) => metadata?.labels?.[key] === value))
    .map(({apiVersion = '', kind = '', spec}, index) => ({
      apiVersion,
      kind,
      metadata: {name: index === 0 ? name : `${name}-${index}`, labels},
      spec: {...spec, podSelector: {matchLabels: labels}},
    }));
}
