import type {Target} from './define.ts';
import {compare, within} from './releases.ts';
import {type ChartName, schemaOf} from './schema.ts';

export interface Floor {
  /** 1.35 */
  version: string;
  /** Without it the install or its runs fail; else the README asks for it and nothing checks. */
  isHard: boolean;
  because: string;
}

const IMAGE_VOLUMES = 'runs mount the agent image as a volume, which Kubernetes can since 1.35';
const README = 'its README asks for it, and nothing checks';

const FLOORS: Readonly<Record<ChartName, readonly (Floor & {in: string})[]>> = {
  'agent-k8s': [{in: '>=0.5.67', version: '1.29', isHard: false, because: README}],
  'agent-local': [{in: '>=0.5.64', version: '1.33', isHard: false, because: README}],
  'agent-job': [
    {in: '0.5.64 - 0.5.68', version: '1.33', isHard: false, because: README},
    {in: '>=0.5.69', version: '1.35', isHard: true, because: IMAGE_VOLUMES},
  ],
};

/** The oldest Kubernetes that a chart version works with; undefined where it names none. */
export function floorOf(target: Target): Floor | undefined {
  const documented = FLOORS[target.chart].find((each) => within(target.version, each.in));
  const enforced = enforcedBy(target);
  return enforced !== undefined && (documented === undefined || isBelow(documented.version, enforced))
    ? {version: enforced, isHard: true, because: 'its kubeVersion asks for it, and helm refuses less'}
    : documented;
}

/** What Chart.yaml asks for; helm itself judges anything but a plain lower bound. */
function enforcedBy(target: Target): string | undefined {
  const release = schemaOf(target)['x-releases'].find(({version}) => version === target.version);
  return /^>=\s*v?(\d+\.\d+)/.exec(release?.kubeVersion ?? '')?.[1];
}

/** As providers spell them: v1.34.1-gke.2541000 */
export const isBelow = (version: string, floor: string): boolean => compare(minorOf(version), floor) < 0;

/** The install or its runs fail on a server of that version, as the check of the server says. */
export function isTooOld(server: string, target: Target): boolean {
  const floor = floorOf(target);
  return floor?.isHard === true && isVersion(server) && isBelow(server, floor.version);
}

export const isVersion = (text: string): boolean => /^v?\d+\.\d+\./.test(text);

const minorOf = (version: string): string => version.replace(/^v/, '').split('.').slice(0, 2).join('.');
