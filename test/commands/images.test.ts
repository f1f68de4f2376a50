import {execa} from 'execa';
import {describe, expect, test} from 'vitest';
import {imagesOf} from '../../src/charts/images.ts';
import type {Target} from '../../src/charts/releases/target.ts';
import Images from '../../src/commands/images.ts';
import Values from '../../src/commands/values.ts';
import {toolNotFound} from '../../src/ground/system/node-processes.ts';
import {effectiveValues} from '../../src/values/reading/read-values.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {violations} from '../support/output-schema.ts';
import {runCommand} from '../support/run-command.ts';

const REGISTRY = 'registry.example.com/mirror';
const DIGEST = `sha256:${'0123456789abcdef'.repeat(4)}`;

async function imagesFor(...argv: string[]) {
  const {stdout, exit} = await runCommand(Images, [...argv, '--json']);
  expect(exit).toBe(0);
  expect(violations('images', stdout)).toEqual([]);
  return JSON.parse(stdout);
}

test.each([
  ['agent-local', '0.6.5', {'scalr/agent:1.4.0': ['agent']}],
  ['agent-local', '0.5.63', {'scalr/agent-runner:0.59.0': ['agent']}],
  ['agent-k8s', '0.6.5', {'scalr/agent:1.4.0': ['controller', 'worker']}],
  [
    'agent-job',
    '0.6.5',
    {
      'scalr/agent:1.4.0': ['controller', 'worker', 'entrypoint of runner'],
      'scalr/runner:0.2.0': ['runner'],
    },
  ],
  [
    'agent-job',
    '0.5.63',
    {'scalr/agent:0.56.0': ['controller', 'worker'], 'scalr/agent-runner:0.56.0': ['runner']},
  ],
])('lists the images of %s %s', async (chart, version, expected) => {
  const {images} = await imagesFor('--chart', chart, '--chart-version', version);
  expect(
    Object.fromEntries(
      images.map(({image, used}: {image: string; used: string[]}) => [image, used]),
    ),
  ).toEqual(expected);
});

describe('with a registry', () => {
  test('names the copy, the commands and the setting', async () => {
    const {images, commands} = await imagesFor(
      '--chart',
      'agent-job',
      '--image-registry',
      REGISTRY,
    );
    expect(images[1]).toEqual({
      image: 'scalr/runner:0.2.0',
      used: ['runner'],
      mirror: `${REGISTRY}/scalr/runner:0.2.0`,
      settings: [{id: 'image-registry', value: REGISTRY}],
    });
    expect(commands.skopeo[1]).toBe(
      `skopeo copy --all docker://docker.io/scalr/runner:0.2.0 docker://${REGISTRY}/scalr/runner:0.2.0`,
    );
    expect(commands.crane[1]).toBe(`crane copy scalr/runner:0.2.0 ${REGISTRY}/scalr/runner:0.2.0`);
    expect(commands.docker).toContain(`docker push ${REGISTRY}/scalr/runner:0.2.0`);
  });

  test('uses settings of single images if the chart has no key for a registry', async () => {
    const {images} = await imagesFor(
      '--chart',
      'agent-job',
      '--chart-version',
      '0.5.63',
      '--image-registry',
      REGISTRY,
    );
    const flags = images.flatMap(({settings}: {settings: {id: string; value: string}[]}) =>
      settings.flatMap(({id, value}) => [`--${id}`, value]),
    );
    expect(flags).toContain('--runner-image');
    const values = [
      '--url',
      'https://acme.scalr.io',
      '--chart',
      'agent-job',
      '--chart-version',
      '0.5.63',
      ...flags,
    ];
    const {stdout, exit} = await runCommand(Values, values);
    expect(exit).toBe(0);
    expect(stdout).toContain(`${REGISTRY}/scalr/agent-runner`);
  });

  test.each([
    ['agent-k8s', '0.6.5', ['--runner-image', 'scalr/runner:0.2.0']],
    [
      'agent-job',
      '0.6.5',
      ['--runner-image', 'team/runner:0.9.9', '--agent-image', 'team/agent:8'],
    ],
    [
      'agent-job',
      '0.6.5',
      ['--set', 'global.imageNamespace=team', '--runner-image', 'other/runner:1'],
    ],
    ['agent-job', '0.5.63', ['--runner-image', 'team/runner:0.9.9', '--extra-env', 'A=b c']],
    [
      'agent-local',
      '0.6.5',
      ['--agent-image', `team/agent@${DIGEST}`, '--cache', 'pvc', '--cache-size', '40Gi'],
    ],
  ])('prints an install of %s %s that starts the copies only, with all other settings', async (chart, version, argv) => {
    const flags = [
      '--url',
      'https://acme.scalr.io',
      '--chart',
      chart,
      '--chart-version',
      version,
      ...argv,
    ];
    const {images} = await imagesFor(...flags, '--image-registry', REGISTRY);
    const {stdout} = await runCommand(Images, [...flags, '--image-registry', REGISTRY]);
    const printed = /Use the copies\n {2}scalr-agent install (.*)\n/.exec(stdout)?.[1] ?? '';
    const words = [...printed.matchAll(/'([^']*)'|(\S+)/g)].map(
      ([, quoted, plain]) => quoted ?? plain ?? '',
    );
    const {stdout: copied} = await runCommand(Values, [...words, '--json']);
    const {stdout: direct} = await runCommand(Values, [...flags, '--json']);
    const target: Target = {chart: chart as Target['chart'], version};
    const rendered = imagesOf(
      effectiveValues(JSON.parse(copied).values, target),
      target,
      images[0].image.split(':')[1],
    );
    expect(new Set(rendered.map((each) => each.rendered))).toEqual(
      new Set(images.map(({mirror}: {mirror: string}) => mirror)),
    );
    const others = (json: string) =>
      JSON.parse(json).settings.filter(
        ({id}: {id: string}) => !/^(image-registry|agent-image|runner-image)$/.test(id),
      );
    expect(others(copied)).toEqual(others(direct));
  });

  test('has no docker command for a digest, which docker cannot push', async () => {
    const argv = [
      '--chart',
      'agent-local',
      '--agent-image',
      `team/agent@${DIGEST}`,
      '--image-registry',
      REGISTRY,
    ];
    const {images, commands} = await imagesFor(...argv);
    expect(images[0]).toMatchObject({
      image: `team/agent@${DIGEST}`,
      digest: DIGEST,
      mirror: `${REGISTRY}/team/agent@${DIGEST}`,
    });
    expect(commands.docker).toEqual([]);
    expect(commands.crane).toHaveLength(1);
  });

  test('does not use a registry of a values file as source', async () => {
    const files = memoryFiles({'values.yaml': `global:\n  imageRegistry: ${REGISTRY}\n`});
    const {stdout} = await runCommand(
      Images,
      ['--chart', 'agent-job', '--values-file', 'values.yaml', '--json'],
      {files},
    );
    expect(JSON.parse(stdout).images[0]).toMatchObject({
      image: 'scalr/agent:1.4.0',
      mirror: `${REGISTRY}/scalr/agent:1.4.0`,
    });
  });

  test('follows the namespace that replaces others', async () => {
    const argv = [
      '--chart',
      'agent-job',
      '--image-registry',
      REGISTRY,
      '--set',
      'global.imageNamespace=team',
    ];
    const {images} = await imagesFor(...argv);
    expect(images[0]).toMatchObject({
      image: 'scalr/agent:1.4.0',
      mirror: `${REGISTRY}/team/agent:1.4.0`,
    });
  });
});

