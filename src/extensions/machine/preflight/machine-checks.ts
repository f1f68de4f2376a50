import {isPattern} from '../../../charts/endpoints.ts';
import {RUNS_PER_AGENT} from '../../../charts/host/rows.ts';
import {compare} from '../../../charts/releases/versions.ts';
import {type Check, check} from '../../../checks/preflight/checks/check.ts';
import {
  type CheckResult,
  cannot,
  fail,
  ifKnown,
  notChecked,
  pass,
  warn,
} from '../../../checks/preflight/checks/check-result.ts';
import {ExpectedError} from '../../../ground/errors.ts';
import {isKnown} from '../../../ground/fact.ts';
import {changing} from '../../../ground/finding.ts';
import {count, few} from '../../../ground/text.ts';
import {url} from '../../../settings/agent.ts';
import {imagePullPolicy} from '../../../settings/images.ts';
import {milliOf} from '../../../settings/kinds/quantities.ts';
import {httpsProxy} from '../../../settings/network.ts';
import {otelEndpoint} from '../../../settings/observability.ts';
import {concurrency} from '../../../settings/purpose.ts';
import {runSize} from '../../../settings/size.ts';
import {withValue} from '../../../settings/spelling.ts';
import {dataHome} from '../../../settings/storage.ts';
import {caFile} from '../../../settings/tls.ts';
import {containerName, PURPOSE_LABEL, purposeOf} from '../containers.ts';
import {sharedDirectories} from '../directories.ts';
import {agentContainers} from '../roles.ts';
import type {MachineContext} from './machine-context.ts';

export type MachineCheck = Check<MachineContext>;
export const machineCheck = check<MachineContext>;

const POOLS = 'https://docs.scalr.io/docs/vcs-agents';
const REQUIREMENTS = 'https://docs.scalr.io/docs/requirements';
const GIB = 1024 ** 3;
const inGib = (bytes: number): string => `${(bytes / GIB).toFixed(1)} GiB`;

/** Versions of distributions that Scalr supports, by ID of os-release. */
const DISTRIBUTIONS: Readonly<Record<string, readonly RegExp[]>> = {
  rocky: [/^9(\.|$)/],
  ubuntu: [/^20\.04$/, /^22\.04$/],
};
/** Architectures of the image scalr/agent, as Docker spells them. */
const ARCHITECTURES = ['x86_64', 'amd64', 'aarch64', 'arm64', ''];

const distribution = machineCheck('Machine', 'host-distribution', 'Operating system', {
  ref: `${POOLS}, ${REQUIREMENTS}`,
  run: ({facts, agent}) => {
    if (agent.target !== 'docker') return checkDistribution(facts, agent);
    return ifKnown(facts.docker, 'read the platform of Docker', ({type, architecture}) =>
      type === 'windows' || !ARCHITECTURES.includes(architecture)
        ? fail(
            `Docker runs ${type} containers on ${architecture}, but the agent requires Linux on amd64 or arm64`,
            'Use another machine',
          )
        : checkDistribution(facts, agent),
    );
  },
});

const checkDistribution = (
  {distribution: read}: MachineContext['facts'],
  {target}: MachineContext['agent'],
): CheckResult =>
  ifKnown(read, 'read the operating system', ({id, version, name}): CheckResult => {
    const isListed = DISTRIBUTIONS[id]?.some((each) => each.test(version)) === true;
    if (isListed) return pass(name);
    // Containers bring their own system.
    if (target === 'docker')
      return pass(`${name}; Scalr lists Rocky Linux 9, Ubuntu 20.04 and 22.04`);
    return warn(
      `${name} is not supported by the Linux packages`,
      'Use Rocky Linux 9, Ubuntu 20.04 or 22.04, or run the agent in Docker: --target docker',
    );
  });

/** Concurrent runs of all agents on this machine. */
const runsOf = ({get, agent}: MachineContext): number =>
  get(concurrency) ?? (agent.mode === 'local' ? 1 : RUNS_PER_AGENT);

/** docs.scalr.io: enough for most runs, recommended for each run, and for the agent itself. */
const LEAST_PER_RUN = GIB / 2;
const USUAL_PER_RUN = 2 * GIB;
const FOR_AGENT = GIB / 2;

