/** Number of providers and modules that runs installed, and that came from the cache. */
export interface CacheUse {
  plugins: Share;
  modules: Share;
}

interface Share {
  installed: number;
  cached: number;
}

/**
 * Log line of a run that installs providers and modules: `Initialized 8 modules in 4.12s (8 used from cache)`, or both in one line:
 * `Initialized 20 plugins and 3 modules in 6.09s (20 plugins used from cache)`.
 */
const LINE = /Initialized (\d+ (?:plugin|module)s?(?: and \d+ modules?)?) in [\d.]+ ?m?s(?: \(([^()\n]*?) used from cache\))?/g;

const noCacheUse = (): CacheUse => ({plugins: {installed: 0, cached: 0}, modules: {installed: 0, cached: 0}});

/** Sum over the lines of a log; undefined if there are none. Pure. */
export function cacheUseIn(log: string): CacheUse | undefined {
  const lines = [...log.matchAll(LINE)];
  if (lines.length === 0) return undefined;
  const sum = noCacheUse();
  for (const [, installed = '', cached = ''] of lines) {
    const only = /module/.test(installed) && !/plugin/.test(installed) ? 'modules' : 'plugins';
    for (const [kind, count] of countsIn(installed, only)) sum[kind].installed += count;
    for (const [kind, count] of countsIn(cached, only)) sum[kind].cached += count;
  }
  return sum;
}

/** `20 plugins and 3 modules`, or only a number, which counts the kind of the line. */
const countsIn = (text: string, about: keyof CacheUse): [kind: keyof CacheUse, count: number][] =>
  [...text.matchAll(/(\d+)(?: (plugin|module))?/g)].map(([, count, kind]) => [
    kind === undefined ? about : (`${kind}s` as keyof CacheUse),
    Number(count),
  ]);

/** Sum over several logs; undefined if no log has such lines. Pure. */
export function sumOfCacheUse(uses: readonly (CacheUse | undefined)[]): CacheUse | undefined {
  const found = uses.filter((use) => use !== undefined);
  if (found.length === 0) return undefined;
  const sum = noCacheUse();
  for (const use of found)
    for (const kind of ['plugins', 'modules'] as const) {
      sum[kind].installed += use[kind].installed;
      sum[kind].cached += use[kind].cached;
    }
  return sum;
}

/** 20 of 20 plugins and 8 of 8 modules used from the cache */
export function cacheUseText(use: CacheUse): string {
  const shares = (['plugins', 'modules'] as const)
    .filter((kind) => use[kind].installed > 0)
    .map((kind) => `${use[kind].cached} of ${use[kind].installed} ${kind}`);
  return `${shares.join(' and ') || 'no plugins or modules'} used from the cache`;
}
