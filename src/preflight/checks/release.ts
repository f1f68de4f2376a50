import type {Check} from '../check.ts';
import {definition, leftDefinitions} from './release/definitions.ts';
import {objectNamesFree, releaseName} from './release/names.ts';
import {nodeData} from './release/node-data.ts';

/** What other releases there are, and what former ones left behind. */
export const releaseChecks: readonly Check[] = [releaseName, objectNamesFree, nodeData, definition, leftDefinitions];
