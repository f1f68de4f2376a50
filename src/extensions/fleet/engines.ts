import push from '../../../templates/export/argocd/push.md';
import firstOverlay from '../../../templates/export/first-overlay.md';
import fluxSkeleton from '../../../templates/export/flux/base.json' with {type: 'json'};
import decryption from '../../../templates/export/flux/decryption.md';
import fluxReadme from '../../../templates/export/flux/README.md';
import helmfileSkeleton from '../../../templates/export/helmfile/helmfile.yaml.gotmpl';
import helmfileReadme from '../../../templates/export/helmfile/README.md';
import keepPvc from '../../../templates/export/keep-pvc.md';
import overlay from '../../../templates/export/overlay.md';
import remove from '../../../templates/export/remove.md';
import agent from '../../../templates/export/terraform/agent.tf';
import cluster from '../../../templates/export/terraform/cluster.tf';
import terraformReadme from '../../../templates/export/terraform/README.md';
import token from '../../../templates/export/terraform/token.tf';
import upgradeNotes from '../../../templates/export/upgrade-notes.json' with {type: 'json'};
import {
  CHART_REPOSITORY,
  commandLine,
  kubectlCommand,
  shellWord,
} from '../../ground/command-line.ts';
import {failed} from '../../ground/errors.ts';
import {oneOf} from '../../ground/text.ts';
import type {Values} from '../../ground/tree.ts';
import {toYaml} from '../../values/document.ts';
import {type Export, type ExportedFile, fill} from '../machine/files.ts';
import {applicationName, argocd, argocdAppset} from './argocd.ts';
import {
  type Engine,
  type Fleet,
  type FleetMember,
  type PreparedFleet,
  prepareFleet,
  type TokenSource,
} from './fleet.ts';
import {filled, manifest, namespaceObject, textFile} from './manifests.ts';
import {
  encryptedFile,
  externalSecret,
  remoteKey,
  rotateSection,
  sopsRules,
  tokenCommands,
  tokenSection,
} from './token-source.ts';

/** Two modules, and a root module per cluster with a state of its own. */
const terraform: Engine = {
  readme: terraformReadme,
  start: (member) => [
    `# Write clusters/${member.name}/providers.tf: README.md, Bootstrap`,
    tofu(member, 'init'),
    `${tofu(member, 'apply')}${kubectlVariable(member, `"kubectl_flags=--context '$(${CURRENT_CONTEXT})'"`)}`,
  ],
  tokenFile: () => '',
  cluster: 'default',
  tokens: ['existing'],
  files: (_, {header: lines, members, bases}) => {
    const header = comment(lines);
    return [
      textFile('modules/agent/main.tf', fill(agent, {header, repository: CHART_REPOSITORY})),
      textFile('modules/token/main.tf', fill(token, {header})),
      ...bases,
      ...members.map((member) =>
        textFile(`clusters/${member.name}/main.tf`, clusterModule(member)),
      ),
    ];
  },
};

const tofu = ({name}: FleetMember, verb: string): string =>
  commandLine({tool: 'tofu', args: [`-chdir=clusters/${name}`, verb]});

const CURRENT_CONTEXT = kubectlCommand({}, 'config', 'current-context');
const USE_CONTEXT = kubectlCommand({}, 'config', 'use-context', 'CONTEXT');

/** The CRDs of agent-job need a kubeconfig context, which only the answers of a cluster can name. */
const kubectlVariable = ({target, context}: FleetMember, variable: string): string =>
  target.chart === 'agent-job' && context === undefined ? ` -var ${variable}` : '';

const comment = (lines: readonly string[]): string => lines.map((line) => `# ${line}`).join('\n');

const clusterModule = (member: FleetMember): string =>
  fill(cluster, {
    header: comment(member.header),
    release: member.release,
    namespace: member.namespace,
    ring: member.ring,
    secret: member.secret.name,
    key: member.secret.key,
    flags:
      member.context === undefined ? 'null' : hclText(`--context ${shellWord(member.context)}`),
    chart: member.target.chart,
    version: member.target.version,
    timeout: String(member.timeoutSeconds),
    base: member.base,
    values:
      Object.keys(member.override).length === 0
        ? ''
        : heredoc(toYaml(member.override, {isPlain: true})),
  });

/** One more item of a list. */
const heredoc = (text: string): string =>
  `\n    <<-YAML\n${indent(withoutTemplates(text))}    YAML\n    ,`;

const hclText = (text: string): string => withoutTemplates(JSON.stringify(text));

