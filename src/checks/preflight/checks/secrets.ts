import type {SecretObject} from '../../../cluster/kubernetes/objects.ts';
import {isOwnFor} from '../../../cluster/kubernetes/own-objects.ts';
import {kubectlCommand} from '../../../ground/command-line.ts';
import {isKnown, knownValue} from '../../../ground/fact.ts';
import {changing} from '../../../ground/finding.ts';
import {hostInToken, Secret, tokenClaims} from '../../../ground/secret.ts';
import {unusableToken} from '../../../ground/token-text.ts';
import {token, tokenFile, tokenSecret, tokenSecretKey, url} from '../../../settings/agent.ts';
import {imageRegistry} from '../../../settings/images.ts';
import {withValue} from '../../../settings/spelling.ts';
import {caSecret, clientCertFile, clientCertSecret, clientKeyFile} from '../../../settings/tls.ts';
import type {PreflightContext, RequiredSecret} from '../facts/context.ts';
import {referencedPullSecrets} from '../facts/referenced-objects.ts';
import {type Check, check} from './check.ts';
import {type CheckResult, cannot, fail, notChecked, pass, warn, worstOf} from './check-result.ts';

const REF = 'https://kubernetes.io/docs/concepts/configuration/secret/';
const PULL_TYPES = ['kubernetes.io/dockerconfigjson', 'kubernetes.io/dockercfg'];

const GIVE_TOKEN = changing`Set the agent pool token with ${token} or ${tokenFile}, or use an existing Secret with ${tokenSecret} and ${tokenSecretKey}`;

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

function secretResult(required: RequiredSecret, context: PreflightContext): CheckResult {
  const {name, keys: desired, isGiven} = required;
  const fact = context.secrets.get(name);
  if (fact === undefined) return notChecked(`Cannot read Secret ${name}`);
  if (!isKnown(fact)) return cannot(`read Secret ${name}`, fact.because);
  const found = fact.value;
  if (isGiven) return givenSecret(name, found, context);
  const missing = desired.filter((key) => found?.data?.[key] === undefined);
  if (found === undefined || missing.length > 0)
    return missingKeys({name, found, missing}, context);
  return pass(
    desired.length === 0 ? `Secret ${name} exists` : `Secret ${name} has ${desired.join(' and ')}`,
  );
}

/** A Secret that the install creates. */
function givenSecret(
  name: string,
  found: SecretObject | undefined,
  {name: {release, kubeTarget}, get, token: own}: PreflightContext,
): CheckResult {
  if (found === undefined) return pass(`Secret ${name} will be created`);
  const held = found.data?.[get(tokenSecretKey) ?? ''];
  const isOther =
    name === get(tokenSecret) &&
    own !== undefined &&
    held !== Buffer.from(own, 'utf8').toString('base64');
  if (!isOther) return pass(`Secret ${name} exists`);
  if (isOwnFor(found, release))
    return pass(`Secret ${name} exists, and its content will be replaced`);
  return fail(
    `Secret ${name} already exists in ${kubeTarget.namespace} with other content, and was not created by scalr-agent for release ${release}`,
    changing`Omit ${token} and ${tokenFile} to use the existing content, or use another Secret with ${tokenSecret}`,
  );
}

function missingKeys(
  {name, found, missing}: {name: string; found: SecretObject | undefined; missing: string[]},
  context: PreflightContext,
): CheckResult {
  const {get, name: release} = context;
  const {namespace} = release.kubeTarget;
  const existing = Object.keys(found?.data ?? {}).join(', ') || 'none';
  const message = found
    ? `Secret ${name} in ${namespace} has no key ${missing.join(' and ')} (existing keys: ${existing})`
    : `Secret ${name} not found in ${namespace}`;
  if (name === get(tokenSecret)) return fail(message, GIVE_TOKEN);
  if (name === get(clientCertSecret)) {
    const create = createSecret('tls', name, ['--cert=tls.crt', '--key=tls.key'], context);
    return fail(
      message,
      changing`Set ${clientCertFile} and ${clientKeyFile}, or create it: ${create}`,
    );
  }
  const files = missing.map((key) => `--from-file=${key}=${key}`);
  const create = createSecret('generic', name, files, context);
  return name === get(caSecret)
    ? fail(message, changing`Use an existing Secret with ${caSecret}, or create it: ${create}`)
    : fail(message, `Create it: ${create}`);
}

