import overlay from '../../../templates/export/overlay.md';
import {commandLine} from '../../ground/command-line.ts';
import {ExitCode, ExpectedError} from '../../ground/errors.ts';
import type {Export, ExportedFile} from '../../host/files.ts';
import {argocd, argocdAppset} from './argocd.ts';
import {type Engine, type Fleet, fill, type Member, prepareFleet, sopsRules, textFile, tokenCommands, tokenSection} from './fleet.ts';
import {flux} from './flux.ts';
import {helmfile, terraform} from './terraform-helmfile.ts';

const ENGINES = {argocd, 'argocd-appset': argocdAppset, flux, terraform, helmfile} as const satisfies Readonly<Record<string, Engine>>;
export type FleetTarget = keyof typeof ENGINES;
export const FLEET_TARGETS = Object.keys(ENGINES) as FleetTarget[];

export const isFleetTarget = (target: string): target is FleetTarget => Object.hasOwn(ENGINES, target);

/** Name of the only cluster of an engine without --overlay. */
export const clusterWithoutOverlay = (target: FleetTarget): string => ENGINES[target].cluster;

/** The files for another tool. Pure. @throws ExpectedError for a way of the token that the tool does not support */
export function exportFleet(fleet: Fleet, target: FleetTarget): Export & {notes: string[]} {
  const engine: Engine = ENGINES[target];
  if (!engine.tokens.includes(fleet.token)) {
    throw new ExpectedError(`${target} does not support ${fleet.token}.`, {
      ...{code: 'UNSUPPORTED_SETTING', exit: ExitCode.usage},
      suggestions: [`Supported: ${engine.tokens.join(', ')}`],
    });
  }
  const prepared = prepareFleet(fleet, target);
  const [member] = prepared.members as [Member];
  return {
    files: [...engine.files(fleet, prepared), ...sopsRules(fleet), readmeOf(fleet, target, engine, member)],
    steps: [
      ...tokenCommands(fleet, member, engine.tokenFile(fleet, member.name)),
      ...(engine.start === undefined ? [] : [commandLine({tool: engine.start[0], args: engine.start.slice(1)})]),
    ],
    notes: ['The files contain no token. README.md describes how to start, add a cluster, rotate the token, upgrade and remove.'],
  };
}

/** Does not depend on the list of clusters. */
function readmeOf(fleet: Fleet, target: FleetTarget, engine: Engine, first: Member): ExportedFile {
  const member: Member = fleet.isOverlay ? {...first, name: 'CLUSTER', context: 'CONTEXT'} : {...first, name: engine.cluster};
  const words = {
    ...{cluster: member.name, release: member.release, namespace: member.namespace, secret: member.secret.name, command: fleet.command},
    ...{git: fleet.git?.url ?? 'https://git.example.com/agents.git', path: fleet.git?.path ?? '.'},
    token: tokenSection(fleet, member, engine.tokenFile(fleet, member.name)),
    overlay: fill(overlay, {
      add: fleet.isOverlay ? fleet.command : `scalr-agent export ${target} --answers answers.yaml --overlay clusters`,
    }).trimEnd(),
  };
  return textFile('README.md', fill(engine.readme, words));
}