/** Terraform would read templates in the text. */
const withoutTemplates = (text: string): string => text.replaceAll(/[$%](?=\{)/g, '$&$&');

const indent = (text: string): string => text.replaceAll(/^(?=.)/gm, '      ');

/** One environment per file in clusters/, so that a new cluster is a new file. */
const helmfile: Engine = {
  readme: helmfileReadme,
  tokenFile: (fleet, name) => `secrets/${encryptedFile(fleet, name)}`,
  cluster: 'default',
  start: ({name}) => [commandLine({tool: 'helmfile', args: ['--environment', name, 'sync']})],
  tokens: ['existing', 'external-secrets', 'sops', 'sealed-secrets'],
  files: (fleet, {engine, members, bases}) => [
    textFile(
      'helmfile.yaml.gotmpl',
      fill(helmfileSkeleton, {command: fleet.command, repository: CHART_REPOSITORY}),
    ),
    ...bases,
    ...members.map((member) =>
      manifest(`clusters/${member.name}.yaml`, member.header, environment(member, engine, fleet)),
    ),
  ],
};

const environment = (member: FleetMember, engine: string, fleet: Fleet): Values => ({
  ...(member.context === undefined ? {} : {kubeContext: member.context}),
  ring: member.ring,
  release: member.release,
  namespace: member.namespace,
  chart: member.target.chart,
  version: member.target.version,
  timeout: member.timeoutSeconds,
  token: fleet.token,
  objects: [
    namespaceObject(member, engine),
    ...(fleet.token === 'external-secrets' ? [externalSecret(member, fleet)] : []),
  ],
  values: member.override,
});

/** A Kustomization per cluster over one per chart version, namespace and release. */
const flux: Engine = {
  readme: fluxReadme,
  start: () => [
    '# Commit and push all files, and create the Flux Kustomization: README.md, Bootstrap',
  ],
  tokenFile: (fleet, name) => `clusters/${name}/${encryptedFile(fleet, 'token')}`,
  cluster: 'default',
  tokens: ['existing', 'external-secrets', 'sops', 'sealed-secrets'],
  files: (fleet, prepared) => [
    ...[...new Map(prepared.members.map((member) => [baseOf(member), member]))].flatMap(
      ([path, member]) => [
        ...baseFiles(path, member, prepared, fleet),
        textFile(`${path}/values.yaml`, member.baseText),
      ],
    ),
    ...prepared.members.map((member) =>
      manifest(
        `clusters/${member.name}/kustomization.yaml`,
        member.header,
        clusterKustomization(member, fleet),
      ),
    ),
  ],
};

/** kustomize-controller deletes what a deleted Kustomization contains, and with a namespace everything in it. */
const NEVER_PRUNED = {'kustomize.toolkit.fluxcd.io/prune': 'disabled'};

/** Other namespaces and releases than the usual ones have a base of their own. */
const baseOf = ({base, namespace, release}: FleetMember): string =>
  `base/${[base, ...new Set([namespace, release])].filter((each) => each !== 'scalr-agent').join('-')}`;

function baseFiles(
  path: string,
  member: FleetMember,
  {engine, header}: PreparedFleet,
  fleet: Fleet,
): ExportedFile[] {
  const {namespace, release, target} = member;
  const words = {
    namespace,
    release,
    chart: target.chart,
    version: target.version,
    repository: CHART_REPOSITORY,
  };
  const {
    repository,
    release: helmRelease,
    kustomization,
    keepClaims,
    omitReplicas,
    ignoreReplicas,
  } = filled(fluxSkeleton, words);
  const {spec, ...head} = helmRelease;
  // Helm would delete PVCs on uninstall, and reset replicas on upgrade.
  const patches = [keepClaims, ...(fleet.isAutoscaled ? [omitReplicas] : [])];
  const driftDetection = {mode: 'enabled', ...(fleet.isAutoscaled ? {ignore: ignoreReplicas} : {})};
  const objects: Record<string, Values> = {
    namespace: namespaceObject(member, engine, NEVER_PRUNED),
    repository,
    release: {...head, spec: {...spec, driftDetection, postRenderers: [{kustomize: {patches}}]}},
    ...(fleet.token === 'external-secrets'
      ? {'external-secret': externalSecret({...member, name: 'CLUSTER'}, fleet)}
      : {}),
  };
  const resources = Object.keys(objects).map((name) => `${name}.yaml`);
  return Object.entries({...objects, kustomization: {...kustomization, resources}}).map(
    ([name, object]) => manifest(`${path}/${name}.yaml`, header, object),
  );
}

function clusterKustomization(member: FleetMember, fleet: Fleet): Values {
  const encrypted = encryptedFile(fleet, 'token');
  const {override} = member;
  // An operation of JSON Patch keeps null, which a merge would drop.
  const patches = {
    HelmRelease: {
      '/spec/timeout': `${Math.ceil(member.timeoutSeconds / 60)}m`,
      ...(Object.keys(override).length === 0 ? {} : {'/spec/values': override}),
    },
    ...(fleet.token === 'external-secrets'
      ? {ExternalSecret: {'/spec/data/0/remoteRef/key': remoteKey(member.name)}}
      : {}),
  };
  return {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [`../../${baseOf(member)}`, ...(encrypted === '' ? [] : [encrypted])],
    labels: [{pairs: {'scalr-agent/ring': member.ring}}],
    patches: Object.entries(patches).map(([kind, operations]) => ({
      target: {kind},
      patch: toYaml(
        Object.entries(operations).map(([path, value]) => ({op: 'add', path, value})),
        {isPlain: true},
      ),
    })),
  };
}

const ENGINES = {
  argocd,
  'argocd-appset': argocdAppset,
  flux,
  terraform,
  helmfile,
} as const satisfies Readonly<Record<string, Engine>>;
export type FleetTarget = keyof typeof ENGINES;
export const FLEET_TARGETS = Object.keys(ENGINES) as FleetTarget[];

export const isFleetTarget = (target: string): target is FleetTarget =>
  Object.hasOwn(ENGINES, target);

/** Name of the only cluster of an engine without --overlay. */
export const clusterWithoutOverlay = (target: FleetTarget): string => ENGINES[target].cluster;

/** What selects a way of the token. */
const TOKEN_FLAGS: Readonly<Record<TokenSource, string>> = {
  existing: 'An existing Secret',
  'external-secrets': '--secret-store',
  sops: '--sops',
  'sealed-secrets': '--sealed-secrets',
};

/** Clusters whose commands are printed. */
const SHOWN = 5;

/** The files for another tool. Pure. @throws ExpectedError for a way of the token that the tool does not support */
export function exportFleet(fleet: Fleet, target: FleetTarget): Export & {notes: string[]} {
  const engine: Engine = ENGINES[target];
  if (!engine.tokens.includes(fleet.token)) {
    const others = engine.tokens
      .filter((each) => each !== 'existing')
      .map((each) => TOKEN_FLAGS[each]);
    throw failed(
      'UNSUPPORTED_SETTING',
      `${TOKEN_FLAGS[fleet.token]} is not supported by ${target}.`,
      [
        'Omit it, and create the Secret as described in README.md of the export',
        ...(others.length > 0 ? [`Use ${oneOf(others)} instead`] : []),
      ],
    );
  }
  const prepared = prepareFleet(fleet, target);
  const [member] = prepared.members as [FleetMember];
  const shown = prepared.members.slice(0, SHOWN);
  const others = prepared.members.length - shown.length;
  return {
    files: [...engine.files(fleet, prepared), ...sopsRules(fleet), readmeOf(fleet, engine, member)],
    steps: [
      ...new Set([
        ...shown.flatMap((each) => tokenCommands(fleet, each, engine.tokenFile(fleet, each.name))),
        ...shown.flatMap((each) => engine.start(each, fleet)),
      ]),
    ],
    notes: [
      ...(others > 0 ? [`The next steps are for ${SHOWN} of ${SHOWN + others} clusters.`] : []),
      'The files do not contain the agent pool token. README.md describes how to start, add a cluster, rotate the token, upgrade and remove.',
    ],
  };
}

const section = (text: string, words: Readonly<Record<string, string>>): string =>
  fill(text, words).trimEnd();

/** How an export for one cluster becomes one for several. Its flags become an answers file, unless it has one. */
const firstOverlaySection = ({answers, overlayCommand}: Fleet, cluster: string): string =>
  section(firstOverlay, {
    cluster,
    shared:
      answers === undefined
        ? 'write the flags of the command above to `answers.yaml`, one key per flag, for example `url: https://acme.scalr.io`'
        : `keep the answers that all clusters share in \`${answers}\``,
    answers: answers ?? 'answers.yaml',
    add: overlayCommand,
  });

/** Does not depend on the list of clusters. */
function readmeOf(fleet: Fleet, engine: Engine, first: FleetMember): ExportedFile {
  const name = fleet.isOverlay ? 'CLUSTER' : engine.cluster;
  const member: FleetMember = {...first, name, context: 'CONTEXT'};
  const words = {
    cluster: member.name,
    release: member.release,
    application: applicationName(member),
    namespace: member.namespace,
    secret: member.secret.name,
    key: member.secret.key,
    command: fleet.command,
    git: fleet.git?.url ?? 'https://git.example.com/agents.git',
    directory: fleet.git?.directory ?? 'DIRECTORY/',
    token: tokenSection(fleet, member, engine.tokenFile(fleet, member.name)),
    // Only the file of a cluster with answers of its own names a context.
    use: fleet.isOverlay ? '' : `${USE_CONTEXT}\n`,
    kubectl: kubectlVariable(first, "'kubectl_flags=--context CONTEXT'"),
    decryption: fleet.token === 'sops' ? `\n${decryption.trimEnd()}` : '',
    rotate: rotateSection(fleet, member),
    overlay: fleet.isOverlay
      ? section(overlay, {answers: fleet.overlay ?? 'clusters', add: fleet.command})
      : firstOverlaySection(fleet, engine.cluster),
  };
  const unlisted = fleet.isOverlay ? section(remove, {answers: fleet.overlay ?? 'clusters'}) : '';
  const {runs, pvc} = upgradeNotes[member.target.chart];
  const kept = pvc === '' ? '' : section(keepPvc, {...words, renamed: pvc});
  const pushed = fleet.token === 'existing' ? '' : section(push, words);
  const text = fill(engine.readme, {...words, runs, pvc: kept, push: pushed, unlisted});
  return textFile('README.md', text.replaceAll(/\n{3,}/g, '\n\n'));
}
