import {imagesOf} from '../charts/images.ts';
import {chartSchema} from '../charts/schema.ts';
import {scopeOf} from '../charts/support.ts';
import {commandLine} from '../ground/command-line.ts';
import {ExpectedError} from '../ground/errors.ts';
import type {Export, ExportedFile} from '../host/files.ts';
import {splitImage} from '../settings/addresses.ts';
import type {Setting} from '../settings/define.ts';
import {agentImage, imageRegistry, runnerImage} from '../settings/pods.ts';
import type {Settings} from '../settings/settings.ts';
import {caFile} from '../settings/tls.ts';
import {flagsToRepeat} from '../values/document.ts';
import type {Generated} from '../values/generate.ts';

/** What the image gets in addition to certificates. */
export interface Additions {
  /** Packages of the distribution. */
  packages: readonly string[];
  /** Directory with provider plugins, laid out as a filesystem mirror. */
  plugins?: string | undefined;
}

const CERTIFICATES = '/usr/local/share/ca-certificates';
const BUNDLE = '/etc/ssl/certs/ca-certificates.crt';

/** A Dockerfile for the image in which runs execute, on top of the image of the chart version. Pure. @throws ExpectedError */
export function dockerfile({target, settings}: Pick<Generated, 'target' | 'settings'>, {packages, plugins}: Additions): Export {
  const isAgent = target.chart === 'agent-local';
  const setting = isAgent ? agentImage : runnerImage;
  const registry = settings.get(imageRegistry);
  const base = baseOf(target, setting, registry);
  const image = imageToBuild(settings, setting, base);
  const certificates = (settings.get(caFile) ?? '').match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----\n?/g) ?? [];
  const files = certificates.map((text, index): ExportedFile => ({path: `ca-${index + 1}.crt`, text, isPrivate: false}));
  const installed = [...(files.length > 0 ? ['ca-certificates'] : []), ...packages];
  const lines = [
    `# ${isAgent ? 'Agent' : 'Runner'} image for ${target.chart} ${target.version}. Build it with: docker build --tag ${image} .`,
    `FROM ${base}`,
    '',
    'USER 0:0',
    ...(installed.length === 0
      ? []
      : [
          '',
          `RUN apt-get update \\`,
          ` && apt-get install --yes --no-install-recommends ${installed.join(' ')} \\`,
          ' && rm -rf /var/lib/apt/lists/*',
        ]),
    ...(files.length === 0
      ? []
      : [
          '',
          '# Private CAs, in addition to the public ones.',
          `COPY ${files.map(({path}) => path).join(' ')} ${CERTIFICATES}/`,
          'RUN update-ca-certificates',
          `ENV SSL_CERT_FILE=${BUNDLE}${isAgent ? ` SCALR_AGENT_CA_CERT=${BUNDLE}` : ''}`,
        ]),
    ...(plugins === undefined
      ? []
      : [
          '',
          '# Provider plugins, used instead of the registry: https://developer.hashicorp.com/terraform/cli/config/config-file#implied-local-mirror-directories',
          `COPY ${JSON.stringify([plugins, '/usr/local/share/terraform/plugins/'])}`,
          'RUN mkdir -p /usr/local/share/opentofu && ln -s ../terraform/plugins /usr/local/share/opentofu/plugins',
        ]),
    '',
    '# The charts require this user.',
    'USER 1000:1000',
    '',
  ];
  return {
    files: [{path: 'Dockerfile', text: lines.join('\n'), isPrivate: false}, ...files],
    steps: [
      commandLine({tool: 'docker', args: ['build', '--tag', image, '.']}),
      commandLine({tool: 'docker', args: ['push', image]}),
      [
        `scalr-agent install --chart ${target.chart} --chart-version ${target.version}`,
        ...flagsToRepeat(
          settings.with(setting, {value: registry === undefined ? image : image.slice(registry.length + 1), source: 'flag'}),
        ),
      ].join(' '),
    ],
  };
}

/** The image of runs that the chart version uses by default. */
function baseOf(target: Generated['target'], setting: Setting<string>, registry: string | undefined): string {
  const agentVersion = chartSchema(target.chart)['x-releases'].find(({version}) => version === target.version)?.appVersion ?? 'latest';
  const {defaults} = scopeOf(target, () => undefined);
  // In agent-k8s, the image is used after a switch.
  const values =
    target.chart === 'agent-k8s' ? {...defaults, agent: {...(defaults['agent'] as object), container_task_image_mode: 'golden'}} : defaults;
  const base = imagesOf(values, target, agentVersion).find((each) => each.setting === setting)?.reference;
  if (base === undefined) {
    throw new ExpectedError(
      `${target.chart} ${target.version} has no image for all runs: it starts them in one image per tool and version.`,
      {code: 'UNSUPPORTED_SETTING', suggestions: ['Use --chart-version 0.5.67 or newer']},
    );
  }
  return registry === undefined ? base : `${registry}/${base}`;
}

function imageToBuild(settings: Settings, setting: Setting<string>, base: string): string {
  const {repository, tag} = splitImage(base);
  const wanted = settings.get(setting);
  if (wanted === undefined) return `${settings.get(imageRegistry) ?? 'registry.example.com'}/${repository.split('/').at(-1)}:${tag}-custom`;
  const named = splitImage(wanted).tag === undefined ? `${wanted}:${tag}` : wanted;
  return [settings.get(imageRegistry), named].filter(Boolean).join('/');
}
