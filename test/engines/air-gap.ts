import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout} from 'node:timers/promises';
import {execa} from 'execa';
import {generate} from 'selfsigned';
import {onTestFinished, type TestContext} from 'vitest';
import {builtTool, installed} from './tools.ts';

const NAMESPACES = ['--map-root-user', '--net', '--mount'];

/** A network without any route, where only a registry with this name answers. */
export interface AirGap {
  /** A command that runs another one in this network, and in this directory. */
  under(cwd: string): string[];
  /** Variables that make tools trust the certificate of the registry. */
  env: Readonly<Record<string, string>>;
}

/** Starts a real registry with TLS in a network namespace of its own, until the test ends. */
export async function startAirGap(
  registry: string,
  context: Pick<TestContext, 'skip'>,
): Promise<AirGap> {
  const [program] = await Promise.all([
    builtTool('registry', context),
    installed('ip', 'iproute2', context),
  ]);
  const {exitCode, stderr} = await execa('unshare', [...NAMESPACES, 'true'], {reject: false});
  if (exitCode !== 0) context.skip(`network namespaces cannot be created here: ${stderr}`);
  const folder = await mkdtemp(join(tmpdir(), 'air-gap-'));
  const path = (name: string) => join(folder, name);
  const {cert, private: key} = await generate([{name: 'commonName', value: registry}], {
    keySize: 2048,
    algorithm: 'sha256',
    extensions: [{name: 'subjectAltName', altNames: [{type: 2, value: registry}]}],
  });
  await writeFile(path('cert.pem'), cert);
  await writeFile(path('key.pem'), key);
  await writeFile(path('hosts'), `127.0.0.1 localhost ${registry}\n`);
  const configuration = {
    version: '0.1',
    log: {level: 'error'},
    storage: {filesystem: {rootdirectory: path('data')}},
    http: {addr: '127.0.0.1:443', tls: {certificate: path('cert.pem'), key: path('key.pem')}},
  };
  await writeFile(path('config.yml'), JSON.stringify(configuration));
  const start = 'ip link set lo up && mount --bind "$1" /etc/hosts && exec "$2" serve "$3"';
  const running = execa(
    'unshare',
    [...NAMESPACES, 'sh', '-c', start, 'sh', path('hosts'), program, path('config.yml')],
    {
      reject: false,
      env: {OTEL_TRACES_EXPORTER: 'none'},
    },
  );
  onTestFinished(async () => {
    running.kill();
    await running;
    await rm(folder, {recursive: true, force: true});
  });
  const gap: AirGap = {
    under: (cwd) => [
      'nsenter',
      '--target',
      String(running.pid),
      '--user',
      '--preserve-credentials',
      '--net',
      '--mount',
      // Another mount namespace has another working directory.
      'sh',
      '-c',
      'cd "$0" && exec "$@"',
      cwd,
    ],
    env: {SSL_CERT_FILE: path('cert.pem'), NODE_EXTRA_CA_CERTS: path('cert.pem')},
  };
  const isUp = `fetch('https://${registry}/v2/').then(({status}) => process.exit(status === 200 ? 0 : 1), () => process.exit(1))`;
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const [command = '', ...args] = [...gap.under(folder), process.execPath, '-e', isUp];
    const answer = await execa(command, args, {env: gap.env, reject: false});
    if (answer.exitCode === 0) return gap;
    if (running.exitCode !== null) break;
    await setTimeout(200);
  }
  running.kill();
  throw new Error(`the registry does not answer: ${(await running).stderr}`);
}
