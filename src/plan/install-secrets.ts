import type {InstallFacts, SecretObject} from '../cluster/install-facts.ts';
import {isOwn, ownLabels} from '../cluster/own-labels.ts';
import {ExitCode, ExpectedError} from '../errors.ts';
import {applyObject} from '../kubernetes/kubectl.ts';
import type {WantedRelease} from './install.ts';
import {markOf} from './install-restarts.ts';
import type {Step} from './step.ts';
import {given, isChanged, type WantedSecret} from './wanted-secret.ts';

/** Makes those that are not there, and gives the others the content that the operator gave. @throws ExpectedError */
export const secretSteps = (wanted: WantedRelease, facts: InstallFacts): Step[] =>
  wanted.secrets.filter((secret) => isChanged(secret, facts)).map((secret) => secretStep(secret, wanted, facts));

function secretStep(secret: WantedSecret, wanted: WantedRelease, facts: InstallFacts): Step {
  const {name, type} = secret;
  const {release, place} = wanted.name;
  const found = facts.secrets.get(name);
  if (found !== undefined && !isOwn(found)) {
    throw new ExpectedError(`Secret ${name} in ${place.namespace} holds something else, and this program did not make it.`, {
      code: 'OBJECT_OF_ANOTHER',
      exit: ExitCode.usage,
      suggestions: ['Use it as it is: leave out the content', 'Name another Secret'],
    });
  }
  const stringData = Object.fromEntries(given(secret).map(([key, content]) => [key, content.reveal()]));
  const metadata = {name, labels: ownLabels(release), ...markOf(name, wanted, facts)};
  return {
    id: `secret/${name}`,
    title: `${found ? 'Replace the content of' : 'Create'} Secret ${name}`,
    call: applyObject(place, {apiVersion: 'v1', kind: 'Secret', type, metadata, stringData}),
  };
}

const isGiven = ({data}: WantedSecret): boolean => Object.values(data).every((content) => content !== undefined);
const isComplete = ({data}: WantedSecret, found: SecretObject | undefined): boolean =>
  found !== undefined && Object.keys(data).every((key) => found.data?.[key] !== undefined);

/** @throws ExpectedError when one is neither there nor given */
export function requireSecrets({secrets: wanted, name: {place}}: WantedRelease, {secrets}: InstallFacts): void {
  const missing = wanted.filter((secret) => !isComplete(secret, secrets.get(secret.name)) && !isGiven(secret));
  if (missing.length === 0) return;
  const lines = missing.map(({name, data}) => {
    const found = secrets.get(name);
    const keys = Object.keys(data).filter((key) => found?.data?.[key] === undefined);
    return found
      ? `Secret ${name} in ${place.namespace} has no key ${keys.join(' and ')}; it has ${Object.keys(found.data ?? {}).join(', ') || 'none'}.`
      : `There is no Secret ${name} in ${place.namespace}, and nothing to make it of.`;
  });
  throw new ExpectedError(lines.join('\n'), {
    code: 'MISSING_SETTING',
    exit: ExitCode.usage,
    suggestions: missing.map(({howToGive}) => howToGive),
  });
}
