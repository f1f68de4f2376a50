import type {Target} from './define.ts';
import {within} from './releases.ts';
import type {ChartName} from './schema.ts';

/** What an upgrade over some version does that nobody expects. */
interface UpgradeTrap {
  chart: ChartName;
  /** Of the version that is installed, and of the one that is to be. */
  from: string;
  to: string;
  /** Only a release of this name. */
  release?: string;
  text: string;
}

/** Tried with the released charts: the rules and traps of the chart facts (1.2 - 1.4, 6.3, T36 - T39). */
const TRAPS: readonly UpgradeTrap[] = [
  {
    chart: 'agent-job',
    from: '<=0.5.63',
    to: '>=0.5.64',
    text: 'almost every key of the values has another name from 0.5.64 on',
  },
  {
    chart: 'agent-job',
    from: '<=0.5.67',
    to: '>=0.5.68',
    text: 'its custom resource definition has another name, which helm upgrade does not bring and scalr-agent install does',
  },
  {
    chart: 'agent-job',
    from: '<=0.5.67',
    to: '>=0.5.68',
    text: 'what it keeps on a claim gets a new one from 0.5.68 on and the old one is deleted: annotate that with helm.sh/resource-policy=keep before, and name it with claimName',
  },
  {
    chart: 'agent-job',
    from: '0.5.64 - 0.5.67',
    to: '>=0.5.68',
    release: 'scalr-agent',
    text: 'the selector of Deployment scalr-agent changes, which Kubernetes refuses: delete it before the upgrade',
  },
  {
    chart: 'agent-local',
    from: '<=0.5.63',
    to: '>=0.5.64',
    text: 'data and cache are two volumes from 0.5.64 on, and persistence is about the cache only',
  },
  {
    chart: 'agent-local',
    from: '<=0.5.76',
    to: '>=0.6.1',
    text: 'the image has no aws, gcloud, az and kubectl from 0.6.1 on: name agent-runner with --agent-image where runs call them',
  },
  {
    chart: 'agent-k8s',
    from: '<=0.5.66',
    to: '>=0.5.67',
    text: 'agent.container_task_image_registry counts only in legacy mode from 0.5.67 on, and SCALR_AGENT_CONTAINER_TASK_IMAGE in extraEnv comes out twice',
  },
];

/** What to mind on the way from one version of a chart to another. */
export const upgradeTraps = (release: string, from: Target, to: string): string[] =>
  TRAPS.filter(
    (trap) =>
      trap.chart === from.chart &&
      within(from.version, trap.from) &&
      within(to, trap.to) &&
      (trap.release === undefined || trap.release === release),
  ).map(({text}) => text);
