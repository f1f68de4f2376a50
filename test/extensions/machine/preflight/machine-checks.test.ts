import {describe, expect, test} from 'vitest';
import {
  type CheckDocument,
  type CheckReport,
  checkDocument,
  runChecks,
} from '../../../../src/checks/preflight/checks/check.ts';
import {MACHINE_CHECKS} from '../../../../src/extensions/machine/preflight/machine-checks.ts';
import {factsRead, withUnknown} from '../../../checks/preflight/checks/unreadable-facts.ts';
import {shown} from '../../../checks/preflight/shown.ts';
import {container, type FakeMachine, machineContext, SERVICES} from './machine.ts';

const GIB = 1024 ** 3;
const ACCOUNT = {url: 'https://acme.scalr.io'};
const VCS = {...ACCOUNT, purpose: 'vcs'};
const PROXY = {...ACCOUNT, 'https-proxy': 'http://proxy.example.com:3128'};
const DOWN: FakeMachine['dockerError'] = {
  kind: 'unreachable',
  message: 'cannot connect to the Docker daemon: start it',
};
const MISSING: FakeMachine['dockerError'] = {
  kind: 'not-found',
  message: 'docker not found on PATH',
  isToolMissing: true,
};
const LATE: FakeMachine['dockerError'] = {kind: 'aborted', message: 'timed out (--timeout)'};

/** Every host fails in this way, or only these. */
const broken =
  (
    state: 'refused' | 'timeout' | 'untrusted' | 'proxy',
    hosts?: readonly string[],
  ): NonNullable<FakeMachine['connection']> =>
  ({host}) =>
    hosts === undefined || hosts.includes(host)
      ? {state, detail: state === 'untrusted' ? 'Corporate CA' : '407'}
      : {state: 'ok', detail: ''};

interface Case extends FakeMachine {
  id: string;
  is: CheckDocument['status'] | 'nothing';
  when: string;
}

