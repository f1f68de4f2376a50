import {readHostTree} from '../../charts/host/host.ts';
import {leafPaths, type Path, sameTree, spellPath, type Values, withoutLeaves} from '../../ground/tree.ts';
import {splitImage} from '../../settings/addresses.ts';
import {type Change, changeOf} from '../../values/migrate/change.ts';
import type {Variables} from '../variables.ts';
import type {HostConfiguration} from './read-host.ts';

interface Found {
  tree: Values;
  /** By their current names. */
  variables: Variables;
  /** The spelling of the user. */
  spelling(name: string): string;
}

/** Options of the machine that no setting expresses. */
export const lostOptions = ({agents, target}: HostConfiguration, {tree, variables, spelling}: Found): Change[] => [
  ...[...new Set(agents.flatMap(({unread = []}) => unread))].map((name) =>
    lost(name, 'no setting expresses it', 'Check whether pods need it, and set it in the new file'),
  ),
  ...unreadIn(tree, target).map((path) => lost(spelling(spellPath(path)), 'it applies to the container or service of the agent only')),
  ...versionOf(agents[0]?.image),
  ...secondBundle(variables, spelling),
];

const lost = (name: string, reason: string, remedy?: string): Change =>
  changeOf('dropped', [name], `${name} is not carried over: ${reason}.`, remedy);

/** Options that change no setting. */
function unreadIn(tree: Values, target: HostConfiguration['target']): Path[] {
  const all = readHostTree(tree, target);
  const options = leafPaths(tree).filter(([section]) => section === 'container' || section === 'service');
  return options.filter((path) =>
    sameTree(
      [
        ...readHostTree(
          withoutLeaves(tree, (each) => sameTree(each, path)),
          target,
        ),
      ],
      [...all],
    ),
  );
}

/** The charts select the version of the usual image. */
function versionOf(image = ''): Change[] {
  const {repository, tag} = splitImage(image);
  const isPinned = /(^|\/)scalr\/agent$/.test(repository) && tag !== undefined && tag !== 'latest';
  if (!isPinned) return [];
  const message = `The version of the image ${image} is not carried over: the chart selects the agent version.`;
  return [changeOf('dropped', ['image'], message, 'To keep the version, set the tag of the image in the new file')];
}

const BUNDLES = ['SCALR_AGENT_CA_CERT', 'SCALR_AGENT_CONTAINER_TASK_CA_CERT'] as const;

/** Values have one bundle, for all containers or for runs. */
function secondBundle(variables: Variables, spelling: Found['spelling']): Change[] {
  const [all, runs] = BUNDLES.map((name) => variables[name]);
  if (all === undefined || runs === undefined || all === runs) return [];
  const [ofAll, ofRuns] = BUNDLES.map(spelling) as [string, string];
  return [
    lost(
      ofRuns,
      `${ofAll} names another CA bundle, and the new values have one for all containers`,
      'Put the certificates of both into one bundle',
    ),
  ];
}
