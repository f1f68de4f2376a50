import type {Place} from '../ports/place.ts';
import type {Processes} from '../ports/processes.ts';
import {type FoundReleases, findReleases} from './find-releases.ts';
import {patientTools, readTools, type Tools, type ToolVersions} from './tools.ts';

/** What can be asked before the API server is reached. */
export interface AskedTools {
  tools: Tools;
  releases: Promise<FoundReleases>;
  versions: Promise<ToolVersions>;
}

/** Starts them at once: each takes longer to start than to answer. */
export function askTools(place: Place, processes: Processes, over: AbortSignal): AskedTools {
  const tools = patientTools(processes, over);
  return {tools, releases: findReleases(place, tools, over), versions: readTools(place, tools, over)};
}
