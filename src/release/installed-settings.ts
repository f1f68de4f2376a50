import type {Target} from '../charts/define.ts';
import {versionStatus} from '../charts/version-status.ts';
import {writtenSettings} from '../values/read-values.ts';
import type {ReleaseState} from './release-state.ts';

/** The settings in the values of an installed release, by ID; empty for a version that is too old to be read. Pure. */
export const installedSettings = ({values}: Pick<ReleaseState, 'values'>, target: Target): ReadonlyMap<string, unknown> =>
  versionStatus(target.chart, target.version).standing === 'older-than-known' ? new Map() : writtenSettings(values, target);
