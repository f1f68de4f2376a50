import {REAL} from '../cluster/helm/charts-under-test.ts';
import type {InstalledChart} from './kubernetes-state.ts';
import type {Dice} from './sequence.ts';
import type {State} from './things.ts';

/** Sequences that broke an invariant once, in their shortest form. */
export const FOUND: Readonly<Record<string, readonly string[]>> = {
  'upgrade replaced the token of another release': [
    'SCALR_AGENT_TOKEN=A scalr-agent install --chart agent-local --chart-source agent-local@0.6.5 --url https://acme.scalr.io',
    'helm install b agent-local@0.5.74 --set agent.url=https://acme.scalr.io,agent.token=B --wait',
    'scalr-agent upgrade --release b --chart-source agent-local@0.6.5',
  ],
  'upgrade replaced a Secret of a person': [
    'kubectl create secret generic scalr-agent-token --from-literal=token=THEIRS',
    'helm install b agent-local@0.5.74 --set agent.url=https://acme.scalr.io,agent.token=B --wait',
    'scalr-agent upgrade --release b --chart-source agent-local@0.6.5',
  ],
  'install of a second release replaced the token of the first': [
    'SCALR_AGENT_TOKEN=A scalr-agent install --chart agent-local --chart-source agent-local@0.6.5 --url https://acme.scalr.io',
    'SCALR_AGENT_TOKEN=B scalr-agent install --release b --chart agent-local --chart-source agent-local@0.6.5 --url https://acme.scalr.io',
  ],
  'upgrade to another chart offered to delete the volume that it mounts': [
    'helm install scalr-agent agent-local@0.5.74 --set agent.url=https://acme.scalr.io,agent.tokenExistingSecret.name=pool,persistence.cache.enabled=true --wait',
    'scalr-agent upgrade --chart-source agent-local@0.5.75 --chart-version 0.5.75',
    'scalr-agent upgrade --chart agent-job --chart-source agent-job@0.6.5',
  ],
  'upgrade to another chart would have replaced another release': [
    'helm install scalr-agent agent-local@0.6.5 --set agent.url=https://acme.scalr.io,agent.tokenExistingSecret.name=pool --wait',
    'helm install b agent-local@0.5.63 --set agent.url=https://acme.scalr.io,agent.tokenExistingSecret.name=pool --wait',
    'scalr-agent upgrade --release b --chart agent-job --chart-source agent-job@0.6.5 --new-release scalr-agent',
  ],
  'the AgentTask of agent-job 0.5.67 was called missing, and restored for ever': [
    'helm install scalr-agent agent-job@0.5.67 --set agent.url=https://acme.scalr.io,agent.tokenExistingSecret.name=pool --wait',
    'scalr-agent upgrade --chart-source agent-job@0.5.67 --chart-version 0.5.67',
    'scalr-agent uninstall',
  ],
  'a variable of helm selected another cluster': [
    'SCALR_AGENT_TOKEN=A scalr-agent install --chart agent-local --chart-source agent-local@0.6.5 --url https://acme.scalr.io',
    'HELM_KUBECONTEXT=prod scalr-agent upgrade --chart-source agent-local@0.6.5 --run-cpu-request 300m',
    'HELM_KUBECONTEXT=prod scalr-agent uninstall',
  ],
  'somebody selected another cluster during an uninstall': [
    'SCALR_AGENT_TOKEN=A scalr-agent install --chart agent-local --chart-source agent-local@0.6.5 --url https://acme.scalr.io',
    'use-context prod at write 1: scalr-agent uninstall',
  ],
  'somebody selected another cluster during an install': [
    'use-context prod at request 3: SCALR_AGENT_TOKEN=A scalr-agent install --chart agent-local --chart-source agent-local@0.6.5 --url https://acme.scalr.io',
  ],
  'a role for system:anonymous was printed': ['anonymous: scalr-agent status'],
  'a pod with a service account could not install': [
    'in a pod: SCALR_AGENT_TOKEN=A scalr-agent install --chart agent-local --chart-source agent-local@0.6.5 --url https://acme.scalr.io --cloud other --node-os other --skip-preflight',
    'in a pod: scalr-agent uninstall',
  ],
  'uninstall deleted what an agent without Helm records uses': [
    'SCALR_AGENT_TOKEN=A scalr-agent install --chart agent-local --chart-source agent-local@0.6.5 --url https://acme.scalr.io --cache pvc',
    'kubectl delete secrets --selector=owner=helm',
    'scalr-agent uninstall --purge=all',
  ],
};

const VERSIONS: Readonly<Record<string, readonly string[]>> = REAL
  ? {
      'agent-local': ['0.5.63', '0.5.69', '0.5.72', '0.5.74', '0.5.75', '0.5.76', '0.6.2', '0.6.5'],
      'agent-job': ['0.5.63', '0.5.66', '0.5.67', '0.5.68', '0.5.79', '0.6.2', '0.6.5'],
      'agent-k8s': ['0.5.58', '0.5.66', '0.5.80', '0.6.5'],
    }
  : {
      'agent-local': ['0.5.63', '0.5.72', '0.5.74', '0.5.75', '0.6.5'],
      'agent-job': ['0.5.63', '0.5.67', '0.6.5'],
      'agent-k8s': ['0.6.5'],
    };