test('lists sidecars, which have no setting', async () => {
  const {images} = await imagesFor(
    '--chart',
    'agent-job',
    '--set',
    'task.sidecars=[{"name": "log", "image": "quay.io/team/log:2"}]',
  );
  expect(images.at(-1)).toEqual({image: 'quay.io/team/log:2', used: ['sidecar'], settings: []});
});

describe('runner images in agent-k8s', () => {
  test('cannot be listed unless one image is set, so there is a warning', async () => {
    const {warnings} = await imagesFor('--chart', 'agent-k8s');
    expect(warnings).toEqual([
      expect.objectContaining({
        code: 'UNKNOWN_IMAGES',
        message: expect.stringContaining('scalr/runner:0.2.0'),
      }),
    ]);
  });

  test('are listed with --runner-image', async () => {
    const {images, warnings} = await imagesFor(
      '--chart',
      'agent-k8s',
      '--runner-image',
      'scalr/runner:0.2.0',
    );
    expect(warnings).toEqual([]);
    expect(images).toContainEqual(
      expect.objectContaining({image: 'scalr/runner:0.2.0', used: ['run']}),
    );
  });

  test('cannot be set in versions without the key', async () => {
    const {warnings} = await imagesFor('--chart', 'agent-k8s', '--chart-version', '0.5.60');
    expect(warnings[0].message).not.toContain('--runner-image scalr');
  });
});

describe('the output', () => {
  test('needs no URL, and prints the list as text', async () => {
    const {stdout, exit} = await runCommand(Images, [
      '--chart',
      'agent-job',
      '--image-registry',
      REGISTRY,
    ]);
    expect(exit).toBe(0);
    expect(stdout).toMatchSnapshot();
  });

  test('is a script that a shell accepts', async () => {
    const {stdout} = await runCommand(Images, [
      '--chart',
      'agent-job',
      '--format',
      'oci-layout-script',
    ]);
    expect(stdout).toMatchSnapshot();
    expect(await execa('sh', ['-n'], {input: stdout, reject: false})).toMatchObject({exitCode: 0});
    expect(await execa('sh', ['-s', 'push'], {input: stdout, reject: false})).toMatchObject({
      exitCode: 2,
    });
  });

  test('is written to --out, and --format json is --json', async () => {
    const files = memoryFiles();
    await runCommand(
      Images,
      ['--chart', 'agent-job', '--format', 'oci-layout-script', '--out', 'images.sh'],
      {files},
    );
    expect(files.written).toEqual([
      {path: 'images.sh', text: expect.stringMatching(/^#!\/bin\/sh/), isPrivate: false},
    ]);
    expect(JSON.parse((await runCommand(Images, ['--format', 'json'])).stdout)).toMatchObject({
      schemaVersion: 1,
    });
    expect((await runCommand(Images, ['--json', '--format', 'oci-layout-script'])).exit).toBe(2);
  });
});

test('refuses a chart version that it cannot read', async () => {
  const processes = () => ({
    run: async () => Promise.reject(toolNotFound('helm', 'helm', false)),
    start: () => undefined as never,
  });
  const {stderr, exit} = await runCommand(
    Images,
    ['--chart', 'agent-job', '--chart-version', '9.0.0'],
    {processes},
  );
  expect(exit).toBe(2);
  expect(stderr).toContain('--chart-source');
});
