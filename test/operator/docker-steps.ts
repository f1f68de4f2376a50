import type {Dice} from './sequence.ts';
import type {State} from './things.ts';

export const OLD = 'scalr/agent:1.3.0';
export const NEW = 'scalr/agent:1.4.0';
const INSTALL =
  'SCALR_AGENT_TOKEN=A scalr-agent install --target docker --url https://acme.scalr.io --isolation shared';

/** Sequences that broke an invariant once, in their shortest form. */
export const FOUND: Readonly<Record<string, readonly string[]>> = {
  'install removed the running agent before Docker refused the new one': [
    INSTALL,
    `${INSTALL} --run-memory-limit 1Mi`,
  ],
  'install removed the running agent although the new image did not exist': [
    INSTALL,
    `${INSTALL} --agent-image nope/x:1 --image-pull-policy Never`,
  ],
  'uninstall offered to delete the directory of another agent': [
    `${INSTALL} --cache hostpath --cache-path FOLDER/cache`,
    `${INSTALL} --release second --cache hostpath --cache-path FOLDER/cache`,
    'scalr-agent uninstall --target docker --release second',
  ],
};

const RELEASES = ['scalr-agent', 'scalr-agent', 'second'];
/** Some are refused by Docker, and some only change the container. */
const SETTINGS = [
  '',
  '',
  `--agent-image ${OLD}`,
  `--agent-image ${NEW}`,
  '--agent-image nope/x:1 --image-pull-policy Never',
  '--agent-image 127.0.0.1:9/scalr/agent:2.0.0',
  '--run-memory-limit 1Mi',
  '--run-memory-limit 64Mi',
  '--run-cpu-limit 64',
  '--run-cpu-limit 1',
  '--concurrency 2',
  '--cache hostpath --cache-path FOLDER/cache',
  '--cache hostpath --cache-path FOLDER/cache',
  '--extra-env TEAM=a',
  '--grace-period 90s',
];

/** A step that makes sense for the containers of this machine. */
export function nextStep(state: State, dice: Dice): string {
  const names = [...state.keys()].flatMap((name) =>
    name.startsWith('container ') ? [name.slice('container '.length)] : [],
  );
  const release = dice.pick(RELEASES);
  const kill = dice.chance(15) ? `kill -9 after write ${dice.pick([1, 2, 3, 4])}: ` : '';
  const install = (): string =>
    `${kill}${INSTALL}${release === 'second' ? ' --release second' : ''} ${dice.pick(SETTINGS)}`.trimEnd();
  const choice = dice.pick([
    'install',
    'install',
    'install',
    'install',
    'uninstall',
    'others',
    'others',
    'read',
  ]);
  if (names.length === 0 && choice !== 'others') return install();
  if (choice === 'install') return install();
  if (choice === 'uninstall')
    return `${kill}scalr-agent uninstall --target docker --release ${release}`;
  if (choice === 'read')
    return dice.pick([
      'scalr-agent status --target docker',
      `scalr-agent uninstall --target docker --release ${release} --dry-run`,
    ]);
  const name = dice.pick(['neighbor', 'scalr-agent', 'second', 'scalr-agent-2']);
  return dice.pick([
    `docker run --detach --name ${name} ${dice.pick([OLD, NEW])} run`,
    `docker create --name ${name} ${NEW} run`,
    ...names.flatMap((each) => [
      `docker stop --time 1 ${each}`,
      `docker rm --force ${each}`,
      `docker start ${each}`,
      `docker pause ${each}`,
    ]),
  ]);
}
