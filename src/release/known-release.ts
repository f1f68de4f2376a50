import type {ReleaseName} from '../ground/command-line.ts';
import {ownCommand} from '../ground/command-line.ts';
import {ExitCode, ExpectedError} from '../ground/errors.ts';
import {closest, few} from '../ground/text.ts';
import type {ListedRelease} from '../helm/release-record.ts';
import type {Inventory} from './inventory.ts';
import type {InventoryReadings} from './inventory-readings.ts';
import {notRecorded, unrecordedAgents} from './unrecorded.ts';

/** A mistyped name must not look like an uninstalled release. @throws ExpectedError when neither Helm nor any object knows the release */
export function requireKnownRelease(
  name: ReleaseName,
  /** Helm has a record of it, of whatever state and chart. */
  isRecorded: boolean,
  {claims, volumes, secrets, namespace, leftovers}: Inventory,
  readings: Pick<InventoryReadings, 'namespaceObject' | 'objects' | 'releases' | 'releasesHere'>,
): void {
  const isLeft = [claims, volumes, secrets, leftovers].some((each) => each.length > 0) || namespace?.isOurs;
  if (isRecorded || isLeft) return;
  const {release, kubeTarget} = name;
  const unrecorded = unrecordedAgents(readings.objects, []).find((each) => each.release === release);
  if (unrecorded) throw notRecorded(name, unrecorded);
  const isNamespaceMissing = readings.namespaceObject === undefined;
  throw new ExpectedError(
    isNamespaceMissing
      ? `Release ${release} not found: namespace ${kubeTarget.namespace} does not exist.`
      : `Release ${release} not found in namespace ${kubeTarget.namespace}.`,
    {code: 'RELEASE_NOT_FOUND', exit: ExitCode.usage, suggestions: suggestionsFor(name, readings)},
  );
}

const MAX_NAMES = 10;

function suggestionsFor(
  {release, kubeTarget}: ReleaseName,
  {releases, releasesHere = []}: Pick<InventoryReadings, 'releases' | 'releasesHere'>,
): string[] {
  const agents = (releases ?? releasesHere).filter(({chart}) => /^agent-(k8s|local|job)-\d/.test(chart));
  const here = agents.filter(({namespace}) => namespace === kubeTarget.namespace);
  const named = closest(
    release,
    agents.map(({name}) => name),
  );
  const wanted = here.length === 1 ? here[0] : [...here, ...agents].find(({name}) => name === named);
  const sorted = [...here, ...agents.filter((each) => !here.includes(each))];
  return [
    sorted.length > 0
      ? `Agent releases found: ${few(sorted.map(nameOf), MAX_NAMES)}`
      : `No agent release found in ${releases ? 'this cluster' : `namespace ${kubeTarget.namespace}`}`,
    ...(wanted
      ? [
          `If you meant ${wanted.namespace}/${wanted.name}: ${ownCommand('uninstall', {release: wanted.name, kubeTarget: {...kubeTarget, namespace: wanted.namespace}})}`,
        ]
      : []),
    ...(releases ? [] : ['This account cannot list releases of other namespaces. Set the namespace with --namespace']),
    'Use another cluster: --kube-context NAME',
  ];
}

const nameOf = ({namespace, name, chart}: ListedRelease): string => `${namespace}/${name} (${chart})`;
