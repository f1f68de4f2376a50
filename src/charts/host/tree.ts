import {ExitCode, ExpectedError, type Warning} from '../../ground/errors.ts';
import {setAt, type Values} from '../../ground/tree.ts';
import {type Setting, spell} from '../../settings/define.ts';
import {extraEnv} from '../../settings/escape-hatch.ts';
import {release, target as targetSetting} from '../../settings/release.ts';
import type {Settings} from '../../settings/settings.ts';
import type {Row, Scope} from '../define.ts';
import {within} from '../releases.ts';
import {newestOf} from '../target.ts';
import type {HostTarget} from './mode.ts';
import {whyRefusedOn} from './refusals.ts';
import {OWN_VARIABLES, rowsOf} from './rows.ts';

/** A variable of --extra-env must not replace one that a setting writes. @throws ExpectedError */
export function refuseOwnVariables(settings: Settings): void {
  const own = Object.keys(settings.get(extraEnv) ?? {}).find((name) => OWN_VARIABLES.has(name));
  if (own === undefined) return;
  throw new ExpectedError(`${own} cannot be set with --extra-env, because it has its own flag.`, {
    code: 'RESERVED_VARIABLE',
    exit: ExitCode.usage,
    suggestions: [`Use --${OWN_VARIABLES.get(own)}`],
  });
}

const scopeOf = ({get}: Pick<Settings, 'get'>): Scope => ({get, version: newestOf('agent-local'), defaults: {}});

const rowsFor = (target: HostTarget, setting: Setting, value: unknown, scope: Scope): Row[] =>
  rowsOf(target).filter(
    (each) =>
      each.setting === setting &&
      within(scope.version, each.in) &&
      (each.when?.(scope.get) ?? true) &&
      (each.accepts?.(value, scope) ?? true),
  );

/** @throws ExpectedError for explicit settings that the target does not support */
export function refuseUnsupported(settings: Settings, target: HostTarget): void {
  const scope = scopeOf(settings);
  const refused = settings.entries().filter(({setting, answer}) => {
    // The name of the container has no row.
    if (!settings.isExplicit(setting) || setting.id === targetSetting.id || (setting === release && target !== 'systemd')) return false;
    return rowsFor(target, setting, answer.value, scope).length === 0;
  });
  if (refused.length === 0) return;
  const flags = refused.map(({setting, answer}) => spellWithValue(setting, answer.value));
  throw new ExpectedError(
    refused
      .map(({setting}, index) => {
        const reason = whyRefusedOn(target, setting);
        return `${target} does not support ${flags[index]}${reason === undefined ? '' : `: ${reason}`}.`;
      })
      .join('\n'),
    {
      code: 'UNSUPPORTED_SETTING',
      exit: ExitCode.usage,
      suggestions: [`Remove ${flags.join(', ')}`, 'Install the agent into Kubernetes: scalr-agent install'],
    },
  );
}

function spellWithValue(setting: Setting, value: unknown): string {
  if (setting.kind.isSwitch) return value === false ? `--no-${setting.id}` : `--${setting.id}`;
  return setting.kind.options ? `${spell(setting)} ${value}` : spell(setting);
}

/** The settings as a tree, as rows of charts write values. */
export function hostTree(settings: Settings, target: HostTarget): {tree: Values; warnings: Warning[]} {
  const scope = scopeOf(settings);
  const tree: Values = {};
  const warnings: Warning[] = [];
  for (const {setting, answer} of settings.entries()) {
    for (const each of rowsFor(target, setting, answer.value, scope)) {
      for (const [path, value] of each.write(answer.value, scope)) setAt(tree, path, value);
      const message = settings.isExplicit(setting) ? each.partly?.(answer.value, scope) : undefined;
      if (message !== undefined) warnings.push({code: 'PARTLY_SUPPORTED', setting: setting.id, message});
    }
  }
  return {tree, warnings};
}

/** Reads settings from the tree: the inverse of what the rows write. */
export function readHostTree(tree: Values, target: HostTarget): ReadonlyMap<string, unknown> {
  const known = new Map<string, unknown>();
  const scope = scopeOf({get: <T>(setting: Setting<T>) => known.get(setting.id) as T | undefined});
  // A row may depend on a setting that comes later.
  for (const _ of [1, 2]) {
    for (const each of rowsOf(target)) {
      if (!(each.when?.(scope.get) ?? true)) continue;
      const value = each.read(tree, scope);
      if (value !== undefined) known.set(each.setting.id, value);
    }
  }
  return known;
}
