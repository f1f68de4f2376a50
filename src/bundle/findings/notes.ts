import type {Target} from '../../charts/define.ts';
import {cacheUseText, sumOfCacheUse} from '../../diagnose/cache-use.ts';
import type {Evidence, Finding} from '../../diagnose/finding.ts';
import type {LogRecord} from '../../diagnose/log-matcher.ts';
import {ownCommand} from '../../ground/command-line.ts';
import type {Values} from '../../ground/tree.ts';
import {isDebugOn} from '../../values/debug.ts';

// Notes: not problems, but support asks for them.

interface Installed {
  name: string;
  namespace: string;
  target: Target;
  values: Values | undefined;
}

/** Scalr support requires debug logs of the time of an incident. Pure. */
export function debugFindings({name, namespace, target, values}: Installed, places: Evidence): Finding[] {
  if (values === undefined || isDebugOn(values, target)) return [];
  return [
    {
      severity: 'info',
      code: 'DEBUG_OFF',
      object: `release/${name}`,
      message: 'Debug logs were off when this bundle was collected',
      ...places.inFile(`releases/${name}/values.json`),
      remedy: `If support asks for debug logs: ${ownCommand('debug', {release: name, place: {namespace}}, 'on')}, then repeat the run and collect a new bundle`,
    },
  ];
}

/** Cache use of runs according to their logs. Pure. */
export function cacheFindings(logs: readonly LogRecord[]): Finding[] {
  const logsWithCacheUse = logs.filter(({cacheUse}) => cacheUse !== undefined);
  const use = sumOfCacheUse(logsWithCacheUse.map(({cacheUse}) => cacheUse));
  if (use === undefined) return [];
  const isUsed = use.plugins.cached + use.modules.cached > 0;
  return [
    {
      severity: 'info',
      code: isUsed ? 'CACHE_USED' : 'CACHE_NOT_USED',
      object: 'runs',
      message: `${cacheUseText(use)}, in ${logsWithCacheUse.length} ${logsWithCacheUse.length === 1 ? 'log' : 'logs'}`,
      ...(logsWithCacheUse[0] === undefined ? {} : {evidence: logsWithCacheUse[0].file}),
      remedy: isUsed ? 'None: the cache works' : 'Keep the cache between runs with --cache, --provider-cache and --module-cache',
    },
  ];
}
