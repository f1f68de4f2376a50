import {ExpectedError, type Warning} from '../../ground/errors.ts';
import {setAt, type Values} from '../../ground/tree.ts';
import type {Get} from '../../settings/define.ts';
import {extraEnv} from '../../settings/escape-hatch.ts';
import type {Settings} from '../../settings/settings.ts';
import type {Described, Scope} from '../define.ts';
import {notSupported, readRows, rowsFor, unsupportedBy} from '../support.ts';
import {newestOf} from '../target.ts';
import {refusals, serviceRefusals} from './refusals.ts';
import {containerRows, OWN_VARIABLES, serviceRows} from './rows.ts';

/** Where an agent runs without Kubernetes: in Docker, in Docker Compose, or as a service of a virtual machine. */
export const HOST_TARGETS = ['docker', 'compose', 'systemd'] as const;
export type HostTarget = (typeof HOST_TARGETS)[number];

const CONTAINER: Described = {rows: containerRows, refusals};
export const HOSTS: Readonly<Record<HostTarget, Described>> = {
  docker: CONTAINER,
  compose: CONTAINER,
  systemd: {rows: serviceRows, refusals: serviceRefusals},
};

/** The image of an agent on a machine has the version of the newest chart. */
export const hostScope = (get: Get): Scope => ({get, version: newestOf('agent-local'), defaults: {}});

/** @throws ExpectedError for explicit settings that the target does not support, and for variables that a setting writes */
export function refuseUnsupported(settings: Settings, target: HostTarget): void {
  const refused = unsupportedBy(HOSTS[target], target, settings, hostScope(settings.get));
  if (refused.length > 0) throw notSupported(refused, [], ['Install the agent into Kubernetes: scalr-agent install']);
  const own = Object.keys(settings.get(extraEnv) ?? {}).find((name) => OWN_VARIABLES.has(name));
  if (own === undefined) return;
  throw new ExpectedError(`${own} cannot be set with --extra-env, because it has its own flag.`, {
    code: 'RESERVED_VARIABLE',
    suggestions: [`Use --${OWN_VARIABLES.get(own)}`],
  });
}

/** The settings as a tree, as rows of charts write values. */
export function hostTree(settings: Settings, target: HostTarget): {tree: Values; warnings: Warning[]} {
  const scope = hostScope(settings.get);
  const tree: Values = {};
  const warnings: Warning[] = [];
  for (const {setting, answer} of settings.entries()) {
    for (const row of rowsFor(HOSTS[target], setting, answer.value, scope)) {
      for (const [path, value] of row.write(answer.value, scope)) setAt(tree, path, value);
      const message = settings.isExplicit(setting) ? row.partly?.(answer.value, scope) : undefined;
      if (message !== undefined) warnings.push({code: 'PARTLY_SUPPORTED', setting: setting.id, message});
    }
  }
  return {tree, warnings};
}

/** Reads settings from the tree: the inverse of what the rows write. */
export const readHostTree = (tree: Values, target: HostTarget): ReadonlyMap<string, unknown> =>
  readRows(HOSTS[target].rows, tree, hostScope).settings;
