import {imagesOf} from '../../charts/images.ts';
import {agentVersionOf} from '../../charts/releases/schema.ts';
import type {Target} from '../../charts/releases/target.ts';
import {scopeOf} from '../../charts/support.ts';
import {commandLine} from '../../ground/command-line.ts';
import {ExpectedError, failed} from '../../ground/errors.ts';
import type {Values} from '../../ground/tree.ts';
import type {Setting} from '../../settings/define.ts';
import {agentImage, imageRegistry, runnerImage} from '../../settings/images.ts';
import {splitImage} from '../../settings/kinds/images.ts';
import {flagsOf, quote, recordedPath, type Settings} from '../../settings/settings.ts';
import {caFile} from '../../settings/tls.ts';
import {flagsToRepeat, generatedBy} from '../../values/document.ts';
import type {GeneratedValues} from '../../values/generate.ts';
import type {Export, ExportedFile} from '../machine/files.ts';
import {type Use, useOf} from './use.ts';

const CERTIFICATES = '/usr/local/share/ca-certificates';
const BUNDLE = '/etc/ssl/certs/ca-certificates.crt';

/** The image to extend: of runs, of the agent, or of one tool and version, in which agents without a runner image start runs. */
export const BASES = ['runner', 'agent', 'terraform'] as const;
export type ImageBase = (typeof BASES)[number];

/** What the image gets in addition to certificates. */
export interface Additions {
  base?: ImageBase | undefined;
  /** Packages of the distribution. */
  packages: readonly string[];
  /** Directory with provider plugins, laid out as a filesystem mirror. */
  plugins?: string | undefined;
}

type Inputs = Pick<GeneratedValues, 'target' | 'settings'>;

/** An image to build. */
interface BuiltImage {
  kind: ImageBase;
  /** Image that it extends. */
  base: string;
  reference: string;
  /** Setting that selects it. */
  setting: Setting<string>;
  /** Unless the chart or the agent selects another user. */
  runsAsRoot: boolean;
}

/** A Dockerfile for the image in which runs execute, or another one that --base selects. Pure. @throws ExpectedError */
export function dockerfile(inputs: Inputs, additions: Additions): Export & {notes: string[]} {
  const {packages, plugins, base} = additions;
  const image = imageToBuild(base ?? usualBase(inputs), inputs);
  const certificates = certificateFiles(inputs.settings);
  const lines = [
    `# ${titleOf(image, inputs.target)} Build it with: docker build --tag ${image.reference} .`,
    ...originOf(inputs, image, additions).map((line) => `# ${line}`),
    `FROM ${image.base}`,
    '',
    'USER 0:0',
    ...packageLines(certificates.length > 0 ? ['ca-certificates', ...packages] : packages),
    ...certificateLines(certificates, image),
    ...pluginLines(plugins),
    ...userLines(image),
    '',
  ];
  const use =
    image.kind === 'terraform' ? useOnMachines(image) : useInCluster(image, inputs, additions);
  return {
    files: [{path: 'Dockerfile', text: lines.join('\n'), isPrivate: false}, ...certificates],
    steps: [
      ...copySteps(plugins),
      commandLine({tool: 'docker', args: ['build', '--tag', image.reference, '.']}),
      ...use.steps,
    ],
    notes: use.notes,
  };
}

/** The command that writes this file. */
const originOf = (
  {target: {chart, version}, settings}: Inputs,
  {kind}: BuiltImage,
  additions: Additions,
): string[] =>
  generatedBy(
    `export dockerfile --base ${kind} --chart ${chart} --chart-version ${version}`,
    settings,
    additionFlags(additions),
  );

const additionFlags = ({packages, plugins}: Additions): string[] => [
  ...packages.map((each) => `--package ${each}`),
  ...(plugins ? [`--plugins ${quote(recordedPath(plugins))}`] : []),
];

