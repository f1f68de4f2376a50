import {
  accessSync,
  constants,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {STATUS_CODES} from 'node:http';
import {createServer as createSocketServer} from 'node:net';
import {tmpdir} from 'node:os';
import {delimiter, join} from 'node:path';
import {execa, execaSync} from 'execa';
import {afterAll, describe, expect, test} from 'vitest';
import {probeFindings} from '../../../../src/checks/preflight/probe/probe-log.ts';
import {RUNNER_SCRIPT, SCRIPT} from '../../../../src/checks/preflight/probe/script.ts';
import {MANIFEST_TYPES} from '../../../../src/settings/kinds/images.ts';
import {issueCertificates} from '../../../control-plane/certificates.ts';
import {listening, proxyServer, secureServer, silentServer, webServer} from './web.ts';

const scratch = mkdtempSync(join(tmpdir(), 'probe-'));
afterAll(() => rmSync(scratch, {recursive: true, force: true}));
const {ca, server} = await issueCertificates(scratch);
const own = {cert: readFileSync(server.cert), key: readFileSync(server.key)};

const onPath = (name: string): string | undefined =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });

/** A busybox that runs its own applets ignores the stubs on PATH. */
const usesPath = (name: string): boolean =>
  name !== 'busybox' || execaSync(name, ['sh', '-c', 'command -v rm']).stdout !== 'rm';
const SHELLS = ['sh', 'dash', 'bash', 'busybox'].filter(
  (name) => onPath(name) !== undefined && usesPath(name),
);
const TOOLS = ['curl', 'wget', 'python3'].filter((name) => onPath(name) !== undefined);

