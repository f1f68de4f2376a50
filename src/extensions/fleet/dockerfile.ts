import {imagesOf} from '../../charts/images.ts';
import {agentVersionOf} from '../../charts/releases/schema.ts';
import {scopeOf} from '../../charts/support.ts';
import {commandLine} from '../../ground/command-line.ts';
import {ExpectedError, failed} from '../../ground/errors.ts';
import type {Setting} from '../../settings/define.ts';
import {agentImage, imageRegistry, runnerImage} from '../../settings/images.ts';
import {splitImage} from '../../settings/kinds/images.ts';
import {recordedPath, type Settings} from '../../settings/settings.ts';
import {caFile} from '../../settings/tls.ts';
import {flagsToRepeat} from '../../values/document.ts';
import type {Generated} from '../../values/generate.ts';
import type {Additions, ImageBase} from '../machine/docker.ts';
import type {Export, ExportedFile} from '../machine/files.ts';
import {useOf} from './use.ts';

const CERTIFICATES = '/usr/local/share/ca-certificates';
const BUNDLE = '/etc/ssl/certs/ca-certificates.crt';

/** A Dockerfile for the image in which runs execute, or another one that --base selects. Pure. @throws ExpectedError */
export function dockerfile(
  {target, settings}: Pick<Generated, 'target' | 'settings'>,
  {packages, plugins, base: given}: Additions,
): Export & {notes: string[]} {
  const kind =
    given ??
    (isToolImage(settings.get(runnerImage))
      ? 'terraform'
      : target.chart === 'agent-local'
        ? 'agent'
        : 'runner');
  const isAgent = kind === 'agent';
  const setting = isAgent ? agentImage : runnerImage;
  const registry = settings.get(imageRegistry);
  const base = kind === 'terraform' ? toolImage(settings) : baseOf(target, setting, registry);
  const image = kind === 'terraform' ? base : imageToBuild(settings, setting, base);
  const certificates =
    (settings.get(caFile) ?? '').match(
      /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----\n?/g,
    ) ?? [];
  const files = certificates.map(
    (text, index): ExportedFile => ({path: `ca-${index + 1}.crt`, text, isPrivate: false}),
  );
  const installed = [...(files.length > 0 ? ['ca-certificates'] : []), ...packages];
  const lines = [
    kind === 'terraform'
      ? `# Runner image for agents that use one image per tool and version. Build it with: docker build --tag ${image} .`
      : `# ${isAgent ? 'Agent' : 'Runner'} image for ${target.chart} ${target.version}. Build it with: docker build --tag ${image} .`,
    `FROM ${base}`,
    '',
    'USER 0:0',
    ...section(
      installed.length > 0,
      `RUN apt-get update \\`,
      ` && apt-get install --yes --no-install-recommends ${installed.join(' ')} \\`,
      ' && rm -rf /var/lib/apt/lists/*',
    ),
    ...section(
      files.length > 0,
      '# Private CAs, in addition to the public ones.',
      `COPY ${files.map(({path}) => path).join(' ')} ${CERTIFICATES}/`,
      'RUN update-ca-certificates',
      `ENV SSL_CERT_FILE=${BUNDLE}${isAgent ? ` SCALR_AGENT_CA_CERT=${BUNDLE}` : ''}`,
    ),
    ...section(
      plugins !== undefined,
      '# Provider plugins, used instead of the registry: https://developer.hashicorp.com/terraform/cli/config/config-file#implied-local-mirror-directories',
      `COPY ${JSON.stringify([recordedPath(plugins ?? ''), '/usr/local/share/terraform/plugins/'])}`,
      'RUN mkdir -p /usr/local/share/opentofu && ln -s ../terraform/plugins /usr/local/share/opentofu/plugins',
    ),
    ...(isOfRoot(kind, target)
      ? section(true, '# The chart or the agent selects the user.')
      : section(true, '# The charts require this user.', 'USER 1000:1000')),
    '',
  ];
  const used = usage({kind, image, setting, target, settings, hasCertificates: files.length > 0});
  return {
    files: [{path: 'Dockerfile', text: lines.join('\n'), isPrivate: false}, ...files],
    steps: [...copySteps(plugins), ...used.steps],
    notes: used.notes,
  };
}