const memory = machineCheck('Machine', 'host-memory', 'Memory for concurrent runs', {
  ref: REQUIREMENTS,
  run: (context) =>
    ifKnown(context.facts.memory, 'read the memory', (total): CheckResult => {
      if (context.agent.mode === 'vcs')
        return pass(`${inGib(total)}; a VCS agent executes no runs`);
      const runs = runsOf(context);
      const limit = context.get(runSize.memoryLimit);
      const [least, usual] =
        limit === undefined ? [LEAST_PER_RUN, USUAL_PER_RUN] : [bytesIn(limit), bytesIn(limit)];
      const needed = (perRun: number): string =>
        `${inGib(runs * perRun + FOR_AGENT)}: ${inGib(perRun)} for ${runs === 1 ? 'the run' : `each of ${runs} concurrent runs`}, ${inGib(FOR_AGENT)} for the agent`;
      if (runs * least + FOR_AGENT > total)
        return fail(
          `The machine has ${inGib(total)}, but the agent needs ${needed(least)}`,
          changing`Use a machine with more memory, or lower ${concurrency} or ${runSize.memoryLimit}`,
        );
      if (runs * usual + FOR_AGENT > total)
        return warn(
          `The machine has ${inGib(total)}, but Scalr recommends ${needed(usual)}`,
          changing`Use a machine with more memory, lower ${concurrency}, or set what a run needs: ${withValue(runSize.memoryLimit, '1Gi')}`,
        );
      return pass(`${inGib(total)}; the agent needs ${needed(usual)}`);
    }),
});

const bytesIn = (quantity: string): number => Number((milliOf(quantity) ?? 0n) / 1000n);

const cpu = machineCheck('Machine', 'host-cpu', 'CPUs for concurrent runs', {
  ref: REQUIREMENTS,
  run: (context) =>
    ifKnown(context.facts.cpus, 'read the number of CPUs', (cpus): CheckResult => {
      if (context.agent.mode === 'vcs')
        return pass(`${count(cpus, 'CPU')}; a VCS agent executes no runs`);
      const runs = runsOf(context);
      return cpus >= runs
        ? pass(`${count(cpus, 'CPU')} for ${count(runs, 'concurrent run')}`)
        : warn(
            `${count(cpus, 'CPU')} for ${count(runs, 'concurrent run')}, so runs are slow`,
            changing`Use more CPUs, or ${withValue(concurrency, cpus)}`,
          );
    }),
});

/** docs.scalr.io: 20 GB. */
const FREE_SPACE = 20e9;

const disk = machineCheck('Machine', 'host-disk', 'Free disk space', {
  ref: REQUIREMENTS,
  run: ({facts}) =>
    ifKnown(facts.disk, 'read the free disk space', (all): CheckResult => {
      const text = ({path, free}: (typeof all)[number]): string =>
        `${(free / 1e9).toFixed(1)} GB free for ${path}`;
      const small = all.filter(({free}) => free < FREE_SPACE);
      return small.length === 0
        ? pass(few(all.map(text)))
        : warn(
            few(small.map(text)),
            changing`Free space, or use a directory on another disk: ${dataHome}`,
          );
    }),
});

const OLDEST_DOCKER = '18.0.0';
/** Introduced `docker create --pull`. */
const TESTED_DOCKER = '20.10.0';

const dockerVersion = machineCheck('Docker', 'docker-version', 'Docker', {
  ref: POOLS,
  run: ({facts: {docker}, agent, get}) => {
    if (agent.target !== 'docker') return undefined;
    if (!isKnown(docker)) {
      if (docker.unknown === 'timed-out')
        return cannot('read the version of Docker', docker.because, 'Increase --timeout');
      const remedy =
        docker.unknown === 'forbidden'
          ? 'Run the command with sudo, or as a user of the group docker'
          : 'Install Docker 20.10 or newer, start it, and check: docker info';
      return fail(`Cannot use Docker: ${docker.because}`, remedy);
    }
    const {version} = docker.value;
    const plain = /^\d+\.\d+(\.\d+)?/.exec(version)?.[0] ?? '';
    const isOlder = (than: string): boolean =>
      compare(plain.replace(/^(\d+\.\d+)$/, '$1.0').replaceAll(/(^|\.)0+(?=\d)/g, '$1'), than) < 0;
    if (plain === '')
      return notChecked(`Docker reports version "${version}", which cannot be compared`);
    if (isOlder(OLDEST_DOCKER))
      return fail(`Docker ${version} is older than 18`, 'Install Docker 20.10 or newer');
    if (!isOlder(TESTED_DOCKER)) return pass(`Docker ${version}`);
    const message = `Docker ${version} is older than 20.10`;
    return get(imagePullPolicy) === undefined
      ? warn(
          `${message}. Scalr supports it, but an image pull policy does not work with it`,
          'Install Docker 20.10 or newer',
        )
      : fail(
          `${message}, which an image pull policy requires`,
          changing`Install Docker 20.10 or newer, or omit ${imagePullPolicy}`,
        );
  },
});