/** A PATH with this tool alone, and what every image has. */
function pathWith(tools: readonly string[], stubs: Readonly<Record<string, string>> = {}): string {
  const bin = mkdtempSync(join(scratch, 'bin-'));
  for (const name of ['rm', 'chmod', 'sleep'].filter((each) => !(each in stubs)))
    symlinkSync(onPath(name) as string, join(bin, name));
  // A manager of versions may stand before it, which needs more than itself.
  for (const name of tools)
    writeFileSync(
      join(bin, name),
      `#!/bin/sh\nPATH='${process.env['PATH']}' exec ${onPath(name)} "$@"\n`,
      {mode: 0o755},
    );
  for (const [name, text] of Object.entries(stubs))
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`, {mode: 0o755});
  return bin;
}

const CLOSED = 'http://127.0.0.1:1/';
/** The frame that a gRPC server sends first, https://www.rfc-editor.org/rfc/rfc9113#SETTINGS */
const HTTP2_SETTINGS = Buffer.from('000000040000000000', 'hex');

async function probe(
  env: Record<string, string>,
  {tools = TOOLS, stubs = {}, directories = [] as string[], shell = 'sh'} = {},
) {
  const args = shell === 'busybox' ? ['sh', '-c'] : ['-c'];
  const {stdout} = await execa(
    onPath(shell) as string,
    [...args, SCRIPT, 'probe', ...directories],
    {
      env: {
        PATH: pathWith(tools, stubs),
        PROBE_METADATA: CLOSED,
        PROBE_TRIES: '1',
        PROBE_SECONDS: '5',
        HOSTNAME: 'pod',
        ...env,
      },
      extendEnv: false,
    },
  );
  expect(stdout.split('\n').at(-1)).toBe('probe done');
  return probeFindings(stdout);
}

test('Kubernetes leaves the script as it is', () => {
  expect(SCRIPT).not.toContain('$$');
  expect(SCRIPT).not.toMatch(/\$\([A-Za-z_]\w*\)/);
});

test.each(SHELLS)('reports what a runner image lacks, in %s', async (shell) => {
  const runner = async (tools: readonly string[]) => {
    const args = shell === 'busybox' ? ['sh', '-c'] : ['-c'];
    const stubs = {grep: 'exit 1'};
    const {stdout} = await execa(onPath(shell) as string, [...args, RUNNER_SCRIPT], {
      env: {PATH: pathWith(tools, stubs)},
      extendEnv: false,
    });
    return probeFindings(stdout).runner;
  };
  expect(await runner(['curl'])).toEqual({missesUser: true, missesCurl: false});
  expect(await runner([])).toMatchObject({missesCurl: true});
});

describe.each(TOOLS)('with %s', (tool) => {
  const scalr = async (env: Record<string, string>) => (await probe(env, {tools: [tool]})).scalr;

  test.each([200, 302, 404, 503])('the server answers %i', async (status) => {
    expect(await scalr({PROBE_URL: `http://127.0.0.1:${await webServer(status)}/`})).toEqual({
      state: 'ok',
      detail: String(status),
    });
  });

  test('registries that answer and that refuse', async () => {
    const url = `http://127.0.0.1:${await webServer(401)}/v2/`;
    const {registries, urls} = await probe(
      {PROBE_REGISTRIES: `${url} ${CLOSED}`, PROBE_URLS: url},
      {tools: [tool]},
    );
    expect(urls).toMatchObject([{url, state: 'ok', detail: '401'}]);
    // They are requested at the same time.
    expect(registries.toSorted((one, other) => one.state.localeCompare(other.state))).toMatchObject(
      [
        {url, state: 'ok', detail: '401'},
        {url: CLOSED, state: 'refused'},
      ],
    );
  });

  test('many hosts at the same time', async () => {
    const ports = await Promise.all(Array.from({length: 9}, () => webServer(404)));
    const {registries} = await probe(
      {PROBE_REGISTRIES: ports.map((port) => `http://127.0.0.1:${port}/`).join(' ')},
      {tools: [tool]},
    );
    expect(registries.map(({url, state}) => `${url} ${state}`).toSorted()).toEqual(
      ports.map((port) => `http://127.0.0.1:${port}/ ok`).toSorted(),
    );
  });

  test('collectors that speak HTTP/2, that are closed, and never a proxy', async () => {
    const collector = createSocketServer(
      (socket) =>
        void socket.on('error', () => undefined).on('data', () => socket.end(HTTP2_SETTINGS)),
    );
    const port = await listening(collector);
    const proxy = await proxyServer();
    const env = {
      PROBE_TELEMETRY: `127.0.0.1:${port} 127.0.0.1:1`,
      HTTP_PROXY: `http://127.0.0.1:${proxy.port}`,
    };
    const {telemetry} = await probe(env, {tools: [tool]});
    expect(telemetry[0]?.state).toMatch(/^(ok|failed)$/);
    expect(telemetry[1]).toMatchObject({url: '127.0.0.1:1', state: 'refused'});
    expect(proxy.asked).toEqual([]);
  });

  test.each([
    200, 401, 404,
  ])('a registry that answers %i to a request for a manifest', async (status) => {
    const asked: unknown[] = [];
    const url = `http://127.0.0.1:${await webServer(status, undefined, ({method, headers}) => void asked.push([method, headers.accept]))}/v2/agent/manifests/1.4.0`;
    const {manifests} = await probe({PROBE_MANIFESTS: `${url} ${CLOSED}`}, {tools: [tool]});
    expect(manifests).toMatchObject([
      {url, state: 'ok', detail: String(status)},
      {state: 'refused'},
    ]);
    expect(asked).toEqual([['HEAD', MANIFEST_TYPES.join(', ')]]);
  });

  test('certificates that are trusted, not trusted, not readable', async () => {
    const PROBE_URL = `https://127.0.0.1:${await secureServer(own)}/`;
    expect(await scalr({PROBE_URL, PROBE_CA: ca.cert})).toEqual({state: 'ok', detail: '200'});
    expect(await scalr({PROBE_URL})).toMatchObject({state: 'untrusted'});
    expect(await scalr({PROBE_URL, PROBE_CA: join(scratch, 'nothing')})).toMatchObject({
      state: 'no-ca',
    });
  });

  test('a server that does not speak TLS', async () => {
    expect(await scalr({PROBE_URL: `https://127.0.0.1:${await webServer(200)}/`})).toMatchObject({
      state: 'tls',
    });
  });

  test('nobody listens, nobody answers, nobody has that name', async () => {
    expect(await scalr({PROBE_URL: 'https://127.0.0.1:1/'})).toMatchObject({state: 'refused'});
    expect(
      await scalr({PROBE_URL: `http://127.0.0.1:${await silentServer()}/`, PROBE_SECONDS: '1'}),
    ).toMatchObject({state: 'timeout'});
    expect(await scalr({PROBE_URL: 'https://nobody.invalid/'})).toMatchObject({state: 'dns'});
  });

  test('through a proxy, whatever the spelling of its variable', async () => {
    const port = await secureServer(own);
    for (const name of ['HTTPS_PROXY', 'https_proxy']) {
      const proxy = await proxyServer();
      const found = await scalr({
        PROBE_URL: `https://localhost:${port}/`,
        PROBE_CA: ca.cert,
        [name]: `http://127.0.0.1:${proxy.port}`,
      });
      expect({found, asked: proxy.asked}).toEqual({
        found: {state: 'ok', detail: '200'},
        asked: [`localhost:${port}`],
      });
    }
  });

  test('past the proxy where NO_PROXY says so', async () => {
    const proxy = await proxyServer();
    const env = {
      HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`,
      NO_PROXY: 'localhost',
      PROBE_CA: ca.cert,
    };
    expect(
      await scalr({...env, PROBE_URL: `https://localhost:${await secureServer(own)}/`}),
    ).toEqual({state: 'ok', detail: '200'});
    expect(proxy.asked).toEqual([]);
  });

  test.each([407, 403, 502])('a proxy that answers %i', async (status) => {
    const {port} = await proxyServer(status);
    const found = await scalr({
      PROBE_URL: 'https://acme.example.com/',
      HTTPS_PROXY: `http://127.0.0.1:${port}`,
    });
    // wget tells the words alone.
    const words = tool === 'wget' && status !== 407 ? STATUS_CODES[status] : String(status);
    expect(found).toEqual({state: 'proxy', detail: words});
  });

  test('a proxy that is not there', async () => {
    expect(
      await scalr({PROBE_URL: 'https://acme.example.com/', HTTPS_PROXY: 'http://127.0.0.1:1'}),
    ).toMatchObject({state: 'refused'});
    const unknown = await scalr({
      PROBE_URL: 'https://acme.example.com/',
      HTTPS_PROXY: 'http://nobody.invalid:3128',
    });
    expect(unknown?.state).toMatch(/^(proxy-)?dns$/);
  });

  test('the metadata service answers or does not, without the proxy', async () => {
    const {port, asked} = await proxyServer();
    const proxies = {HTTP_PROXY: `http://127.0.0.1:${port}`, NO_PROXY: ''};
    const open = `http://127.0.0.1:${await webServer(401)}/`;
    expect((await probe({PROBE_METADATA: open, ...proxies}, {tools: [tool]})).metadata).toEqual({
      state: 'ok',
      detail: '401',
    });
    expect(
      (await probe({PROBE_METADATA: CLOSED, ...proxies}, {tools: [tool]})).metadata,
    ).toMatchObject({state: 'refused'});
    expect(asked).toEqual([]);
  });

  test('a policy that is enforced a moment later', async () => {
    const PROBE_METADATA = `http://127.0.0.1:${await webServer(200, 2)}/`;
    const found = await probe(
      {PROBE_METADATA, PROBE_TRIES: '4'},
      {tools: [tool], stubs: {sleep: ':'}},
    );
    expect(found.metadata).toMatchObject({state: 'refused'});
  });
});

