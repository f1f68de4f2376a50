import {isMap} from '../charts/tree.ts';
import {failureOf, jsonOf, objectsOf} from '../cluster/facts/answers.ts';
import {clusterFactsOf} from '../cluster/facts/cluster-facts.ts';
import {type Fact, follow, isKnown, known, knownValue} from '../cluster/facts/fact.ts';
import {REQUEST_SECONDS, readCluster} from '../cluster/facts/read-cluster.ts';
import type {InstallFacts, SecretObject} from '../cluster/install-facts.ts';
import type {Claim, KubernetesObject} from '../cluster/objects.ts';
import {type Config, contextOf} from '../cluster/read-facts.ts';
import {rendered, renderManifest} from '../plan/render-chart.ts';
import type {WantedRelease} from '../plan/wanted-release.ts';
import {currentContext, getNamed, listResources, serverVersion} from '../ports/kubectl.ts';
import type {Place} from '../ports/place.ts';
import type {Outcome, Processes} from '../ports/processes.ts';
import {token, tokenFile} from '../settings/agent.ts';
import type {Get} from '../settings/define.ts';
import {cacheClaim} from '../settings/storage.ts';
import type {Generated} from '../values/generate.ts';
import {effectiveGet, effectiveValues} from '../values/read-values.ts';
import {neededPermissions} from './checks/permissions.ts';
import {permissionsOf} from './permissions-of.ts';
import type {Permission, PreflightContext as Situation} from './preflight-context.ts';
import {type Patience, questions} from './questions.ts';
import {readTools} from './read-tools.ts';
import {referencedClaims as claimsNamedIn, wantedSecrets} from './referenced-objects.ts';

interface World extends Patience {
  processes: Processes;
  now(): Date;
}

/** What an install knows already and need not ask for again. */
export interface Already {
  manifest?: string;
  context?: InstallFacts['context'];
}

type Wanted = Omit<WantedRelease, 'manifest'>;

/** Asks everything checks look at; changes nothing, never fails, and ends in time with what it knows by then. */
export async function readSituation(generated: Generated, wanted: Wanted, world: World, already: Already = {}): Promise<Situation> {
  const {target, settings, effective, values} = generated;
  const {place} = wanted.name;
  const get = effectiveGet(settings, effective);
  const processes = questions(world.processes, world);
  const version = processes.run(serverVersion(place, REQUEST_SECONDS));
  const rendering =
    already.manifest === undefined
      ? version.then((answer) => renderManifest(wanted, versionIn(answer), get, processes))
      : Promise.resolve({manifest: rendered(already.manifest)});
  // Who has not said its version will say nothing else: what waits for the manifest is not asked any more.
  const answering = version.then((answer) => (isSilent(answer) ? always(answer) : processes));
  const objects = rendering.then(({manifest}) => knownValue(manifest) ?? []);
  const [readings, tools, context, named, permissions] = await Promise.all([
    readCluster(place, processes),
    readTools(place, processes),
    readContext(place, processes, already.context),
    Promise.all([objects, answering]).then((found) => readNamed(wanted, get, ...found)),
    Promise.all([objects, answering]).then((found) => readPermissions(place, ...found)),
  ]);
  return {
    name: wanted.name,
    target,
    get,
    values: effectiveValues(values, target),
    ...(await rendering),
    facts: clusterFactsOf(readings),
    readings,
    context,
    tools,
    permissions: follow(permissions, (all, source) => known(withoutMaking(all, readings.namespaceObject), source)),
    ...named,
    token: (settings.get(token) ?? settings.get(tokenFile))?.reveal(),
    now: world.now(),
  };
}

/** Forbidden is an answer too. */
const isSilent = (outcome: Outcome): boolean => outcome.exitCode !== 0 && failureOf(outcome).unknown !== 'forbidden';

const always = (outcome: Outcome): Asking => ({run: async () => outcome});

const versionIn = (answer: Outcome): string | undefined =>
  knownValue(jsonOf<{serverVersion?: {gitVersion?: string}}>(answer, 'kubectl version', isMap))?.serverVersion?.gitVersion;

async function readContext(place: Place, processes: Processes, context?: InstallFacts['context']): Promise<Situation['context']> {
  const source = 'kubectl config view';
  if (context) return known(context, source);
  const config = jsonOf<Config>(await processes.run(currentContext(place)), source, isMap);
  return follow(config, (found) => known(contextOf(found), source));
}

type Asking = Pick<Processes, 'run'>;
type Named = Pick<Situation, 'wantedSecrets' | 'secrets' | 'claims'>;

/** Secrets and claims that have to be there, in one call. */
async function readNamed(
  {name: {place}, secrets: made}: Wanted,
  get: Get,
  objects: readonly KubernetesObject[],
  processes: Asking,
): Promise<Named> {
  const wanted = wantedSecrets(made, get, objects);
  const secrets = wanted.map(({name}) => name);
  const own = get(cacheClaim);
  const claims = [...new Set([...claimsNamedIn(objects), ...(own === undefined ? [] : [own])])];
  const spelled = [...secrets.map((name) => `secrets/${name}`), ...claims.map((name) => `persistentvolumeclaims/${name}`)];
  const found = objectsOf(await processes.run(getNamed(place, spelled, REQUEST_SECONDS)), spelled);
  const pick = <T>(kind: string, names: readonly string[]): Map<string, Fact<T | undefined>> =>
    new Map(names.map((name) => [name, found[`${kind}/${name}`] as Fact<T | undefined>]));
  return {wantedSecrets: wanted, secrets: pick<SecretObject>('secrets', secrets), claims: pick<Claim>('persistentvolumeclaims', claims)};
}

async function readPermissions(place: Place, objects: readonly KubernetesObject[], processes: Asking): Promise<Situation['permissions']> {
  const {stdout} = await processes.run(listResources(place, REQUEST_SECONDS));
  return permissionsOf(neededPermissions({namespace: place.namespace, objects, resources: stdout.split('\n')}), place, processes);
}

/** A namespace that is there need not be made; where it cannot be read, it may be there. */
function withoutMaking(permissions: readonly Permission[], namespace: Fact<KubernetesObject | undefined>): readonly Permission[] {
  const isMaking = ({verb, resource}: Permission): boolean => verb === 'create' && resource === 'namespaces';
  if (!isKnown(namespace)) return permissions.map((each) => (isMaking(each) ? {...each, isOptional: true} : each));
  return namespace.value === undefined ? permissions : permissions.filter((each) => !isMaking(each));
}