function usualBase({target, settings}: Inputs): ImageBase {
  if (isToolImage(settings.get(runnerImage))) return 'terraform';
  return target.chart === 'agent-local' ? 'agent' : 'runner';
}

/** `scalr/terraform:1.5.7`: the image of one tool and version. */
const isToolImage = (image = ''): boolean => /^scalr\/(?!runner(:|@|$)|agent)/.test(image);

/** @throws ExpectedError if the chart has no such image, or the tool and its version are missing */
function imageToBuild(kind: ImageBase, {target, settings}: Inputs): BuiltImage {
  const setting = kind === 'agent' ? agentImage : runnerImage;
  if (kind === 'terraform') {
    const base = toolImage(settings);
    return {kind, base, reference: base, setting, runsAsRoot: true};
  }
  const base = chartImage(target, setting, settings.get(imageRegistry));
  return {
    kind,
    base,
    reference: customReference(settings, setting, base),
    setting,
    // agent-k8s and agents in Docker need root for directories of the node and the Docker socket.
    runsAsRoot: kind === 'agent' && target.chart === 'agent-k8s',
  };
}

/** @throws ExpectedError without the tool and its version */
function toolImage(settings: Settings): string {
  const image = settings.get(runnerImage);
  if (image !== undefined && splitImage(image).tag !== undefined) return image;
  throw new ExpectedError('--base terraform requires the image of a tool and version.', {
    code: 'MISSING_SETTING',
    suggestions: [`Add --${runnerImage.id} scalr/terraform:1.5.7`],
    options: [
      {add: `--${runnerImage.id} scalr/terraform:VERSION`, when: 'Select the tool and its version'},
    ],
  });
}

const certificateFiles = (settings: Settings): ExportedFile[] =>
  [
    ...(settings.get(caFile) ?? '').matchAll(
      /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----\n?/g,
    ),
  ].map(([text], index) => ({path: `ca-${index + 1}.crt`, text, isPrivate: false}));

function titleOf({kind}: BuiltImage, {chart, version}: Target): string {
  if (kind === 'terraform')
    return 'Runner image for agents that use one image per tool and version.';
  return `${kind === 'agent' ? 'Agent' : 'Runner'} image for ${chart} ${version}.`;
}

function packageLines(packages: readonly string[]): string[] {
  if (packages.length === 0) return [];
  return [
    '',
    'RUN apt-get update \\',
    ` && apt-get install --yes --no-install-recommends ${packages.join(' ')} \\`,
    ' && rm -rf /var/lib/apt/lists/*',
  ];
}

function certificateLines(files: readonly ExportedFile[], {kind}: BuiltImage): string[] {
  if (files.length === 0) return [];
  const ofAgent = kind === 'agent' ? ` SCALR_AGENT_CA_CERT=${BUNDLE}` : '';
  return [
    '',
    '# Private CAs, in addition to the public ones.',
    `COPY ${files.map(({path}) => path).join(' ')} ${CERTIFICATES}/`,
    'RUN update-ca-certificates',
    `ENV SSL_CERT_FILE=${BUNDLE}${ofAgent}`,
  ];
}

function pluginLines(plugins: string | undefined): string[] {
  if (plugins === undefined) return [];
  return [
    '',
    '# Provider plugins, used instead of the registry: https://developer.hashicorp.com/terraform/cli/config/config-file#implied-local-mirror-directories',
    `COPY ${JSON.stringify([recordedPath(plugins), '/usr/local/share/terraform/plugins/'])}`,
    'RUN mkdir -p /usr/local/share/opentofu && ln -s ../terraform/plugins /usr/local/share/opentofu/plugins',
  ];
}

const userLines = ({runsAsRoot}: BuiltImage): string[] =>
  runsAsRoot
    ? ['', '# The chart or the agent selects the user.']
    : ['', '# The charts require this user.', 'USER 1000:1000'];

/** Docker reads only below the directory of the Dockerfile. */
const copySteps = (plugins = ''): string[] =>
  plugins === recordedPath(plugins) ? [] : [commandLine({tool: 'cp', args: ['-R', plugins, '.']})];

