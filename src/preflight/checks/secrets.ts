import {type Fact, isKnown, knownValue} from '../../cluster/facts/fact.ts';
import type {SecretObject} from '../../cluster/install-facts.ts';
import {isOwn} from '../../cluster/own-labels.ts';
import {commandLine} from '../../ports/processes.ts';
import {token, tokenSecret, tokenSecretKey} from '../../settings/agent.ts';
import {spell} from '../../settings/define.ts';
import {claimsOf} from '../../settings/secret.ts';
import {clientCertSecret} from '../../settings/tls.ts';
import {type Check, fail, type Outcome, pass, skip, warn} from '../check.ts';
import {pullSecretsIn} from '../named-in.ts';
import type {Situation} from '../situation.ts';
import {worstOf} from './outcomes.ts';

const REF = 'https://kubernetes.io/docs/concepts/configuration/secret/';
const PULL_TYPES = ['kubernetes.io/dockerconfigjson', 'kubernetes.io/dockercfg'];

const keys: Check = {
  id: 'secrets',
  group: 'Secrets',
  title: 'Secrets are there, with the keys that are read',
  ref: REF,
  test(situation) {
    const wanted = withoutPullSecrets(situation);
    if (wanted.length === 0) return undefined;
    return worstOf(wanted.map((each) => secretOutcome(each, situation)));
  },
};

type Wanted = Situation['wantedSecrets'][number];

const withoutPullSecrets = ({wantedSecrets, manifest}: Situation): Wanted[] => {
  const pulls = pullSecretsIn(knownValue(manifest) ?? []);
  return wantedSecrets.filter(({name}) => !pulls.includes(name));
};

function secretOutcome({name, keys: wanted, isGiven}: Wanted, {secrets, name: {place}, get, token: own}: Situation): Outcome {
  const fact: Fact<SecretObject | undefined> | undefined = secrets.get(name);
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
  return fail(message, remedyFor(name, missing, isToken, name === get(clientCertSecret), place.namespace));
}

function remedyFor(name: string, missing: readonly string[], isToken: boolean, isCertificate: boolean, namespace: string): string {
  const make = (type: string, files: readonly string[]): string =>
    commandLine({tool: 'kubectl', args: ['create', 'secret', type, name, '--namespace', namespace, ...files]});
  if (isToken) {
    return 'Give the agent pool token in SCALR_AGENT_TOKEN or with --token-file, or name the Secret and its key with --token-secret and --token-secret-key';
  }
  if (isCertificate)
    return `Give --client-cert-file and --client-key-file, or make it: ${make('tls', ['--cert=tls.crt', '--key=tls.key'])}`;
  return `Make it: ${make(
    'generic',
    missing.map((key) => `--from-file=${key}=${key}`),
  )}`;
}

const pull: Check = {
  id: 'pull-secrets',
  group: 'Secrets',
  title: 'Secrets for pulling images are there',
  ref: 'https://kubernetes.io/docs/tasks/configure-pod-container/pull-image-private-registry/',
  test({manifest, secrets, name: {place}}) {
    const names = pullSecretsIn(knownValue(manifest) ?? []);
    if (names.length === 0) return undefined;
    return worstOf(
      names.map((name) => {
        const fact = secrets.get(name);
        // The chart itself makes what nobody was asked for.
        if (fact === undefined) return pass(`Secret ${name} comes with the chart`);
        if (!isKnown(fact)) return skip(`Secret ${name} cannot be read: ${fact.because}`);
        const make = `kubectl create secret docker-registry ${name} --namespace ${place.namespace} --docker-server=<HOST> --docker-username=<NAME>`;
        if (fact.value === undefined) return fail(`there is no Secret ${name} in ${place.namespace}: images would not be pulled`, make);
        const {type = 'Opaque'} = fact.value;
        return PULL_TYPES.includes(type)
          ? pass(`Secret ${name} is there`)
          : fail(`Secret ${name} is of type ${type}, and kubelets read ${PULL_TYPES[0]} only`, make);
      }),
    );
  },
};

const SOON_DAYS = 7;
const DAY_MS = 86_400_000;

const tokenCheck: Check = {
  id: 'token',
  group: 'Secrets',
  title: 'the agent pool token can be used',
  ref: 'https://docs.scalr.io/docs/self-hosted-agents-pools',
  test({token: given, secrets, get, now}) {
    const fact = secrets.get(get(tokenSecret) ?? '');
    if (given === undefined && fact !== undefined && !isKnown(fact)) return skip(`the token cannot be read: ${fact.because}`);
    const held = knownValue(fact ?? {unknown: 'undetermined', because: ''})?.data?.[get(tokenSecretKey) ?? ''];
    const text = given ?? (held === undefined ? undefined : Buffer.from(held, 'base64').toString('utf8'));
    if (text === undefined) return undefined;
    const claims = claimsOf(text);
    const remedy = 'Make a token in the agent pool of Scalr, and copy all of it';
    // A Secret may be filled by somebody who knows better.
    if (claims === undefined) {
      return given === undefined
        ? pass('that of the Secret; its form is unknown')
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