test('a metadata service that goes on answering is asked so many times', async () => {
  const PROBE_METADATA = `http://127.0.0.1:${await webServer(200, 4)}/`;
  const found = await probe({PROBE_METADATA, PROBE_TRIES: '3'}, {stubs: {sleep: ':'}});
  expect(found.metadata).toMatchObject({state: 'ok'});
});

test.each([
  ['curl', '--capath /dev/null'],
  ['wget', '--ca-directory=/dev/null'],
])('with certificates of its own %s trusts no others of the image', async (tool, argument) => {
  const said = join(scratch, `said-by-${tool}`);
  const stubs = {
    [tool]: `case $1 in --version) echo GNU ;; *) printf '%s ' "$@" >>${said} ;; esac`,
  };
  await probe({PROBE_URL: 'https://acme.example.com/', PROBE_CA: ca.cert}, {tools: [], stubs});
  expect(readFileSync(said, 'utf8').split(argument)).toHaveLength(2);
});

test('an image without a tool says so; a wget without checks of certificates is none', async () => {
  const stubs = {wget: 'echo "wget: unrecognized option --version, BusyBox v1.37" >&2; exit 1'};
  for (const more of [{}, {stubs}]) {
    const found = await probe({PROBE_URL: CLOSED}, {tools: [], ...more});
    expect(found).toMatchObject({scalr: {state: 'no-tool'}, metadata: {state: 'no-tool'}});
  }
});

describe.each(SHELLS)('%s', (shell) => {
  const volumes = async (directories: string[], more = {}) =>
    (await probe({}, {tools: [], directories, shell, ...more})).volumes;

  test('volumes that can be used, and one that is none', async () => {
    const directory = mkdtempSync(join(scratch, 'a volume '));
    const file = join(scratch, 'file');
    writeFileSync(file, '');
    expect(await volumes([directory, file])).toEqual([
      {state: 'ok', directory},
      {state: 'denied', directory: file},
    ]);
    expect(readdirSync(directory)).toEqual([]);
  });

  test('a volume where nothing can be executed', async () => {
    const directory = mkdtempSync(join(scratch, 'volume-'));
    expect(await volumes([directory], {stubs: {chmod: ':'}})).toEqual([
      {state: 'noexec', directory},
    ]);
    expect(readdirSync(directory)).toEqual([]);
  });

  test.each([
    ['Read-only file system', 'read-only'],
    ['No space left on device', 'full'],
    ['Disk quota exceeded', 'full'],
    ['Permission denied', 'denied'],
  ])('a volume of which is said %s', async (words, state) => {
    const directory = mkdtempSync(join(scratch, 'volume-'));
    expect(
      await volumes([directory], {stubs: {chmod: `echo "chmod: ${words}" >&2; exit 1`}}),
    ).toEqual([{state, directory}]);
    expect(readdirSync(directory)).toEqual([]);
  });

  test('without an address nothing is said of it', async () => {
    expect((await probe({PROBE_URL: ''}, {shell})).scalr).toBeUndefined();
  });
});

test('the tests ran with a shell and a tool', () => {
  expect(existsSync(onPath('sh') as string)).toBe(true);
  expect(TOOLS).not.toEqual([]);
});
