import {chartSchema, defaultsOf} from '../../../../src/charts/releases/schema.ts';
import type {Target} from '../../../../src/charts/releases/target.ts';
import {within} from '../../../../src/charts/releases/versions.ts';
import {at, getAt, type Values} from '../../../../src/ground/tree.ts';
import {
  allRoles,
  type Case,
  type Claim,
  claim,
  EVERY_CHART,
  inEach,
  isFlat,
  NESTED,
} from '../claims.ts';
import type {Rendered} from '../render.ts';
import {type Role, variableOf} from '../workloads.ts';

const MIRROR = 'registry.example.com:5000/mirror';
const DIGEST = `sha256:${'0123456789abcdef'.repeat(4)}`;

const appVersion = ({chart, version}: Target): string | undefined =>
  chartSchema(chart)['x-releases'].find((each) => each.version === version)?.appVersion;

/** The containers that run the agent image; in agent-job worker and controller, whatever their variables. */
const imageRoles = ({chart}: Target): Role[] =>
  chart === 'agent-local' ? ['agent'] : ['controller', 'worker'];

/** Images of volumes: from 0.5.69 on the runner takes its entrypoint out of the agent image. */
const volumeImages = ({pods}: Rendered): string[] =>
  pods.flatMap(({volumes}) =>
    volumes.flatMap(
      (volume) => (volume['image'] as {reference: string} | undefined)?.reference ?? [],
    ),
  );

function agentImageIs(rendered: Rendered, image: string): Claim[] {
  const hasVolume =
    rendered.target.chart === 'agent-job' && within(rendered.target.version, '>=0.5.69');
  return [
    ...inEach(rendered, imageRoles(rendered.target), (container) => [
      claim('image', container.image, image),
    ]),
    claim('images of volumes', volumeImages(rendered), hasVolume ? [image] : []),
  ];
}

/** The image runs execute in; agent-k8s starts their pods itself. */
function runnerImageIs(rendered: Rendered, image: string): Claim[] {
  const {chart, version} = rendered.target;
  if (chart === 'agent-job')
    return inEach(rendered, ['runner'], (container) => [claim('image', container.image, image)]);
  if (chart === 'agent-local') return [];
  const isGolden = within(version, '>=0.5.67');
  return inEach(rendered, isGolden ? ['controller', 'worker'] : ['worker'], (container) => [
    claim(
      'SCALR_AGENT_CONTAINER_TASK_IMAGE',
      variableOf(container, 'SCALR_AGENT_CONTAINER_TASK_IMAGE'),
      image,
    ),
    ...(isGolden
      ? [
          claim(
            'mode of the image',
            variableOf(container, 'SCALR_AGENT_CONTAINER_TASK_IMAGE_MODE'),
            'golden',
          ),
        ]
      : []),
  ]);
}

const defaultRepository = ({chart, version}: Target): string =>
  String(
    getAt(
      defaultsOf(chartSchema(chart), version),
      at(chart === 'agent-job' ? 'agent.image.repository' : 'image.repository'),
    ),
  );

const RUNNERS = {'agent-k8s': '>=0.5.66', 'agent-job': '*'} as const;
const MIRRORS = {'agent-k8s': '*', 'agent-local': '*', 'agent-job': NESTED} as const;

const imageCase = (image: string, rendered?: (target: Target) => string): Case => ({
  name: `the agent image ${image}`,
  settings: {'agent-image': image},
  takenBy: EVERY_CHART,
  check: (release) => agentImageIs(release, rendered?.(release.target) ?? image),
});

const runnerCase = (image: string): Case => ({
  name: `the runner image ${image}`,
  settings: {'runner-image': image},
  takenBy: RUNNERS,
  check: (rendered) => runnerImageIs(rendered, image),
});

export const agentImageCase = imageCase('registry.example.com/team/agent:1.10');
export const runnerImageCase = runnerCase(`team/runner@${DIGEST}`);

export const mirrorCase: Case = {
  name: 'a mirror of all images',
  settings: {'image-registry': MIRROR},
  takenBy: MIRRORS,
  check: (rendered) => [
    ...inEach(rendered, imageRoles(rendered.target), (container) => [
      claim(
        'image',
        container.image,
        `${MIRROR}/${defaultRepository(rendered.target)}:${appVersion(rendered.target)}`,
      ),
    ]),
    ...rendered
      .containers()
      .map(({image, name}) =>
        claim(`image of ${name} in the mirror`, image.startsWith(`${MIRROR}/scalr/`), true),
      ),
    ...volumeImages(rendered).map((image) =>
      claim('image of a volume in the mirror', image.startsWith(`${MIRROR}/scalr/`), true),
    ),
    ...(rendered.target.chart === 'agent-k8s'
      ? inEach(rendered, ['controller', 'worker'], (container) => [
          claim(
            'registry of runs',
            variableOf(container, 'SCALR_AGENT_CONTAINER_TASK_IMAGE_REGISTRY'),
            `${MIRROR}/`,
          ),
        ])
      : []),
  ],
};

export const pullSecretCase: Case = {
  name: 'Secrets for pulling images',
  settings: {'image-pull-secret': ['mirror', 'registry.example.com']},
  takenBy: EVERY_CHART,
  check: (rendered) =>
    inEach(
      rendered,
      isFlat(rendered.target) ? ['controller', 'worker', 'runner'] : allRoles(rendered.target),
      ({pod}) => [
        claim('imagePullSecrets', pod.spec['imagePullSecrets'], [
          {name: 'mirror'},
          {name: 'registry.example.com'},
        ]),
      ],
    ),
};

export const pullPolicyCase: Case = {
  name: 'images that are never pulled',
  settings: {'image-pull-policy': 'Never'},
  takenBy: EVERY_CHART,
  check: (rendered) => [
    ...inEach(
      rendered,
      isFlat(rendered.target) ? ['controller', 'worker', 'runner'] : allRoles(rendered.target),
      ({pullPolicy}) => [claim('imagePullPolicy', pullPolicy, 'Never')],
    ),
    ...rendered.pods.flatMap(({volumes}) =>
      volumes.flatMap((volume) =>
        volume['image']
          ? [claim('pullPolicy of a volume', (volume['image'] as Values)['pullPolicy'], 'Never')]
          : [],
      ),
    ),
  ],
};

export const imageCases: readonly Case[] = [
  agentImageCase,
  imageCase(`team/agent@${DIGEST}`),
  imageCase(
    'registry.example.com/team/agent',
    (target) => `registry.example.com/team/agent:${appVersion(target)}`,
  ),
  runnerCase('registry.example.com/team/runner:1.20'),
  runnerImageCase,
  mirrorCase,
  {
    name: 'a mirror and images inside it',
    settings: (target) => ({
      'image-registry': MIRROR,
      'agent-image': `${target.chart === 'agent-local' ? defaultRepository(target) : 'team/agent'}:2.0.1`,
      ...(target.chart === 'agent-local' ||
      (target.chart === 'agent-k8s' && within(target.version, '<=0.5.65'))
        ? {}
        : {'runner-image': 'team/runner:3.1'}),
    }),
    takenBy: MIRRORS,
    check: (rendered) => [
      ...agentImageIs(
        rendered,
        `${MIRROR}/${rendered.target.chart === 'agent-local' ? defaultRepository(rendered.target) : 'team/agent'}:2.0.1`,
      ),
      ...(rendered.target.chart === 'agent-k8s' && within(rendered.target.version, '<=0.5.65')
        ? []
        : runnerImageIs(rendered, `${MIRROR}/team/runner:3.1`)),
    ],
  },
  pullSecretCase,
  pullPolicyCase,
];