const dockerSocket = machineCheck('Docker', 'docker-socket', 'Docker socket', {
  ref: 'https://docs.scalr.io/docs/drivers',
  run: ({socket, facts}) => {
    if (socket === undefined) return undefined;
    if (!isKnown(facts.docker)) return cannot('read the Docker socket', facts.docker.because);
    return 'path' in socket
      ? pass(socket.path)
      : fail(socket.because.replace(/\.$/, ''), socket.remedies.join('; '));
  },
});

const dockerProxy = machineCheck('Docker', 'docker-proxy', 'Proxy of the Docker daemon', {
  ref: 'https://docs.docker.com/engine/daemon/proxy/',
  run: ({agent, facts}) => {
    if (
      agent.target !== 'docker' ||
      agent.mode !== 'containers' ||
      Object.keys(agent.proxy).length === 0
    )
      return undefined;
    return ifKnown(facts.docker, 'read the proxy of the Docker daemon', ({hasProxy}) =>
      hasProxy
        ? pass('The Docker daemon has a proxy')
        : warn(
            'The Docker daemon has no proxy, but it pulls the run images',
            'Install the drop-in for docker.service from this export: scalr-agent export docker',
          ),
    );
  },
});

const service = machineCheck('Agents', 'host-service', 'Linux packages', {
  ref: 'https://docs.scalr.io/docs/run-agents',
  run: ({agent, services}) => {
    if (agent.target !== 'systemd') return undefined;
    return ifKnown(services, 'read the services', (all): CheckResult => {
      const missing = Object.entries(all).filter(
        ([name, {isInstalled}]) =>
          !isInstalled && (name === 'scalr-agent' || agent.mode === 'containers'),
      );
      if (missing.length > 0)
        return fail(
          `No ${missing.length === 1 ? 'service' : 'services'} ${few(missing.map(([name]) => name))} on this machine`,
          'The packages are deprecated. Use Docker: scalr-agent-install install --target docker',
        );
      return pass(
        few(
          Object.entries(all).map(
            ([name, {isInstalled, state}]) => `${name}: ${isInstalled ? state : 'not installed'}`,
          ),
        ),
      );
    });
  },
});

const otherPurpose = machineCheck('Agents', 'other-purpose', 'Other agents on this machine', {
  ref: POOLS,
  run: ({agent, containers, services}) =>
    ifKnown(containers, 'list the containers on this machine', (all): CheckResult => {
      const own = agent.labels[PURPOSE_LABEL];
      const agents = agentContainers(all);
      const others = agents.filter(
        (each) => purposeOf(each) !== undefined && purposeOf(each) !== own,
      );
      if (others.length > 0)
        return warn(
          `${few(others.map(containerName))}: ${own === 'vcs' ? 'run' : 'VCS'} agents. Run agents and VCS agents should not share a machine`,
          'Use another machine',
        );
      const unlabeled = agents
        .filter((each) => purposeOf(each) === undefined)
        .map((each) => `container ${containerName(each)}`);
      const conclude = (isService: boolean): CheckResult => {
        const unclear = [...unlabeled, ...(isService ? ['service scalr-agent'] : [])];
        if (unclear.length > 0)
          return notChecked(
            `Cannot determine whether these are run agents or VCS agents: ${few(unclear)}`,
          );
        return pass(agents.length === 0 ? 'No other agents' : few(agents.map(containerName)));
      };
      if (agent.target === 'systemd') return conclude(false);
      return ifKnown(services, 'read the services of this machine', (known) =>
        conclude(known['scalr-agent']?.isInstalled === true),
      );
    }),
});

const directories = machineCheck('Agents', 'host-directories', 'Data directories', {
  ref: 'https://docs.scalr.io/docs/installation',
  run: ({agent, containers}) => {
    const own = agent.agents.flatMap((each) => each.directories);
    if (agent.target !== 'docker' || own.length === 0) return undefined;
    return ifKnown(containers, 'list the containers on this machine', (all): CheckResult => {
      try {
        const [shared] = sharedDirectories(agent, all);
        return shared === undefined
          ? pass(few(own))
          : warn(shared.replace(/\.$/, ''), changing`Use another directory: ${dataHome}`);
      } catch (error) {
        if (!(error instanceof ExpectedError)) throw error;
        const {message, remedies} = error;
        return {verdict: 'error', message: message.replace(/\.$/, ''), remedies};
      }
    });
  },
});