const CHARTS = ['agent-local', 'agent-local', 'agent-local', 'agent-job', 'agent-job', 'agent-k8s'];
/** Small charts that only show what an upgrade breaks; install would refuse them. */
const HAZARDS = new Set(['0.5.67', '0.5.74']);
const OLD_CACHE = new Set([
  'agent-local@0.5.63',
  'agent-local@0.5.69',
  'agent-local@0.5.72',
  'agent-job@0.5.63',
  'agent-job@0.5.66',
]);

/** Names that the program would use itself. */
const TAKEN_SECRETS = ['scalr-agent-token', 'b-token', 'scalr-agent-job-token'];
const TAKEN_CLAIMS = [
  'scratch',
  'scalr-agent-agent-local-cache',
  'scalr-agent-job-scalr-agent-cache',
  'b-agent-local-cache',
];

interface Found extends InstalledChart {
  name: string;
}

/** A step that makes sense in this state, by a person of some role. */
export function nextStep(state: State, printed: readonly string[], dice: Dice): string {
  const installed = [...state.values()]
    .filter(({name}) => name.startsWith('release '))
    .map(({owner = '', content}): Found => ({name: owner, ...JSON.parse(content)}));
  const ours = (command: string): string => {
    const who = whoOf(command, dice);
    // Preflight checks know what a role may do; for an administrator they only cost time.
    const isAdministrator = /^(?:kill|use-context|$)/.test(who);
    const checked = isAdministrator
      ? command.replace('--cloud other', '--skip-preflight --cloud other')
      : command;
    const variable = dice.chance(20) ? `${dice.pick(SELECTORS)} ` : '';
    return `${who}${variable}${checked}`;
  };
  if (printed.length > 0 && dice.chance(15)) return withConfirmation(dice.pick(printed));
  if (installed.length === 0)
    return dice.chance(15)
      ? others(state, dice)
      : dice.chance(45)
        ? byHelm(dice)
        : ours(install('', dice));
  const one = dice.pick(installed);
  const choice = dice.pick([
    'upgrade',
    'upgrade',
    'upgrade',
    'chart',
    'chart',
    'install',
    'uninstall',
    'purge',
    'debug',
    'helm',
    'helm',
    'others',
    'others',
    'read',
  ]);
  const choices: Readonly<Record<string, () => string>> = {
    upgrade: () => ours(upgrade(one, dice)),
    chart: () => ours(anotherChart(one, installed, dice)),
    install: () => (dice.chance(60) ? ours(install(dice.pick(['', 'b']), dice)) : byHelm(dice)),
    uninstall: () => ours(`scalr-agent uninstall --release ${one.name}`),
    purge: () => ours(`scalr-agent uninstall --release ${one.name} --purge=${purge(one, dice)}`),
    debug: () =>
      ours(
        `scalr-agent debug ${dice.pick(['on', 'off'])} --release ${one.name} --chart-source ${sourceOf(one)}`,
      ),
    helm: () => maintained(one, dice),
    others: () => others(state, dice),
    read: () =>
      `${whoOf('', dice)}scalr-agent ${dice.pick([`status --release ${one.name}`, `uninstall --release ${one.name} --dry-run`])}`,
  };
  return (choices[choice] as () => string)();
}

function whoOf(command: string, dice: Dice): string {
  if (command !== '' && dice.chance(12))
    return `kill -9 after write ${dice.pick([1, 2, 3, 4, 5, 6, 8])}: `;
  if (command !== '' && dice.chance(15)) return disturbed(dice);
  if (dice.chance(65)) return '';
  return `${dice.pick(ROLES)}: `;
}

const ROLES = [
  'namespace admin',
  'namespace admin',
  'editor',
  'editor',
  'viewer',
  'viewer',
  'in a pod',
  'in a pod',
  'anonymous',
  'expired',
];

/** Somebody selects another cluster, or a proxy damages an answer, while the command runs. */
function disturbed(dice: Dice): string {
  const what = dice.pick(['use-context prod', 'use-context prod', 'cut', 'slow', 'login page']);
  if (dice.chance(50)) return `${what} at write ${dice.pick([1, 2, 3, 4, 5])}: `;
  return `${what} at request ${dice.pick([1, 3, 6, 10, 15, 20, 30])}: `;
}

/** Variables with which helm or kubectl alone would use another cluster, namespace or identity. */
const SELECTORS = [
  'HELM_KUBECONTEXT=prod',
  'HELM_KUBECONTEXT=prod',
  'HELM_NAMESPACE=default',
  'HELM_KUBEAPISERVER=https://127.0.0.1:9',
  'HELM_KUBETOKEN=not-accepted',
  'HELM_KUBEASUSER=nobody',
  'KUBERC=/nonexistent/kuberc',
];

const sourceOf = ({chart, version}: Found): string => `${chart}@${version}`;

