import {isOwnFor} from '../../../cluster/kubernetes/own-objects.ts';
import {kubectlCommand} from '../../../ground/command-line.ts';
import {isKnown, knownValue} from '../../../ground/fact.ts';
import {tokenClaims} from '../../../ground/secret.ts';
import {unusableToken} from '../../../ground/token-text.ts';
import {token, tokenSecret, tokenSecretKey} from '../../../settings/agent.ts';
import {spell} from '../../../settings/define.ts';
import {imageRegistry} from '../../../settings/pods.ts';
import {clientCertSecret} from '../../../settings/tls.ts';
import {referencedPullSecrets} from '../pod-resources.ts';
import {
  type Check,
  type CheckResult,
  check,
  fail,
  type PreflightContext,
  pass,
  type RequiredSecret,
  skip,
  warn,
  worstOf,
} from '../preflight-context.ts';

const REF = 'https://kubernetes.io/docs/concepts/configuration/secret/';
const PULL_TYPES = ['kubernetes.io/dockerconfigjson', 'kubernetes.io/dockercfg'];

const GIVE_TOKEN =
  'Set the agent pool token with SCALR_AGENT_TOKEN or --token-file, or use an existing Secret with --token-secret and --token-secret-key';

const keys = check('Secrets', 'secrets', 'Secrets with the required keys', {
  ref: REF,
  run(context) {
    const pulls = referencedPullSecrets(knownValue(context.manifest) ?? []);
    return worstOf(
      context.wantedSecrets
        .filter(({name}) => !pulls.includes(name))
        .map((each) => secretResult(each, context)),
    );
  },
});

function secretResult(
  {name, keys: desired, isGiven}: RequiredSecret,
  {secrets, name: {release, kubeTarget}, get, token: own}: PreflightContext,
): CheckResult {
  const fact = secrets.get(name);
  if (fact === undefined || !isKnown(fact))
    return skip(`Cannot read Secret ${name}${fact ? `: ${fact.because}` : ''}`);
  const found = fact.value;
  const isToken = name === get(tokenSecret);
  if (isGiven) {
    const held = found?.data?.[get(tokenSecretKey) ?? ''];
    const isOther =
      isToken && own !== undefined && held !== Buffer.from(own, 'utf8').toString('base64');
    if (found === undefined) return pass(`Secret ${name} will be created`);
    return isOther && !isOwnFor(found, release)
      ? fail(
          `Secret ${name} already exists in ${kubeTarget.namespace} with other content, and was not created by scalr-agent for release ${release}`,
          `Omit ${spell(token)} and --token-file to use the existing content, or use another Secret with --token-secret`,
        )
      : pass(`Secret ${name} exists${isOther ? ', and its content will be replaced' : ''}`);
  }
  const missing = desired.filter((key) => found?.data?.[key] === undefined);
  if (found !== undefined && missing.length === 0)
    return pass(
      desired.length === 0
        ? `Secret ${name} exists`
        : `Secret ${name} has ${desired.join(' and ')}`,
    );
  const had = Object.keys(found?.data ?? {}).join(', ') || 'none';
  const message = found
    ? `Secret ${name} in ${kubeTarget.namespace} has no key ${missing.join(' and ')} (existing keys: ${had})`
    : `Secret ${name} not found in ${kubeTarget.namespace}`;
  if (isToken) return fail(message, GIVE_TOKEN);
  const create = (type: string, files: readonly string[]): string =>
    kubectlCommand(
      kubeTarget,
      'create',
      'secret',
      type,
      name,
      '--namespace',
      kubeTarget.namespace,
      ...files,
    );
  if (name === get(clientCertSecret)) {
    const make = create('tls', ['--cert=tls.crt', '--key=tls.key']);
    return fail(message, `Set --client-cert-file and --client-key-file, or create it: ${make}`);
  }
  const files = missing.map((key) => `--from-file=${key}=${key}`);
  return fail(message, `Create it: ${create('generic', files)}`);
}

const pull = check('Secrets', 'pull-secrets', 'Image pull Secrets', {
  ref: 'https://kubernetes.io/docs/tasks/configure-pod-container/pull-image-private-registry/',
  run(context) {
    const {
      manifest,
      secrets,
      name: {kubeTarget},
    } = context;
    return worstOf(
      referencedPullSecrets(knownValue(manifest) ?? []).map((name) => {
        const fact = secrets.get(name);
        // Secrets that the chart creates are not read.
        if (fact === undefined) return pass(`Secret ${name} is created by the chart`);
        if (!isKnown(fact)) return skip(`Cannot read Secret ${name}: ${fact.because}`);
        const make = `Create it with the user and password of the registry: ${createPullSecret(name, context)}`;
        if (fact.value === undefined)
          return fail(
            `Secret ${name} not found in ${kubeTarget.namespace}, so images cannot be pulled`,
            make,
          );
        const {type = 'Opaque'} = fact.value;
        return PULL_TYPES.includes(type)
          ? pass(`Secret ${name} exists`)
          : fail(
              `Secret ${name} is of type ${type}; image pull Secrets must be of type ${PULL_TYPES[0]}`,
              // The type of a Secret cannot be changed.
              `Delete it: ${kubectlCommand(kubeTarget, 'delete', 'secret', name, '--namespace', kubeTarget.namespace)}\n${make}`,
            );
      }),
    );
  },
});

/** The command that creates it, with the registry of the settings. */
const createPullSecret = (name: string, {name: {kubeTarget}, get}: PreflightContext): string => {
  const server = get(imageRegistry)?.split('/')[0] ?? 'registry.example.com';
  const login = [
    `--docker-server=${server}`,
    '--docker-username=USER',
    '--docker-password=PASSWORD',
  ];
  return kubectlCommand(
    kubeTarget,
    'create',
    'secret',
    'docker-registry',
    name,
    '--namespace',
    kubeTarget.namespace,
    ...login,
  );
};

const EXPIRY_WARNING_DAYS = 7;
const DAY_MS = 86_400_000;

const tokenCheck = check('Secrets', 'token', 'Agent pool token', {
  ref: 'https://docs.scalr.io/docs/self-hosted-agents-pools',
  run({token: given, secrets, get, now}) {
    const fact = secrets.get(get(tokenSecret) ?? '');
    if (given === undefined && fact !== undefined && !isKnown(fact))
      return skip(`Cannot read the token: ${fact.because}`);
    const held = knownValue(fact ?? {unknown: 'undetermined', because: ''})?.data?.[
      get(tokenSecretKey) ?? ''
    ];
    const text =
      given ?? (held === undefined ? undefined : Buffer.from(held, 'base64').toString('utf8'));
    if (text === undefined) return undefined;
    const claims = tokenClaims(text);
    const remedy = 'Create a token in the agent pool in Scalr, and copy all of it';
    // A token in an existing Secret may have another format.
    if (claims === undefined) {
      return given === undefined
        ? skip('Cannot validate the token in the Secret: not a JSON Web Token')
        : warn('The token is not a Scalr agent pool token (not a JSON Web Token)', remedy);
    }
    const problem = unusableToken(text.trim(), now);
    if (problem !== undefined) return fail(problem.message, remedy);
    const {expires} = claims;
    if (expires === undefined) return pass('The token does not expire');
    const day = expires.toISOString().slice(0, 10);
    return expires.getTime() - now.getTime() < EXPIRY_WARNING_DAYS * DAY_MS
      ? warn(`The token expires on ${day}`, remedy)
      : pass(`The token is valid until ${day}`);
  },
});

export const secretChecks: readonly Check[] = [keys, pull, tokenCheck];