const CASES: readonly Case[] = [
  {id: 'host-distribution', is: 'pass', when: 'Scalr lists it'},
  {
    id: 'host-distribution',
    is: 'pass',
    when: 'Docker runs on another one',
    osRelease: 'ID=debian\nVERSION_ID="12"\nPRETTY_NAME="Debian 12"\n',
  },
  {
    id: 'host-distribution',
    is: 'warn',
    when: 'the Linux packages do not support it',
    target: 'systemd',
    osRelease: 'ID=rocky\nVERSION_ID="8.9"\nPRETTY_NAME="Rocky Linux 8.9"\n',
  },
  {
    id: 'host-distribution',
    is: 'pass',
    when: 'the Linux packages support it',
    target: 'systemd',
    osRelease: 'ID="rocky"\nVERSION_ID="9.4"\nPRETTY_NAME="Rocky Linux 9.4"\n',
  },
  {
    id: 'host-distribution',
    is: 'fail',
    when: 'Docker runs Windows containers',
    info: {OSType: 'windows'},
  },
  {
    id: 'host-distribution',
    is: 'fail',
    when: 'the architecture has no image',
    info: {Architecture: 's390x'},
  },
  {id: 'host-memory', is: 'pass', when: 'it is enough', flags: {...ACCOUNT, concurrency: '8'}},
  {id: 'host-memory', is: 'warn', when: 'it is less than recommended', info: {MemTotal: 4 * GIB}},
  {
    id: 'host-memory',
    is: 'fail',
    when: 'it is less than most runs need',
    info: {MemTotal: 2 * GIB},
  },
  {
    id: 'host-memory',
    is: 'fail',
    when: 'the limits of the runs exceed it',
    flags: {...ACCOUNT, concurrency: '5', 'run-memory-limit': '8Gi'},
  },
  {
    id: 'host-memory',
    is: 'pass',
    when: 'the limits of the runs fit',
    flags: {...ACCOUNT, concurrency: '5', 'run-memory-limit': '1Gi'},
    info: {MemTotal: 6 * GIB},
  },
  {
    id: 'host-memory',
    is: 'pass',
    when: 'one run at a time fits',
    flags: {...ACCOUNT, isolation: 'shared'},
    info: {MemTotal: 3 * GIB},
  },
  {
    id: 'host-memory',
    is: 'pass',
    when: 'a VCS agent executes no runs',
    flags: VCS,
    info: {MemTotal: GIB},
  },
  {id: 'host-memory', is: 'skip', when: 'Docker does not answer', dockerError: DOWN},
  {id: 'host-memory', is: 'pass', when: 'the machine itself has enough', target: 'systemd'},
  {id: 'host-cpu', is: 'pass', when: 'there are enough'},
  {id: 'host-cpu', is: 'warn', when: 'runs share them', flags: {...ACCOUNT, concurrency: '12'}},
  {id: 'host-cpu', is: 'warn', when: 'the machine itself has fewer', target: 'systemd'},
  {id: 'host-cpu', is: 'pass', when: 'a VCS agent needs one', flags: VCS, info: {NCPU: 1}},
  {id: 'host-cpu', is: 'skip', when: 'Docker does not answer', dockerError: DOWN},
  {id: 'host-disk', is: 'pass', when: 'there is room'},
  {id: 'host-disk', is: 'warn', when: 'there is little room', free: {'/var/lib': 10_000_000}},
  {
    id: 'host-disk',
    is: 'warn',
    when: 'the disk of the images is small',
    free: {'/var/lib': 100_000_000, '/var/lib/docker': 5_000_000},
  },
  {
    id: 'host-disk',
    is: 'skip',
    when: 'Docker runs in a virtual machine',
    info: {OperatingSystem: 'Docker Desktop'},
  },
  {id: 'host-disk', is: 'skip', when: 'df fails', free: {}},
  {id: 'docker-version', is: 'pass', when: 'it is new'},
  {
    id: 'docker-version',
    is: 'warn',
    when: 'it is older than this program is tested with',
    info: {ServerVersion: '19.03.15'},
  },
  {
    id: 'docker-version',
    is: 'fail',
    when: 'a setting needs a newer one',
    info: {ServerVersion: '19.03.15'},
    flags: {...ACCOUNT, 'image-pull-policy': 'Always'},
  },
  {
    id: 'docker-version',
    is: 'warn',
    when: 'it is the oldest that Scalr supports',
    info: {ServerVersion: '18.09.9-ce'},
  },
  {
    id: 'docker-version',
    is: 'fail',
    when: 'Scalr does not support it',
    info: {ServerVersion: '17.12.1-ce'},
  },
  {id: 'docker-version', is: 'skip', when: 'it has no number', info: {ServerVersion: 'dev'}},
  {id: 'docker-version', is: 'fail', when: 'the daemon does not run', dockerError: DOWN},
  {id: 'docker-version', is: 'fail', when: 'it is not installed', dockerError: MISSING},
  {id: 'docker-version', is: 'skip', when: 'time is over', dockerError: LATE},
  {
    id: 'docker-version',
    is: 'nothing',
    when: 'the Linux packages have their own',
    target: 'systemd',
  },
  {id: 'docker-socket', is: 'pass', when: 'it is there'},
  {id: 'docker-socket', is: 'fail', when: 'it is no socket', socket: 'file'},
  {id: 'docker-socket', is: 'skip', when: 'Docker does not answer', dockerError: DOWN},
  {
    id: 'docker-socket',
    is: 'nothing',
    when: 'runs share the container of the agent',
    flags: {...ACCOUNT, isolation: 'shared'},
  },
  {id: 'docker-proxy', is: 'nothing', when: 'there is no proxy'},
  {id: 'docker-proxy', is: 'warn', when: 'the daemon has none', flags: PROXY},
  {
    id: 'docker-proxy',
    is: 'pass',
    when: 'the daemon has one',
    flags: PROXY,
    info: {HttpsProxy: 'http://proxy.example.com:3128'},
  },
  {id: 'docker-proxy', is: 'skip', when: 'Docker does not answer', flags: PROXY, dockerError: DOWN},
  {id: 'host-service', is: 'nothing', when: 'the agent runs in Docker'},
  {id: 'host-service', is: 'fail', when: 'the packages are not installed', target: 'systemd'},
  {id: 'host-service', is: 'pass', when: 'they are', target: 'systemd', services: SERVICES},
  {
    id: 'host-service',
    is: 'fail',
    when: 'there is no Docker of theirs',
    target: 'systemd',
    services: SERVICES.replace(/(scalr-docker.service\nLoadState=)loaded/, '$1not-found'),
  },
  {
    id: 'host-service',
    is: 'pass',
    when: 'a VCS agent needs no Docker',
    target: 'systemd',
    flags: VCS,
    services: SERVICES.replace(/(scalr-docker.service\nLoadState=)loaded/, '$1not-found'),
  },
  {id: 'other-purpose', is: 'pass', when: 'the machine has no other agent'},
  {
    id: 'other-purpose',
    is: 'pass',
    when: 'the others have the same purpose',
    containers: [container('first', 'runs')],
  },
  {
    id: 'other-purpose',
    is: 'warn',
    when: 'a VCS agent is there',
    containers: [container('vcs', 'vcs')],
  },
  {
    id: 'other-purpose',
    is: 'warn',
    when: 'a run agent is there',
    flags: VCS,
    containers: [container('first', 'runs')],
  },
  {
    id: 'other-purpose',
    is: 'skip',
    when: 'one was started by hand',
    containers: [container('mine')],
  },
  {id: 'other-purpose', is: 'skip', when: 'the service is there', services: SERVICES},
  {id: 'other-purpose', is: 'skip', when: 'systemd does not answer', systemdError: LATE},
  {id: 'other-purpose', is: 'pass', when: 'there is no systemd', systemdError: MISSING},
  {id: 'other-purpose', is: 'skip', when: 'Docker does not answer', dockerError: DOWN},
  {
    id: 'other-purpose',
    is: 'pass',
    when: 'the Linux packages run without docker',
    target: 'systemd',
    dockerError: MISSING,
  },
  {id: 'host-directories', is: 'pass', when: 'nobody else mounts them'},
  {
    id: 'host-directories',
    is: 'fail',
    when: 'another container mounts them',
    flags: {...ACCOUNT, 'data-home': '/data'},
    containers: [container('other', 'runs', ['/data'])],
  },
  {
    id: 'host-directories',
    is: 'warn',
    when: 'the release shares them already',
    flags: {...ACCOUNT, 'data-home': '/data'},
    containers: [
      container('scalr-agent', 'runs', ['/data']),
      container('other', 'runs', ['/data']),
    ],
  },
  {id: 'host-directories', is: 'skip', when: 'Docker does not answer', dockerError: DOWN},
  {id: 'host-directories', is: 'nothing', when: 'a VCS agent has none', flags: VCS},
  {id: 'host-scalr', is: 'pass', when: 'it answers', flags: ACCOUNT},
  {
    id: 'host-scalr',
    is: 'fail',
    when: 'it does not',
    flags: ACCOUNT,
    connection: broken('timeout'),
  },
  {
    id: 'host-scalr',
    is: 'fail',
    when: 'its certificate is not trusted',
    flags: ACCOUNT,
    connection: broken('untrusted'),
  },
  {
    id: 'host-scalr',
    is: 'fail',
    when: 'the proxy wants a password',
    flags: PROXY,
    connection: broken('proxy'),
  },
  {
    id: 'host-scalr',
    is: 'warn',
    when: 'only the relay does not answer',
    flags: ACCOUNT,
    connection: broken('refused', ['relay.acme.scalr.io']),
  },
  {id: 'host-scalr', is: 'skip', when: 'its URL is not given', flags: {}},
  {id: 'host-hosts', is: 'pass', when: 'all answer', flags: ACCOUNT},
  {
    id: 'host-hosts',
    is: 'warn',
    when: 'one does not answer',
    flags: ACCOUNT,
    connection: broken('timeout', ['registry.opentofu.org']),
  },
  {
    id: 'host-hosts',
    is: 'warn',
    when: 'the VCS server does not answer',
    flags: VCS,
    urls: ['https://gitlab.example.com/'],
    connection: broken('refused', ['gitlab.example.com']),
  },
  {id: 'host-hosts', is: 'skip', when: 'nothing can be tried', target: 'systemd', flags: VCS},
  {id: 'host-telemetry', is: 'nothing', when: 'there is no collector', flags: ACCOUNT},
  {
    id: 'host-telemetry',
    is: 'pass',
    when: 'it answers',
    flags: {...ACCOUNT, 'otel-endpoint': 'otel.example.com:4317'},
  },
  {
    id: 'host-telemetry',
    is: 'warn',
    when: 'it does not',
    flags: {...ACCOUNT, 'otel-endpoint': 'otel.example.com:4317'},
    connection: broken('refused', ['otel.example.com']),
  },
];

