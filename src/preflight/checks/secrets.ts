import {isKnown, knownValue} from '../../cluster/facts/fact.ts';
import {isOwn} from '../../cluster/objects.ts';
import {kubectlCommand} from '../../command-line.ts';
import {token, tokenSecret, tokenSecretKey} from '../../settings/agent.ts';
import {spell} from '../../settings/define.ts';
import {imageRegistry} from '../../settings/pods.ts';
import {claimsOf} from '../../settings/secret.ts';
import {clientCertSecret} from '../../settings/tls.ts';
import {type Check, type CheckResult, fail, pass, skip, warn, worstOf} from '../check.ts';
import type {PreflightContext, RequiredSecret} from '../preflight-context.ts';
import {referencedPullSecrets} from '../referenced-objects.ts';

const REF = 'https://kubernetes.io/docs/concepts/configuration/secret/';
const PULL_TYPES = ['kubernetes.io/dockerconfigjson', 'kubernetes.io/dockercfg'];

const GIVE_TOKEN =
  'Give the agent pool token in SCALR_AGENT_TOKEN or with --token-file, or name the Secret and its key with --token-secret and --token-secret-key';

const keys: Check = {
  id: 'secrets',
  group: 'Secrets',
  title: 'Secrets are there, with the keys that are read',
  ref: REF,
  run(context) {
    const pulls = referencedPullSecrets(knownValue(context.manifest) ?? []);
    return worstOf(context.wantedSecrets.filter(({name}) => !pulls.includes(name)).map((each) => secretResult(each, context)));
  },
};

function secretResult(
  {name, keys: wanted, isGiven}: RequiredSecret,
  {secrets, name: {place}, get, token: own}: PreflightContext,
): CheckResult {
  const fact = secrets.get(name);
  if (fact === undefined || !isKnown(fact)) return skip(`Secret ${name} cannot be read${fact ? `: ${fact.because}` : ''}`);
  const found = fact.value;
  const isToken = name === get(tokenSecret);
  if (isGiven) {
    const held = found?.data?.[get(tokenSecretKey) ?? ''];
    const isOther = isToken && own !== undefined && held !== Buffer.from(own, 'utf8').toString('base64');
    if (found === undefined) return pass(`Secret ${name} will be made`);
    return isOther && !isOwn(found)
      ? fail(
          `Secret ${name} in ${place.namespace} holds something else, and this program did not make it`,
          `Use it as it is, without ${spell(token)} and --token-file, or name another with --token-secret`,
        )
      : pass(`Secret ${name} is there${isOther ? ', and its content will be replaced' : ''}`);
  }
  const missing = wanted.filter((key) => found?.data?.[key] === undefined);
  if (found !== undefined && missing.length === 0) return pass(`Secret ${name} has ${wanted.join(' and ') || 'what is needed'}`);
  const had = Object.keys(found?.data ?? {}).join(', ') || 'none';
  const message = found
    ? `Secret ${name} in ${place.namespace} has no key ${missing.join(' and ')}; it has ${had}`
    : `there is no Secret ${name} in ${place.namespace}`;
  if (isToken) return fail(message, GIVE_TOKEN);
  const create = (type: string, files: readonly string[]): string =>
    kubectlCommand(place, 'create', 'secret', type, name, '--namespace', place.namespace, ...files);
  if (name === get(clientCertSecret)) {
    const make = create('tls', ['--cert=tls.crt', '--key=tls.key']);
    return fail(message, `Give --client-cert-file and --client-key-file, or make it: ${make}`);
  }
  const files = missing.map((key) => `--from-file=${key}=${key}`);
  return fail(message, `Make it: ${create('generic', files)}`);
}

const pull: Check = {
  id: 'pull-secrets',
  group: 'Secrets',
  title: 'Secrets for pulling images are there',
  ref: 'https://kubernetes.io/docs/tasks/configure-pod-container/pull-image-private-registry/',
  run(context) {
    const {
      manifest,
      secrets,
      name: {place},
    } = context;
    return worstOf(
      referencedPullSecrets(knownValue(manifest) ?? []).map((name) => {
        const fact = secrets.get(name);
        // Secrets that the chart creates are not read.
        if (fact === undefined) return pass(`Secret ${name} comes with the chart`);
        if (!isKnown(fact)) return skip(`Secret ${name} cannot be read: ${fact.because}`);
        const make = `Make it, with the user and password of the registry: ${createPullSecret(name, context)}`;
        if (fact.value === undefined) return fail(`there is no Secret ${name} in ${place.namespace}: images would not be pulled`, make);
        const {type = 'Opaque'} = fact.value;
        return PULL_TYPES.includes(type)
          ? pass(`Secret ${name} is there`)
          : fail(
              `Secret ${name} is of type ${type}, and kubelets read ${PULL_TYPES[0]} only`,
              // The type of a Secret cannot be changed.
              `Delete it: ${kubectlCommand(place, 'delete', 'secret', name, '--namespace', place.namespace)}\n${make}`,
            );
      }),
    );
  },
};

/** The command that makes it, with the registry of the settings. */
const createPullSecret = (name: string, {name: {place}, get}: PreflightContext): string => {
  const server = get(imageRegistry)?.split('/')[0] ?? 'registry.example.com';
  const login = [`--docker-server=${server}`, '--docker-username=USER', '--docker-password=PASSWORD'];
  return kubectlCommand(place, 'create', 'secret', 'docker-registry', name, '--namespace', place.namespace, ...login);
};

const SOON_DAYS = 7;
const DAY_MS = 86_400_000;

const tokenCheck: Check = {
  id: 'token',
  group: 'Secrets',
  title: 'the agent pool token can be used',
  ref: 'https://docs.scalr.io/docs/self-hosted-agents-pools',
  run({token: given, secrets, get, now}) {
    const fact = secrets.get(get(tokenSecret) ?? '');
    if (given === undefined && fact !== undefined && !isKnown(fact)) return skip(`the token cannot be read: ${fact.because}`);
    const held = knownValue(fact ?? {unknown: 'undetermined', because: ''})?.data?.[get(tokenSecretKey) ?? ''];
    const text = given ?? (held === undefined ? undefined : Buffer.from(held, 'base64').toString('utf8'));
    if (text === undefined) return undefined;
    const claims = claimsOf(text);
    const remedy = 'Make a token in the agent pool of Scalr, and copy all of it';
    // What is in a Secret already may have a form of its own.
    if (claims === undefined) {
      return given === undefined
        ? skip('whether the token of the Secret can be used is unknown: it is no JSON Web Token')
        : warn('it does not have the form of a token of Scalr (a JSON Web Token)', remedy);
    }
    const {expires} = claims;
    if (expires === undefined) return pass('it does not expire');
    const day = expires.toISOString().slice(0, 10);
    if (expires <= now) return fail(`it expired on ${day}`, remedy);
    return expires.getTime() - now.getTime() < SOON_DAYS * DAY_MS ? warn(`it expires on ${day}`, remedy) : pass(`it is valid until ${day}`);
  },
};

export const secretChecks: readonly Check[] = [keys, pull, tokenCheck];
