import {copyFile, mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout} from 'node:timers/promises';
import {execa} from 'execa';
import {onTestFinished, type TestContext} from 'vitest';
import {installed} from './tools.ts';

/** A real Docker Engine of its own, until the test ends. */
export interface Engine {
  /** Variables that point docker and Docker Compose at this engine. */
  env: Readonly<Record<string, string>>;
  docker(...args: string[]): Promise<string>;
  folder: string;
  /** Ends the daemon without a warning; returns a function that starts it again. */
  crash(): Promise<() => Promise<void>>;
}

/** Without bridge and iptables, so that it runs inside a container too; containers use the network of the machine. */
export async function startDocker(
  context: Pick<TestContext, 'skip'>,
  flags: readonly string[] = [],
): Promise<Engine> {
  const dockerd = await installed('dockerd', 'docker.io', context);
  await installed('docker', 'docker.io', context);
  if (process.getuid?.() !== 0) context.skip('the Docker Engine requires root');
  const folder = await mkdtemp(join(tmpdir(), 'docker-'));
  const socket = `unix://${join(folder, 'docker.sock')}`;
  const start = () =>
    execa(
      dockerd,
      [
        '--iptables=false',
        '--ip6tables=false',
        '--bridge=none',
        '--storage-driver=vfs',
        '-H',
        socket,

        '--data-root',
        join(folder, 'data'),
        '--exec-root',
        join(folder, 'exec'),
        '-p',
        join(folder, 'pid'),
        ...flags,
      ],
      {reject: false},
    );
  let running = start();
  const env = {DOCKER_HOST: socket, DOCKER_CONFIG: join(folder, 'config')};
  onTestFinished(async () => {
    running.kill();
    await running;
    // The network namespace of containers on the host network stays mounted.
    await execa('umount', [join(folder, 'exec/netns/default')], {reject: false});
    // So does the data of a daemon that has crashed.
    await execa('umount', ['--recursive', '--lazy', join(folder, 'data')], {reject: false});
    await rm(folder, {recursive: true, force: true});
  });
  const answers = async (): Promise<boolean> => {
    for (let attempt = 0; attempt < 300; attempt += 1) {
      const {exitCode} = await execa('docker', ['info'], {env, reject: false});
      if (exitCode === 0) return true;
      await setTimeout(100);
      if (running.exitCode !== null) return false;
    }
    return false;
  };
  if (await answers())
    return {
      env,
      folder,
      docker: async (...args) => (await execa('docker', args, {env})).stdout,
      async crash() {
        running.kill('SIGKILL');
        await running;
        return async () => {
          await rm(join(folder, 'pid'), {force: true});
          running = start();
          if (!(await answers())) throw new Error('the Docker Engine does not start again');
        };
      },
    };
  running.kill();
  const {stderr} = await running;
  return context.skip(`the Docker Engine does not start here: ${stderr.split('\n').at(-1)}`);
}

/**
 * What the stand-in for the agent prints: its command, user, variables, mounts and certificates, and the line of a ready agent.
 * With FAIL_WITH it prints this and ends instead, and with SILENT it never becomes ready.
 */
const PROBE = `#!/bin/sh
[ -z "$FAIL_WITH" ] || { echo "$FAIL_WITH"; exit 3; }
echo "command: $*"
echo "user: $(id -u):$(id -g)"
env | sed 's/^/env: /'
sed -n 's/^[^ ]* [^ ]* [^ ]* [^ ]* \\([^ ]*\\) \\([^ ,]*\\).*/mount: \\1 \\2/p' /proc/self/mountinfo
for file in "$SCALR_AGENT_CA_CERT" "$SCALR_AGENT_CONTAINER_TASK_CA_CERT" "$SCALR_AGENT_TLS_CERT_FILE" "$SCALR_AGENT_TLS_KEY_FILE"; do
  [ -z "$file" ] || echo "sha256: $file $(sha256sum < "$file" | cut -d ' ' -f 1)"
done
echo "socket: $([ -S /var/run/docker.sock ] && echo yes || echo no)"
[ -n "$SILENT" ] || echo ready
[ -n "$SILENT" ] || echo 'Agent is ready to receive tasks'
trap 'exit 0' TERM
while :; do sleep 1; done
`;

/** Builds images from scratch that stand in for those of Scalr: they print what they see. */
export async function buildStandIns(
  {docker, folder}: Engine,
  context: Pick<TestContext, 'skip'>,
  images: readonly string[],
): Promise<void> {
  const busybox = await installed('busybox', 'busybox-static', context);
  const build = join(folder, 'build');
  await mkdir(build);
  await copyFile(busybox, join(build, 'busybox'));
  await writeFile(join(build, 'probe'), PROBE, {mode: 0o755});
  await writeFile(
    join(build, 'Dockerfile'),
    [
      'FROM scratch',
      'COPY busybox /bin/busybox',
      'RUN ["/bin/busybox", "--install", "/bin"]',
      'COPY probe /bin/probe',
      'ENV PATH=/bin:/usr/bin',
      'ENTRYPOINT ["/bin/probe"]',
    ].join('\n'),
  );
  await docker('build', '--network', 'none', ...images.flatMap((image) => ['--tag', image]), build);
}
