import {ExpectedError, type Warning} from '../../ground/errors.ts';
import {setAt, type Values} from '../../ground/tree.ts';
import type {Get} from '../../settings/define.ts';
import {extraEnv} from '../../settings/escape-hatch.ts';
import type {Settings} from '../../settings/settings.ts';
import {optionMeantBy} from '../agent-options.ts';
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
  const names = Object.keys(settings.get(extraEnv) ?? {});
  const secret = names.find((name) => formerName(name) === 'SCALR_AGENT_TOKEN');
  if (secret !== undefined) {
    throw new ExpectedError(`${secret} cannot be set with --extra-env, because it is the agent pool token.`, {
      code: 'RESERVED_VARIABLE',
      suggestions: ['Use --token-file, or set SCALR_AGENT_TOKEN'],
    });
  }
  const own = names.find((name) => OWN_VARIABLES.has(name));
  if (own === undefined) return;
  throw new ExpectedError(`${own} cannot be set with --extra-env, because it has its own flag.`, {
    code: 'RESERVED_VARIABLE',
    suggestions: [`Use --${OWN_VARIABLES.get(own)}`],
  });
}

/** The current name of a variable that only older agents read. */
function formerName(name: string): string | undefined {
  const meant = optionMeantBy(name);
  return meant?.isOld ? meant.option.name : undefined;
}

/** The same warning as for values. */
const oldVariables = (settings: Settings): Warning[] =>
  Object.keys(settings.get(extraEnv) ?? {}).flatMap((name) => {
    const current = formerName(name);
    const flag = current === undefined ? undefined : OWN_VARIABLES.get(current);
    const message = `${name} is the old name of ${current}. Use ${flag === undefined ? current : `--${flag}`}.`;
    return current === undefined ? [] : [{code: 'UNKNOWN_VARIABLE', setting: extraEnv.id, message}];
  });

/** The settings as a tree, as rows of charts write values. */
export function hostTree(settings: Settings, target: HostTarget): {tree: Values; warnings: Warning[]} {
  const scope = hostScope(settings.get);
  const tree: Values = {};
  const warnings: Warning[] = oldVariables(settings);
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
