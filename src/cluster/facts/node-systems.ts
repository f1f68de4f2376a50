import {type Fact, follow, known, unknown} from './fact.ts';
import type {Readings} from './readings.ts';
import {workersIn} from './usable-nodes.ts';

export interface NodeSystem {
  /** cos, al2, al2023, bottlerocket, ubuntu, rhcos, azure-linux, talos, flatcar, debian, windows or other */
  system: string;
  osImage: string;
  nodes: number;
}

export interface NodeSystems {
  all: Fact<readonly NodeSystem[]>;
  /** The setting `node-os` for the nodes that take runs; unknown where these differ. */
  ofWorkers: Fact<string>;
}

/** How the systems name themselves in status.nodeInfo.osImage. */
const SYSTEMS: readonly [system: string, osImage: RegExp][] = [
  ['cos', /^Container-Optimized OS/],
  ['al2023', /^Amazon Linux 2023/],
  ['al2', /^Amazon Linux 2\b/],
  ['bottlerocket', /^Bottlerocket/],
  ['ubuntu', /^Ubuntu/],
  ['rhcos', /^Red Hat Enterprise Linux CoreOS/],
  ['azure-linux', /^(CBL-Mariner|(Microsoft )?Azure Linux)/],
  ['talos', /^Talos /],
  ['flatcar', /^Flatcar/],
  ['debian', /^Debian/],
  ['windows', /^Windows/],
];

/** What the setting has a word of its own for. */
const OF_SETTING: ReadonlySet<string> = new Set(['cos', 'al2', 'al2023', 'bottlerocket', 'ubuntu']);

const systemOf = (osImage: string): string => SYSTEMS.find(([, pattern]) => pattern.test(osImage))?.[0] ?? 'other';

export function nodeSystemsOf({nodes}: Pick<Readings, 'nodes'>): NodeSystems {
  const source = 'nodes, status.nodeInfo.osImage';
  const all = follow(nodes, (every): Fact<NodeSystem[]> => {
    const counts = new Map<string, number>();
    for (const {status} of every) {
      const image = status?.nodeInfo?.osImage ?? '';
      counts.set(image, (counts.get(image) ?? 0) + 1);
    }
    return known(
      [...counts].map(([osImage, count]) => ({system: systemOf(osImage), osImage, nodes: count})),
      source,
    );
  });
  const ofWorkers = follow(nodes, (every): Fact<string> => {
    const systems = [...new Set(workersIn(every).map(({status}) => systemOf(status?.nodeInfo?.osImage ?? '')))];
    const [system] = systems;
    if (system === undefined) return unknown('undetermined', 'there are no nodes for runs');
    if (systems.length > 1) return unknown('undetermined', `the nodes differ: ${systems.join(', ')}`);
    return known(OF_SETTING.has(system) ? system : 'other', source);
  });
  return {all, ofWorkers};
}
