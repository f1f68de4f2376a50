import {appendFile, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {execa} from 'execa';
import {chromium} from 'playwright-core';
import {directoryOf} from '../../test/cluster/helm/charts-under-test.ts';
import {findHelm} from '../../test/cluster/helm/find-helm.ts';
import {findKubectl, kubectlFor} from '../../test/control-plane/kubectl.ts';
import {setLogs} from '../../test/control-plane/logs.ts';
import {startCluster} from '../../test/control-plane/start-cluster.ts';
import {PROGRAM} from '../../test/package/built.ts';
import {readZipEntry} from '../../test/support/unzip.ts';

/** `npm run record:report`: breaks an install on the test cluster, collects a bundle, and makes the pictures of its page, with Chromium and ImageMagick. */
const PICTURES = fileURLToPath(new URL('../../docs', import.meta.url));
const NAMESPACE = 'scalr-agent';
const TLS =
  'httpx.ConnectError: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: unable to get local issuer certificate (_ssl.c:1006)';
const line = (level: string, event: string, more: object = {}): string =>
  JSON.stringify({event, level, logger: 'tacoagent.main', ...more});
/** What an agent logs that does not trust its proxy. */
const ATTEMPTS = Array.from({length: 6}, (_, index) => [
  line('info', 'Connecting to https://acme.scalr.io', {attempt: index + 1}),
  line('debug', 'Opening connection', {
    host: 'acme.scalr.io',
    port: 443,
    proxy: 'http://proxy.example.com:3128',
  }),
  line('warning', 'HTTP request failed', {attempt: index + 1, retry_in: 2 ** (index + 1)}),
]).flat();
const UNTRUSTING = [
  ...ATTEMPTS,
  line('error', 'Cannot register the agent', {exception: TLS}),
  line('info', 'Shutting down'),
];
const READY = line('info', 'The agent is ready to receive tasks');

const folder = await mkdtemp(join(tmpdir(), 'screens-'));
const cluster = await startCluster();
try {
  const kubectl = await kubectlFor(cluster.kubeconfig, NAMESPACE);
  const helm = (await findHelm())[0]?.path ?? 'helm';
  const source = await directoryOf({chart: 'agent-local', version: '0.6.5'}, folder);
  const tools = ['--helm', helm, '--kubectl', await findKubectl()];
  const env = {KUBECONFIG: cluster.kubeconfig, SCALR_AGENT_TOKEN: 'made-up', NO_COLOR: '1'};
  const program = (...args: readonly string[]) =>
    execa(process.execPath, [PROGRAM, ...args, ...tools], {
      cwd: folder,
      env,
      reject: false,
      stdin: 'ignore',
    });
  const install = (...args: readonly string[]) =>
    program(
      'install',
      '--chart-source',
      source,
      '--url',
      'https://acme.scalr.io',
      '--cloud',
      'eks',
      '--node-os',
      'al2023',
      '--yes',
      ...args,
    );

  await setLogs(cluster.kubeconfig, {namespace: NAMESPACE}, {'*': {current: [READY]}});
  await install('--concurrency', '1');
  await sleep(20_000);
  await install('--concurrency', '3', '--https-proxy', 'http://proxy.example.com:3128');
  const pods = (
    await kubectl('get', 'pods', '--output', 'jsonpath={.items[*].metadata.name}')
  ).split(' ');
  const [untrusting = '', hungry = ''] = pods;
  await setLogs(
    cluster.kubeconfig,
    {namespace: NAMESPACE, pod: untrusting},
    {'*': {current: [], previous: UNTRUSTING}},
  );
  const log = join(dirname(cluster.kubeconfig), 'logs', NAMESPACE, untrusting, '*.log');
  for (const text of UNTRUSTING) {
    await sleep(700);
    await appendFile(log, `${new Date().toISOString()} stdout F ${text}\n`);
  }
  await kubectl('annotate', 'pod', untrusting, 'test.scalr.io/outcome=crash-loop');
  await sleep(9_000);
  await kubectl('annotate', 'pod', hungry, 'test.scalr.io/outcome=oom-killed');
  await sleep(35_000);
  const bundle = join(folder, 'bundle.zip');
  const {exitCode, stderr} = await program('collect-logs', '--out', bundle);
  if (exitCode !== 0) throw new Error(stderr);
  const page = join(folder, 'report.html');
  await writeFile(page, await readZipEntry(bundle, 'report.html'));

  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });
  const screen = await browser.newPage({viewport: {width: 1280, height: 720}});
  const shoot = async (name: string, hash: string): Promise<void> => {
    await screen.goto('about:blank');
    await screen.goto(pathToFileURL(page).href + hash);
    await sleep(1000);
    const picture = join(PICTURES, `report-${name}.png`);
    await screen.screenshot({path: picture});
    await execa('convert', [picture, '-dither', 'None', '-colors', '64', `PNG8:${picture}`]);
  };
  await shoot('overview', '');
  await shoot('timeline', '#timeline=');
  const proof = `#log=logs/${untrusting}/agent-local.log&line=${UNTRUSTING.length - 1}`;
  await shoot('logs', proof);
  await browser.close();
} finally {
  await cluster.stop();
  await rm(folder, {recursive: true});
}