const createSecret = (
  type: string,
  name: string,
  content: readonly string[],
  {name: {kubeTarget}}: PreflightContext,
): string => {
  const where = ['--namespace', kubeTarget.namespace];
  return kubectlCommand(kubeTarget, 'create', 'secret', type, name, ...where, ...content);
};

const pull = check('Secrets', 'pull-secrets', 'Image pull Secrets', {
  ref: 'https://kubernetes.io/docs/tasks/configure-pod-container/pull-image-private-registry/',
  run: (context) =>
    worstOf(
      referencedPullSecrets(knownValue(context.manifest) ?? []).map((name) =>
        pullSecret(name, context),
      ),
    ),
});

function pullSecret(name: string, context: PreflightContext): CheckResult {
  const {kubeTarget} = context.name;
  const {namespace} = kubeTarget;
  const fact = context.secrets.get(name);
  // Secrets that the chart creates are not read.
  if (fact === undefined) return pass(`Secret ${name} is created by the chart`);
  if (!isKnown(fact)) return cannot(`read Secret ${name}`, fact.because);
  const create = `Create it with the user and password of the registry: ${createPullSecret(name, context)}`;
  if (fact.value === undefined)
    return fail(`Secret ${name} not found in ${namespace}, so images cannot be pulled`, create);
  const {type = 'Opaque'} = fact.value;
  if (PULL_TYPES.includes(type)) return pass(`Secret ${name} exists`);
  // The type of a Secret cannot be changed.
  const remove = kubectlCommand(kubeTarget, 'delete', 'secret', name, '--namespace', namespace);
  return fail(
    `Secret ${name} is of type ${type}; image pull Secrets must be of type ${PULL_TYPES[0]}`,
    `Delete it: ${remove}\n${create}`,
  );
}

/** The command that creates it, with the registry of the settings. */
function createPullSecret(name: string, context: PreflightContext): string {
  const server = context.get(imageRegistry)?.split('/')[0] ?? 'registry.example.com';
  const login = [
    `--docker-server=${server}`,
    '--docker-username=USER',
    '--docker-password=PASSWORD',
  ];
  return createSecret('docker-registry', name, login, context);
}

const EXPIRY_WARNING_DAYS = 7;
const DAY_MS = 86_400_000;

const tokenCheck = check('Secrets', 'token', 'Agent pool token', {
  ref: 'https://docs.scalr.io/docs/self-hosted-agents-pools',
  run({token: given, secrets, get, now}) {
    if (given !== undefined) return tokenResult(given, now, NOT_A_TOKEN);
    const fact = secrets.get(get(tokenSecret) ?? '');
    if (fact === undefined) return undefined;
    if (!isKnown(fact)) return cannot('read the token', fact.because);
    const held = fact.value?.data?.[get(tokenSecretKey) ?? ''];
    if (held === undefined) return undefined;
    const text = Buffer.from(held, 'base64').toString('utf8');
    const host = hostInToken(new Secret(text));
    const found = tokenResult(text, now, UNKNOWN_FORMAT);
    if (host === undefined || host === get(url) || found.verdict === 'error') return found;
    return warn(
      `The token in Secret ${get(tokenSecret)} was created for ${host}, but the URL is ${get(url)}`,
      changing`Use ${withValue(url, host)}, or another Secret with ${tokenSecret}`,
    );
  },
});

const COPY_TOKEN = {
  text: 'Create a token in the agent pool in Scalr, and copy all of it',
  setting: token.id,
};

const NOT_A_TOKEN = warn(
  'The token is not a Scalr agent pool token (not a JSON Web Token)',
  COPY_TOKEN,
);

/** A token in an existing Secret may have another format. */
const UNKNOWN_FORMAT = notChecked('Cannot validate the token in the Secret: not a JSON Web Token');

/** `unreadable` is the result for any other format. */
function tokenResult(text: string, now: Date, unreadable: CheckResult): CheckResult {
  const claims = tokenClaims(text);
  if (claims === undefined) return unreadable;
  const problem = unusableToken(text.trim(), now);
  if (problem !== undefined) return fail(problem.message, COPY_TOKEN);
  const {expires} = claims;
  if (expires === undefined) return pass('The token does not expire');
  const day = expires.toISOString().slice(0, 10);
  return expires.getTime() - now.getTime() < EXPIRY_WARNING_DAYS * DAY_MS
    ? warn(`The token expires on ${day}`, COPY_TOKEN)
    : pass(`The token is valid until ${day}`);
}

export const secretChecks: readonly Check[] = [keys, pull, tokenCheck];