/** A printed command that destroys data asks for the name of the release. */
const withConfirmation = (command: string): string =>
  command.replace(/ --context \S+/, '').replace(/ --kube-context \S+/, '');

function install(release: string, dice: Dice): string {
  const chart = dice.pick(CHARTS);
  const version = dice.pick(
    (VERSIONS[chart] as readonly string[]).filter(
      (each) => REAL !== undefined || !HAZARDS.has(each),
    ),
  );
  return [
    ...(dice.chance(80) ? [`SCALR_AGENT_TOKEN=${dice.pick(['A', 'B'])}`] : []),
    'scalr-agent install',
    ...(release === '' ? [] : [`--release ${release}`]),
    `--chart ${chart} --chart-version ${version} --chart-source ${chart}@${version} --url https://acme.scalr.io`,
    '--cloud other --node-os other',
    ...(chart === 'agent-k8s'
      ? [`--data-home /var/lib/NAMESPACE${release}`]
      : dice.chance(40)
        ? ['--cache pvc']
        : []),
  ].join(' ');
}

function byHelm(dice: Dice): string {
  const chart = dice.pick(['agent-local', 'agent-local', 'agent-job']);
  const source = `${chart}@${dice.pick(VERSIONS[chart] as readonly string[])}`;
  const isInline = REAL !== undefined || source === 'agent-local@0.5.74';
  const key =
    source === 'agent-job@0.5.63' ? 'agent.tokenExistingSecret' : 'agent.tokenExistingSecret.name';
  const token =
    isInline && dice.chance(60)
      ? `agent.token=${dice.pick(['A', 'B'])}`
      : `${key}=${dice.pick(['pool', 'scalr-agent-token'])}`;
  const cache = OLD_CACHE.has(source)
    ? 'persistence.enabled=true'
    : 'persistence.cache.enabled=true';
  const set = ['agent.url=https://acme.scalr.io', token, ...(dice.chance(50) ? [cache] : [])];
  return `helm install ${dice.pick(['scalr-agent', 'b'])} ${source} --set ${set.join()} --wait`;
}

function upgrade(one: Found, dice: Dice): string {
  const version = dice.pick(VERSIONS[one.chart] as readonly string[]);
  return `scalr-agent upgrade --release ${one.name} --chart-source ${one.chart}@${version} --chart-version ${version}`;
}

function anotherChart(one: Found, installed: readonly Found[], dice: Dice): string {
  const chart = dice.pick(['agent-local', 'agent-job'].filter((each) => each !== one.chart));
  const others = installed.filter(({name}) => name !== one.name);
  const name =
    others.length > 0 && dice.chance(30) ? ` --new-release ${dice.pick(others).name}` : '';
  return `scalr-agent upgrade --release ${one.name} --chart ${chart} --chart-source ${chart}@0.6.5${name}`;
}

/** Directories on nodes are cleaned by pods, which do nothing here. */
const purge = ({chart}: Found, dice: Dice): string =>
  dice.pick([
    'claims',
    'claims',
    'secrets',
    'claims,secrets',
    ...(chart === 'agent-k8s' ? [] : ['all']),
  ]);

function maintained(one: Found, dice: Dice): string {
  const version = dice.pick(VERSIONS[one.chart] as readonly string[]);
  return dice.pick([
    `helm upgrade ${one.name} ${one.chart}@${version} --reuse-values --wait`,
    ...(one.revision > 1 ? [`helm rollback ${one.name} --wait`] : []),
    `helm uninstall ${one.name}${dice.chance(30) ? ' --keep-history' : ''} --wait`,
  ]);
}

/** What people do beside the agents. */
function others(state: State, dice: Dice): string {
  const named = (kind: string): string[] =>
    [...state.keys()].flatMap((name) =>
      name.startsWith(`${kind} `) ? [name.slice(kind.length + 1)] : [],
    );
  const claims = named('PVC');
  const secrets = named('Secret').filter((name) => !name.startsWith('sh.helm'));
  const mounted = claims.length === 0 ? 'scratch' : dice.pick(claims);
  const volumes = `{"spec":{"volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"${mounted}"}}]}}`;
  return dice.pick([
    `kubectl create secret generic ${dice.pick(TAKEN_SECRETS)} --from-literal=token=THEIRS`,
    `kubectl create secret generic ${dice.pick(TAKEN_SECRETS)} --from-literal=token=THEIRS`,
    `kubectl apply -f pvc/${dice.pick(TAKEN_CLAIMS)}`,
    'kubectl create configmap notes --from-literal=a=b',
    ...(claims.length === 0
      ? []
      : Array.from({length: 3}, () => `kubectl run reader --image=busybox --overrides=${volumes}`)),
    ...(secrets.length === 0 ? [] : [`kubectl delete secret ${dice.pick(secrets)}`]),
    ...named('Deployment').map(
      (name) => `kubectl scale deployment ${name} --replicas=${dice.pick([0, 2])}`,
    ),
    ...named('Pod').map((name) => `kubectl delete pod ${name} --now`),
  ]);
}