export const machineChecks: readonly MachineCheck[] = [
  distribution,
  memory,
  cpu,
  disk,
  dockerVersion,
  dockerSocket,
  dockerProxy,
  service,
  otherPurpose,
  directories,
];

type Listed = MachineContext['endpoints'][number];

const failed = (all: readonly Listed[]): Listed[] =>
  all.filter(({probe}) => probe.status === 'unreachable');

/** Hosts by what happened, because one proxy or firewall often stops them all. */
function namesOf(all: readonly Listed[]): string {
  const messages = [...new Set(all.map(({probe}) => probe.message))];
  return messages
    .map((message) => {
      const hosts = all
        .filter(({probe}) => probe.message === message)
        .map(({host, port}) => `${host}:${port}`);
      return `${few([...new Set(hosts)])} (${message})`;
    })
    .join('; ');
}

const LIST = 'With the same settings, network --probe lists all hosts';

/** Tried endpoints, or why there are none. */
function resultOf(
  all: readonly Listed[],
  conclude: (tried: readonly Listed[]) => CheckResult,
): CheckResult {
  const tried = all.filter(({probe}) => probe.status !== 'skipped');
  return tried.length === 0
    ? notChecked(`Not tried: ${few([...new Set(all.map(({probe}) => probe.message))])}`)
    : conclude(tried);
}

const scalr = machineCheck('Hosts', 'host-scalr', 'Scalr, from this machine', {
  ref: 'https://docs.scalr.io/docs/self-hosted-agents-pools',
  run: ({endpoints}) => {
    const own = endpoints.filter(({purpose}) => purpose === 'scalr');
    if (own.every(isPattern))
      return notChecked(
        'The Scalr URL is not set',
        changing`Set it, for example with ${withValue(url, 'https://acme.scalr.io')}`,
      );
    const [account] = own;
    return resultOf(own, (tried) => {
      const wrong = failed(tried);
      if (wrong.length === 0)
        return pass(few(tried.map(({host, probe}) => `${host}: ${probe.message}`)));
      const message = `Cannot connect to ${namesOf(wrong)}`;
      const remedy = changing`Allow the hosts in the firewall and the proxy, or correct ${httpsProxy} and ${caFile}`;
      // Only the relay is missing.
      return wrong.some(({host}) => host === account?.host)
        ? fail(message, remedy)
        : warn(message, remedy);
    });
  },
});

const hosts = machineCheck('Hosts', 'host-hosts', 'Other required hosts, from this machine', {
  ref: 'agent-job 0.6.5, README, Network Requirements',
  run: ({endpoints}) => {
    const ofScalr = endpoints.filter(({purpose}) => purpose === 'scalr').map(({host}) => host);
    return resultOf(
      endpoints.filter(({host, required}) => required && !ofScalr.includes(host)),
      (tried) => {
        const wrong = failed(tried);
        return wrong.length === 0
          ? pass(count(new Set(tried.map(({host, port}) => `${host}:${port}`)).size, 'host'))
          : warn(
              `Cannot connect to ${namesOf(wrong)}`,
              `Allow these hosts, or use mirrors. ${LIST}`,
            );
      },
    );
  },
});

const telemetry = machineCheck(
  'Hosts',
  'host-telemetry',
  'OpenTelemetry collector, from this machine',
  {
    ref: 'https://docs.scalr.io/docs/metrics',
    run: ({endpoints}) => {
      const own = endpoints.filter(({purpose}) => purpose === 'telemetry');
      if (own.length === 0) return undefined;
      return resultOf(own, (tried) =>
        failed(tried).length === 0
          ? pass(few(tried.map(({host, port}) => `${host}:${port}`)))
          : warn(
              `Cannot connect to ${namesOf(failed(tried))}. Runs work, but metrics and traces are lost`,
              changing`Correct ${otelEndpoint}, or start the collector`,
            ),
      );
    },
  },
);

/** Every check of a machine, in the order in which they are printed. */
export const MACHINE_CHECKS: readonly MachineCheck[] = [...machineChecks, scalr, hosts, telemetry];
