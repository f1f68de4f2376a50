import {compare} from './releases.ts';
import {type ChartName, chartSchema} from './schema.ts';
import {newestOf, releasesOf, WITHDRAWN} from './target.ts';

/** An installed version among those this program knows. */
export interface Standing {
  newestKnown: string;
  /** Releases after it. Of one that is older than all that are known it is the least there can be. */
  behind: number;
  standing: 'newest' | 'behind' | 'newer-than-known' | 'older-than-known' | 'withdrawn';
}

export function standingOf(chart: ChartName, version: string): Standing {
  const known = releasesOf(chart);
  const newestKnown = newestOf(chart);
  const behind = known.filter((each) => compare(each, version) > 0).length;
  const standing = (): Standing['standing'] => {
    if (WITHDRAWN[chart].includes(version)) return 'withdrawn';
    if (compare(version, newestKnown) > 0) return 'newer-than-known';
    if (compare(version, known[0] as string) < 0) return 'older-than-known';
    return behind === 0 ? 'newest' : 'behind';
  };
  return {newestKnown, behind, standing: standing()};
}

/** The agent that a release of the chart brings; undefined for one that this program does not know. */
export const agentVersionOf = (chart: ChartName, version: string): string | undefined =>
  chartSchema(chart)['x-releases'].find((each) => each.version === version)?.appVersion;
