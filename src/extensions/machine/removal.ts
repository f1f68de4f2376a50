import {join} from 'node:path';
import {commandLine} from '../../ground/command-line.ts';
import type {Step} from '../../operations/step.ts';
import type {KeptObject} from '../../operations/uninstall-keeps.ts';
import {containerName, type DockerContainer} from './containers.ts';
import {mountsOf, usersOf} from './directories.ts';
import {ENV_FILE} from './env-file.ts';
import {directoriesOf, INSTALL_ANSWERS, stopWarning} from './plan.ts';
import {removeStep, stopSteps} from './recovery.ts';

/** The steps that remove agents, and what remains. */
export interface HostRemoval {
  steps: Step[];
  warnings: string[];
  removes: string[];
  keeps: KeptObject[];
}

interface RemovalFacts {
  /** Other containers of the machine; undefined if they cannot be read. */
  others: readonly DockerContainer[] | undefined;
  /** The service of the Linux packages is installed, which uses the standard directories. */
  hasService: boolean;
  /** Existing files of the install, by directory. */
  files: ReadonlyMap<string, readonly string[]>;
}

const INSTALLED_FILES: readonly string[] = [
  ENV_FILE,
  INSTALL_ANSWERS,
  '.gitignore',
  'run.sh',
  'ca.pem',
  'client.crt',
  'client.key',
  'docker.service.d/',
];

/** Removes the containers of a release; data and images remain. Pure. */
export function planContainerRemoval(
  containers: readonly DockerContainer[],
  facts: RemovalFacts,
): HostRemoval {
  const ofInstall = [...new Set(containers.flatMap(directoriesOf))];
  const mounted = [...new Set(containers.flatMap(mountsOf))].filter(
    (path) => !path.endsWith('.sock'),
  );
  const images = [...new Set(containers.flatMap(({Config}) => Config?.Image ?? []))];
  return {
    steps: containers.flatMap((each) => [...stopSteps(each), removeStep(containerName(each))]),
    warnings: containers.filter(({State}) => State?.Running).flatMap(stopWarning),
    removes: containers.map((each) => `container ${containerName(each)}`),
    keeps: [
      ...ofInstall.flatMap((directory) => keptFiles(directory, facts)),
      ...mounted
        .filter((path) => !ofInstall.some((directory) => path.startsWith(`${directory}/`)))
        .map((path) => keptPath(path, facts)),
      ...images.map((image) => ({
        what: `image ${image}`,
        why: 'can be used by other containers',
        how: `docker image rm ${image}`,
      })),
    ],
  };
}

/** A directory that contains other files is not offered for deletion. */
function keptFiles(directory: string, facts: RemovalFacts): KeptObject[] {
  const files = facts.files.get(directory) ?? [];
  const own = files.filter((name) => INSTALLED_FILES.includes(name));
  if (own.length === 0) return [];
  const why = usedBy(directory, facts) ?? sharedBy(directory, facts);
  if (why !== undefined) return [{what: directory, why, how: KEEP}];
  const isWhole = own.length === files.length;
  const paths = isWhole ? [directory] : own.map((name) => join(directory, name));
  return [
    {
      what: isWhole ? directory : `files in ${directory}`,
      why: `${isWhole ? 'contains' : 'contain'} the token and the files of the install`,
      how: commandLine({tool: 'rm', args: ['-r', ...paths]}),
    },
  ];
}

const KEEP = 'Keep it';

const keptPath = (path: string, facts: RemovalFacts): KeptObject => {
  const why = usedBy(path, facts);
  return why === undefined
    ? {
        what: path,
        why: 'mounted into the container',
        how: commandLine({tool: 'sudo', args: ['rm', '-r', path]}),
      }
    : {what: path, why, how: KEEP};
};

/** Another install has written its files to the same directory. */
function sharedBy(directory: string, {others = []}: RemovalFacts): string | undefined {
  const user = others.find((each) => directoriesOf(each).includes(directory));
  return user && `contains the files of container ${containerName(user)}`;
}

/** Why a path must not be deleted. */
export function usedBy(
  path: string,
  {others, hasService}: Pick<RemovalFacts, 'others' | 'hasService'>,
): string | undefined {
  if (others === undefined)
    return 'the containers on this machine cannot be read, and one of them may use it';
  const names = usersOf(path, others).map(containerName);
  if (names.length > 0)
    return `used by ${names.length === 1 ? 'container' : 'containers'} ${names.join(', ')}`;
  return hasService && /^\/(var\/lib|etc)\/scalr-agent(\/|$)/.test(path)
    ? 'can be used by service scalr-agent'
    : undefined;
}

const SERVICE = 'scalr-agent';

/** Stops the service of the Linux packages and removes the drop-ins of `export systemd`; package, configuration and data remain. Pure. */
export function planServiceRemoval(
  dropIns: readonly string[],
  others: readonly DockerContainer[] | undefined,
): HostRemoval {
  const call = (id: string, title: string, tool: 'systemctl' | 'rm', ...args: string[]): Step => ({
    id,
    title,
    call: {tool, args},
  });
  const why = usedBy('/etc/scalr-agent', {others, hasService: false});
  return {
    steps: [
      call(
        'disable',
        `Stop and disable service ${SERVICE}`,
        'systemctl',
        'disable',
        '--now',
        SERVICE,
      ),
      ...(dropIns.length === 0
        ? []
        : [
            call('drop-ins', `Remove ${dropIns.join(', ')}`, 'rm', '-f', ...dropIns),
            call('reload', 'Reload systemd', 'systemctl', 'daemon-reload'),
          ]),
    ],
    warnings: [
      'The service gets up to its TimeoutStopSec= to stop. Then runs in flight are interrupted.',
    ],
    removes: [`service ${SERVICE}`, ...dropIns],
    keeps: [
      {
        what: 'package scalr-agent',
        why: 'installed by the package manager',
        how: 'sudo apt remove scalr-agent  (or: sudo dnf remove scalr-agent)',
      },
      {
        what: '/etc/scalr-agent',
        why: `contains the token${why === undefined ? '' : `; ${why}`}`,
        how: why === undefined ? 'sudo rm -r /etc/scalr-agent' : KEEP,
      },
    ],
  };
}
