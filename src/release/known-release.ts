import type {ReleaseName} from '../ground/command-line.ts';
import {ownCommand} from '../ground/command-line.ts';
import {ExitCode, ExpectedError} from '../ground/errors.ts';
import {closest} from '../ground/text.ts';
import type {ListedRelease} from '../helm/release-record.ts';
import type {Inventory} from './inventory.ts';
import type {Readings} from './inventory-readings.ts';

/** A mistyped name must not look like an uninstalled release. @throws ExpectedError when neither Helm nor any object knows the release */
export function requireKnownRelease(
  name: ReleaseName,
  /** Helm has a record of it, of whatever state and chart. */
  isRecorded: boolean,
  {claims, volumes, secrets, namespace, leftovers}: Inventory,
  readings: Pick<Readings, 'namespaceObject' | 'releases' | 'releasesHere'>,
): void {
  const isLeft = [claims, volumes, secrets, leftovers].some((each) => each.length > 0) || namespace?.isOurs;
  if (isRecorded || isLeft) return;
  const {release, place} = name;
  const isNamespaceMissing = readings.namespaceObject === undefined;
  throw new ExpectedError(
    isNamespaceMissing
      ? `Release ${release} not found: namespace ${place.namespace} does not exist.`
      : `Release ${release} not found in namespace ${place.namespace}.`,
    {code: 'RELEASE_NOT_FOUND', exit: ExitCode.usage, suggestions: suggestionsFor(name, readings)},
  );
}

const MAX_NAMES = 10;

function suggestionsFor(
  {release, place}: ReleaseName,
  {releases, releasesHere = []}: Pick<Readings, 'releases' | 'releasesHere'>,
): string[] {
  const agents = (releases ?? releasesHere).filter(({chart}) => /^agent-(k8s|local|job)-\d/.test(chart));
  const here = agents.filter(({namespace}) => namespace === place.namespace);
  const named = closest(
    release,
    agents.map(({name}) => name),
  );
  const wanted = here.length === 1 ? here[0] : [...here, ...agents].find(({name}) => name === named);
  const sorted = [...here, ...agents.filter((each) => !here.includes(each))];
  const names = sorted.slice(0, MAX_NAMES).map(nameOf);
  const more = agents.length > MAX_NAMES ? ` and ${agents.length - MAX_NAMES} more` : '';
  return [
    names.length > 0
      ? `Agent releases found: ${names.join(', ')}${more}`
      : `No agent release found in ${releases ? 'this cluster' : `namespace ${place.namespace}`}`,
    ...(wanted
      ? [
          `If you meant ${wanted.namespace}/${wanted.name}: ${ownCommand('uninstall', {release: wanted.name, place: {...place, namespace: wanted.namespace}})}`,
        ]
      : []),
    ...(releases ? [] : ['This account cannot list releases of other namespaces. Set the namespace with --namespace']),
    'Use another cluster: --kube-context NAME',
  ];
}

const nameOf = ({namespace, name, chart}: ListedRelease): string => `${namespace}/${name} (${chart})`;
