import type {Target} from '../../src/charts/define.ts';
import {within} from '../../src/charts/releases.ts';
import type {ChartName} from '../../src/charts/schema.ts';
import {sameTree} from '../../src/charts/tree.ts';
import type {Rendered} from './render.ts';
import {type Container, type Role, variableOf} from './workloads.ts';

/** One thing that must hold in a rendered release. */
export interface Claim {
  what: string;
  is: unknown;
  should: unknown;
}

export const claim = (what: string, is: unknown, should: unknown): Claim => ({what, is, should});

/** The claims that do not hold, as sentences. */
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

/** What an operator says and what it must do in every chart version that takes it. */
export interface Case {
  name: string;
  settings: Flags | ((target: Target) => Flags);
  /** Versions that take the settings. Every other version, and every chart that is not named, must refuse them. */
  takenBy: Partial<Readonly<Record<ChartName, string>>>;
  /** Code of the refusal, where it is not UNSUPPORTED_SETTING. */
  refusal?: string;
  check(rendered: Rendered): Claim[];
}

export const settingsOf = ({settings}: Case, target: Target): Flags => (typeof settings === 'function' ? settings(target) : settings);

export const isTaken = ({takenBy}: Case, {chart, version}: Target): boolean => {
  const range = takenBy[chart];
  return range !== undefined && within(version, range);
};

export const EVERY_CHART = {'agent-k8s': '*', 'agent-local': '*', 'agent-job': '*'} as const;

/** From here on agent-job hands settings to the pods of runs; before it only its controller gets them. */
export const NESTED = '>=0.5.64';

export const isFlat = ({chart, version}: Target): boolean => chart === 'agent-job' && !within(version, NESTED);

/** The containers in which the agent itself works and reads its variables. */
export function agentRoles(target: Target): Role[] {
  if (target.chart === 'agent-local') return ['agent'];
  return isFlat(target) ? ['controller'] : ['controller', 'worker'];
}

/** Those and the container in which Terraform works, where the chart has one. */
export const allRoles = (target: Target): Role[] =>
  target.chart === 'agent-job' && !isFlat(target) ? [...agentRoles(target), 'runner'] : agentRoles(target);

/** Claims about every container of these roles; a role without a container is a broken claim itself. */
export const inEach = (rendered: Rendered, roles: readonly Role[], claims: (container: Container) => Claim[]): Claim[] =>
  roles.flatMap((role) => {
    const containers = rendered.containers(role);
    const named = (container: Container) => claims(container).map((each) => ({...each, what: `${each.what} of the ${role}`}));
    return containers.length === 0 ? [claim(`container of the ${role}`, 'missing', 'there')] : containers.flatMap(named);
  });

/** The variable has this value in every container of these roles. */
export const variableIn = (rendered: Rendered, roles: readonly Role[], name: string, value: string | undefined): Claim[] =>
  inEach(rendered, roles, (container) => [claim(name, variableOf(container, name), value)]);