/** Facts that a check can do without, with the reason. */
const OPTIONAL: Readonly<Record<string, Readonly<Record<string, string>>>> = {};

async function reportOf({id, ...machine}: Case): Promise<CheckReport | undefined> {
  const own = MACHINE_CHECKS.filter((each) => each.id === id);
  return runChecks(own, await machineContext({flags: ACCOUNT, ...machine}))[0];
}

async function statusOf(each: Case): Promise<string> {
  const report = await reportOf(each);
  return report === undefined ? 'nothing' : checkDocument(report).status;
}

describe('machine', () => {
  test.each(CASES)('$id: $is when $when', async (each) => {
    expect(await statusOf(each)).toBe(each.is);
  });

  test('what is said', async () => {
    const lines = await Promise.all(
      CASES.map(async (each) => `${each.id}, ${each.when}\n${shown(await reportOf(each))}`),
    );
    await expect(lines.join('\n')).toMatchFileSnapshot(
      '../../../checks/preflight/checks/messages/machine.txt',
    );
  });

  test.each(CASES)('$id does not pass when a fact cannot be read: $when', async ({
    id,
    ...machine
  }) => {
    const context = await machineContext({flags: ACCOUNT, ...machine});
    const [check] = MACHINE_CHECKS.filter((each) => each.id === id) as [
      (typeof MACHINE_CHECKS)[number],
    ];
    const before = check.run(context);
    if (before === undefined || before.verdict === 'unknown') return;
    const silent = factsRead(context, (tracked) => check.run(tracked))
      .filter((path) => OPTIONAL[id]?.[path] === undefined)
      .filter((path) => {
        const verdict = check.run(withUnknown(context, path))?.verdict ?? 'silence';
        return !['unknown', 'warning', 'error'].includes(verdict);
      });
    expect(silent).toEqual([]);
  });

  test('every check has cases', () => {
    expect([...new Set(CASES.map(({id}) => id))].toSorted()).toEqual(
      MACHINE_CHECKS.map(({id}) => id).toSorted(),
    );
  });
});
