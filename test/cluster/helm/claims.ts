import type {ChartName} from '../../../src/charts/releases/chart-name.ts';
import type {Target} from '../../../src/charts/releases/target.ts';
import {within} from '../../../src/charts/releases/versions.ts';
import {sameTree} from '../../../src/ground/tree.ts';
import type {Rendered} from './render.ts';
import {type Container, type Role, variableOf} from './workloads.ts';

/** An assertion about a rendered release. */
export interface Claim {
  what: string;
  is: unknown;
  should: unknown;
}

export const claim = (what: string, is: unknown, should: unknown): Claim => ({what, is, should});

/** Messages of the failed assertions. */
export const broken = (claims: readonly Claim[]): string[] =>
  claims
    .filter(({is, should}) => !sameTree(is, should))
    .map(({what, is, should}) => `${what} is ${spell(is)} and should be ${spell(should)}`);

function spell(value: unknown): string {
  const text = JSON.stringify(value) ?? 'absent';
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

/** Raw answers, keyed by setting. */
export type Flags = Readonly<Record<string, string | boolean | readonly string[]>>;

/** Settings, and their effect in every chart version that supports them. */
export interface Case {
  name: string;
  settings: Flags | ((target: Target) => Flags);
  /** Versions that support the settings. All other versions and charts must reject them. */
  takenBy: Partial<Readonly<Record<ChartName, string>>>;
  /** Error code of the rejection (default: UNSUPPORTED_SETTING). */
  refusal?: string;
  check(rendered: Rendered): Claim[];
}

export const settingsOf = ({settings}: Case, target: Target): Flags =>
  typeof settings === 'function' ? settings(target) : settings;

export const isTaken = ({takenBy}: Case, {chart, version}: Target): boolean => {
  const range = takenBy[chart];
  return range !== undefined && within(version, range);
};

export const EVERY_CHART = {'agent-k8s': '*', 'agent-local': '*', 'agent-job': '*'} as const;

/** From this version on, agent-job passes settings to run pods; earlier only to its controller. */
export const NESTED = '>=0.5.64';

export const isFlat = ({chart, version}: Target): boolean =>
  chart === 'agent-job' && !within(version, NESTED);

/** Containers of the agent, which read its variables. */
export function agentRoles(target: Target): Role[] {
  if (target.chart === 'agent-local') return ['agent'];
  return isFlat(target) ? ['controller'] : ['controller', 'worker'];
}

/** The same, and the container that runs Terraform if the chart has one. */
export const allRoles = (target: Target): Role[] =>
  target.chart === 'agent-job' && !isFlat(target)
    ? [...agentRoles(target), 'runner']
    : agentRoles(target);

/** Assertions about all containers of these roles; a role without a container fails. */
export const inEach = (
  rendered: Rendered,
  roles: readonly Role[],
  claims: (container: Container) => Claim[],
): Claim[] =>
  roles.flatMap((role) => {
    const containers = rendered.containers(role);
    const named = (container: Container) =>
      claims(container).map((each) => ({...each, what: `${each.what} of the ${role}`}));
    return containers.length === 0
      ? [claim(`container of the ${role}`, 'missing', 'there')]
      : containers.flatMap(named);
  });

/** All containers of these roles have the variable with this value. */
export const variableIn = (
  rendered: Rendered,
  roles: readonly Role[],
  name: string,
  value: string | undefined,
): Claim[] =>
  inEach(rendered, roles, (container) => [claim(name, variableOf(container, name), value)]);