const useOnMachines = ({reference}: BuiltImage): Use => ({
  steps: [],
  notes: [
    `Build the image on every machine with an agent, and name it ${reference}. The agent then uses it instead of the public one.`,
    'On a virtual machine with the Linux packages, docker is /opt/scalr-agent/embedded/bin/docker.',
  ],
});

function useInCluster(image: BuiltImage, {target, settings}: Inputs, additions: Additions): Use {
  const {reference, setting} = image;
  const hasCertificates = settings.get(caFile) !== undefined;
  const registry = settings.get(imageRegistry);
  const withImage = settings.with(setting, {
    value: registry === undefined ? reference : reference.slice(registry.length + 1),
    source: 'flag',
  });
  // agent-k8s sets the variables to empty texts, which replace those of the image.
  const flags =
    image.runsAsRoot && hasCertificates
      ? [...flagsToRepeat(withImage.without(caFile as Setting)), `--set agent.ca_cert=${BUNDLE}`]
      : flagsToRepeat(withImage);
  const use = useOf('the image', settings, {target, flags});
  const push = commandLine({tool: 'docker', args: ['push', reference]});
  return {
    steps: [push, ...use.steps],
    notes:
      image.kind === 'agent' ? [...use.notes, useInDocker(image, settings, additions)] : use.notes,
  };
}

function useInDocker(
  {runsAsRoot, reference}: BuiltImage,
  settings: Settings,
  additions: Additions,
): string {
  if (runsAsRoot)
    return `For an agent in Docker, add these flags to scalr-agent install --target docker: --agent-image ${reference}`;
  const ca = settings.answer(caFile as Setting);
  const flags = [
    ...(ca === undefined ? [] : flagsOf(caFile as Setting, ca)),
    ...additionFlags(additions),
  ];
  return `For an agent in Docker, which needs root for the Docker socket: ${['scalr-agent export dockerfile --base agent --chart agent-k8s', ...flags].join(' ')}`;
}

/** The image that the chart version uses by default. @throws ExpectedError if it has none */
function chartImage(
  target: Target,
  setting: Setting<string>,
  registry: string | undefined,
): string {
  const {defaults} = scopeOf(target);
  const values = target.chart === 'agent-k8s' ? withGoldenImage(defaults) : defaults;
  const base = imagesOf(values, target, agentVersionOf(target) ?? 'latest').find(
    (each) => each.setting === setting,
  )?.reference;
  if (base === undefined) throw noRunnerImage(target);
  return registry === undefined ? base : `${registry}/${base}`;
}

/** In agent-k8s, the runner image is used after a switch. */
const withGoldenImage = (defaults: Values): Values => ({
  ...defaults,
  agent: {...(defaults['agent'] as Values), container_task_image_mode: 'golden'},
});

const noRunnerImage = ({chart, version}: Target): ExpectedError =>
  chart === 'agent-local'
    ? failed(
        'UNSUPPORTED_SETTING',
        'agent-local has no runner image: runs execute in the agent image.',
        ['Use --base agent', 'Use another chart: --chart agent-job or --chart agent-k8s'],
      )
    : failed(
        'UNSUPPORTED_SETTING',
        `${chart} ${version} has no image for all runs: it starts them in one image per tool and version.`,
        ['Use --chart-version 0.5.67 or newer'],
      );

/** The name that the user has set, or one next to the base. */
function customReference(settings: Settings, setting: Setting<string>, base: string): string {
  const {repository, tag} = splitImage(base);
  const registry = settings.get(imageRegistry);
  const desired = settings.get(setting);
  if (desired === undefined)
    return `${registry ?? 'registry.example.com'}/${repository.split('/').at(-1)}:${tag}-custom`;
  const named = splitImage(desired).tag === undefined ? `${desired}:${tag}` : desired;
  return registry === undefined ? named : `${registry}/${named}`;
}