/** Docker reads only below the directory of the Dockerfile. */
const copySteps = (plugins = ''): string[] =>
  plugins === recordedPath(plugins) ? [] : [commandLine({tool: 'cp', args: ['-R', plugins, '.']})];

/** agent-k8s and agents in Docker need root for directories of the node and the Docker socket. */
const isOfRoot = (kind: ImageBase, {chart}: Generated['target']): boolean =>
  kind === 'terraform' || (kind === 'agent' && chart === 'agent-k8s');

const section = (isNeeded: boolean, ...lines: readonly string[]): string[] =>
  isNeeded ? ['', ...lines] : [];

/** `scalr/terraform:1.5.7`: the image of one tool and version. */
const isToolImage = (image = ''): boolean => /^scalr\/(?!runner(:|@|$)|agent)/.test(image);

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

interface Built {
  kind: ImageBase;
  image: string;
  setting: Setting<string>;
  target: Generated['target'];
  settings: Settings;
  hasCertificates: boolean;
}

/** How to build and use the image. */
function usage({kind, image, setting, target, settings, hasCertificates}: Built): {
  steps: string[];
  notes: string[];
} {
  const build = commandLine({tool: 'docker', args: ['build', '--tag', image, '.']});
  if (kind === 'terraform')
    return {
      steps: [build],
      notes: [
        `Build the image on every machine with an agent, and name it ${image}. The agent then uses it instead of the public one.`,
        'On a virtual machine with the Linux packages, docker is /opt/scalr-agent/embedded/bin/docker.',
      ],
    };
  // agent-k8s sets the variables to empty texts, which replace those of the image.
  const isOverruled = kind === 'agent' && target.chart === 'agent-k8s' && hasCertificates;
  const registry = settings.get(imageRegistry);
  const built = settings.with(setting, {
    value: registry === undefined ? image : image.slice(registry.length + 1),
    source: 'flag',
  });
  const flags = [
    ...flagsToRepeat(isOverruled ? built.without(caFile as Setting) : built),
    ...(isOverruled ? [`--set agent.ca_cert=${BUNDLE}`] : []),
  ];
  const use = useOf('the image', settings, {target, flags});
  return {
    steps: [build, commandLine({tool: 'docker', args: ['push', image]}), ...use.steps],
    notes: [...use.notes, ...(kind === 'agent' ? [inDocker(kind, target, image)] : [])],
  };
}

const inDocker = (kind: ImageBase, target: Generated['target'], image: string): string =>
  isOfRoot(kind, target)
    ? `For an agent in Docker, add these flags to scalr-agent install --target docker: --agent-image ${image}`
    : 'For an agent in Docker, which needs root for the Docker socket: scalr-agent export dockerfile --base agent --chart agent-k8s';

/** The runner image that the chart version uses by default. */
function baseOf(
  target: Generated['target'],
  setting: Setting<string>,
  registry: string | undefined,
): string {
  const agentVersion = agentVersionOf(target) ?? 'latest';
  const {defaults} = scopeOf(target);
  // In agent-k8s, the image is used after a switch.
  const values =
    target.chart === 'agent-k8s'
      ? {
          ...defaults,
          agent: {...(defaults['agent'] as object), container_task_image_mode: 'golden'},
        }
      : defaults;
  const base = imagesOf(values, target, agentVersion).find(
    (each) => each.setting === setting,
  )?.reference;
  if (base === undefined) {
    throw target.chart === 'agent-local'
      ? failed(
          'UNSUPPORTED_SETTING',
          'agent-local has no runner image: runs execute in the agent image.',
          ['Use --base agent', 'Use another chart: --chart agent-job or --chart agent-k8s'],
        )
      : failed(
          'UNSUPPORTED_SETTING',
          `${target.chart} ${target.version} has no image for all runs: it starts them in one image per tool and version.`,
          ['Use --chart-version 0.5.67 or newer'],
        );
  }
  return registry === undefined ? base : `${registry}/${base}`;
}

function imageToBuild(settings: Settings, setting: Setting<string>, base: string): string {
  const {repository, tag} = splitImage(base);
  const desired = settings.get(setting);
  if (desired === undefined)
    return `${settings.get(imageRegistry) ?? 'registry.example.com'}/${repository.split('/').at(-1)}:${tag}-custom`;
  const named = splitImage(desired).tag === undefined ? `${desired}:${tag}` : desired;
  return [settings.get(imageRegistry), named].filter(Boolean).join('/');
}
