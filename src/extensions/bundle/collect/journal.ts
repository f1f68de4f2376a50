import {journalFindings, type UnitFacts} from '../../../checks/diagnose/host-findings.ts';
import {ExpectedError} from '../../../ground/errors.ts';
import {refusal} from '../../../ground/system/host-refusal.ts';
import type {HostCall} from '../../../ground/system/system.ts';
import {
  type EnvironmentFile,
  environmentFilesIn,
  parseEnvironmentFile,
  propertiesIn,
  showServices,
} from '../../../ground/system/systemd.ts';
import {type Variable, variableIn} from '../../../ground/variable.ts';
import {knownSecret, knownSecretsOfVariables, knownSecretsOfWords} from '../redact/find-secrets.ts';
import type {KnownSecret} from '../redact/known-values.ts';
import {
  type HostBundleOptions,
  type HostDeps,
  hostLog,
  readCommandTexts,
  readSystem,
} from './docker.ts';
import type {Gap} from './gap.ts';
import type {Since} from './log-items.ts';
import type {PreparedBundle} from './prepare.ts';
import type {TextFile} from './read-objects.ts';

const AGENT = 'scalr-agent';
/** Runs run containers on a VM; its proxy drop-in is a link to the one of the agent. */
const DOCKER = 'scalr-docker';
const ON_MACHINE = 'Run the command on the machine where the agent runs';
const IN_DOCKER = 'For an agent that runs in Docker: scalr-agent collect-logs --target docker';
/** Without Environment=, which systemd prints in clear text. */
const PROPERTIES = (
  'Id LoadState LoadError ActiveState SubState Result UnitFileState FragmentPath DropInPaths EnvironmentFiles NeedDaemonReload User Restart NRestarts ' +
  'ExecMainStatus ExecMainCode ExecMainStartTimestamp ActiveEnterTimestamp InactiveEnterTimestamp MemoryCurrent MemoryMax TasksCurrent LimitNOFILE'
).split(' ');

/** Reads the systemd service of an agent on a VM. @throws ExpectedError if it cannot be read */
export async function prepareJournal(
  {since, now}: HostBundleOptions,
  deps: HostDeps,
): Promise<PreparedBundle> {
  const {host, signal} = deps;
  const version = await host.run({tool: 'journalctl', args: ['--version']}, {signal});
  if (version.error) throw refusal('Cannot read the journal', version.error, [IN_DOCKER]);
  const [agent, docker, system] = await Promise.all([
    readUnit(AGENT, deps),
    readUnit(DOCKER, deps),
    readSystem(deps),
  ]);
  if (agent.facts['LoadState'] === 'not-found')
    throw refusal(
      `Unit ${AGENT} not found on this machine`,
      {kind: 'not-found', message: 'unknown to systemd'},
      [ON_MACHINE, IN_DOCKER],
    );
  if (agent.texts.length === 0)
    await refuseUnreadableJournal(agent.gaps, journalOf(AGENT, since, now), deps);
  // Only exists if the agent was installed from its package.
  const units = docker.facts['LoadState'] === 'loaded' ? [agent, docker] : [agent];
  return {
    name: 'journal',
    noun: 'unit',
    about: `systemd unit ${AGENT}`,
    releases: [],
    scope: {objects: [], pods: []},
    texts: () => [
      ...units.flatMap(({texts}) => texts),
      {name: 'systemd/version.txt', text: version.stdout},
      ...system,
    ],
    logs: units.map(({name}) => hostLog('journal', name)),
    knownSecrets: units.flatMap(({knownSecrets}) => knownSecrets),
    gaps: units.flatMap(({gaps}) => gaps),
    findings: (logs, at) => journalFindings(units, logs, at),
    api: {stream: (path) => host.stream(journalOf(path, since, now), {signal})},
  };
}

/** Without unit data, the journal must be readable. @throws ExpectedError */
async function refuseUnreadableJournal(
  [gap]: readonly Gap[],
  {tool, args}: HostCall,
  {host, signal}: HostDeps,
): Promise<void> {
  const {stdout, error} = await host.run({tool, args: [...args, '--lines=1']}, {signal});
  if (gap === undefined || error === undefined || /^(?!-- ).*\S/m.test(stdout)) return;
  const message = `systemctl: ${gap.error.message}; journalctl: ${error.message}`;
  throw refusal(`Cannot read unit ${AGENT}. No bundle was written`, {kind: error.kind, message}, [
    ON_MACHINE,
    IN_DOCKER,
  ]);
}

/** --all: otherwise lines with colors, progress bars or other bytes are hidden as "blob data". */
const journalOf = (unit: string, since: Since, now: Date): HostCall => ({
  tool: 'journalctl',
  args: [
    '--unit',
    `${unit}.service`,
    '--all',
    '--no-pager',
    '--utc',
    '--output',
    'short-iso-precise',
    ...(since === undefined
      ? []
      : [
          '--since',
          `@${Math.floor(('seconds' in since ? now.getTime() - since.seconds * 1000 : Date.parse(since.time)) / 1000)}`,
        ]),
  ],
});

interface Unit extends UnitFacts {
  texts: readonly TextFile[];
  knownSecrets: readonly KnownSecret[];
  gaps: readonly Gap[];
}

async function readUnit(name: string, deps: HostDeps): Promise<Unit> {
  const unit = `${name}.service`;
  const cat = `systemd/${unit}.txt`;
  const show = `systemd/${name}.properties.txt`;
  const {texts, gaps} = await readCommandTexts(
    [
      {name: cat, call: {tool: 'systemctl', args: ['cat', '--no-pager', unit]}},
      {
        name: show,
        call: showServices([name], PROPERTIES),
      },
    ],
    deps,
  );
  const textOf = (file: string): string => texts.find((each) => each.name === file)?.text ?? '';
  const {variables, knownSecrets} = parseUnit(textOf(cat));
  const files = await Promise.all(
    environmentFilesIn(textOf(show)).map((file) => readVariables(file, deps)),
  );
  const ofFiles = files.flatMap((file) => file.variables);
  return {
    name,
    texts,
    variables: [...variables, ...ofFiles].map((each) => each.name),
    facts: propertiesIn(textOf(show)),
    knownSecrets: [...knownSecrets, ...knownSecretsOfVariables(ofFiles)],
    gaps: [...gaps, ...files.flatMap((file) => file.gaps)],
  };
}

/** Only read to find secrets elsewhere; the file itself is never in the bundle. */
async function readVariables(
  {path, isOptional}: EnvironmentFile,
  {files}: HostDeps,
): Promise<{variables: Variable[]; gaps: Gap[]}> {
  const what = `${path} (the bundle was not searched for its values)`;
  const gap = (kind: Gap['error']['kind'], message: string) => ({
    variables: [],
    gaps: [{what, error: {kind, message}}],
  });
  if (/[*?[]/.test(path)) return gap('refused', 'patterns are not supported');
  try {
    return {variables: parseEnvironmentFile((await files.read(path)).toString('utf8')), gaps: []};
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    const isMissing = (await files.kindOf(path)) === 'nothing';
    if (isMissing && isOptional) return {variables: [], gaps: []};
    if (isMissing) return gap('not-found', 'no such file, so the unit cannot start');
    return gap('forbidden', `${error.message} Run the command with sudo`);
  }
}

/** A systemd unit and its drop-ins, as printed by `systemctl cat`: what is in the bundle, even where a later line replaces it. Pure. */
export function parseUnit(text: string) {
  const settings = settingsIn(text);
  const of = (name: string): string[] =>
    settings.flatMap(([key, value]) => (key === name ? [value] : []));
  const variables = of('Environment')
    .flatMap(wordsIn)
    .flatMap((word) => variableIn(word) ?? []);
  return {
    variables,
    knownSecrets: [
      ...knownSecretsOfVariables(variables),
      ...settings.flatMap(([key, value]) =>
        key.startsWith('Exec') ? knownSecretsOfWords(wordsIn(value)) : [],
      ),
      ...of('SetCredential').flatMap((value) => {
        const [, name, content] = /^([^:]+):(.+)$/s.exec(value) ?? [];
        return name === undefined || content === undefined ? [] : [knownSecret(name, content)];
      }),
    ],
  };
}

/** Key and value of every line; a trailing backslash continues the line. */
const settingsIn = (text: string): [string, string][] =>
  text
    .replace(/\\\n/g, ' ')
    .split('\n')
    .flatMap((line): [string, string][] => {
      const [, key, value] = /^\s*([A-Za-z]+)\s*=\s*(.*)$/.exec(line) ?? [];
      return key === undefined || value === undefined ? [] : [[key, value.trim()]];
    });

/** Splits words as systemd does: quotes keep spaces, %% is a percent sign. */
const wordsIn = (text: string): string[] =>
  [...text.matchAll(/(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\\.|[^\s"'])+/g)].map(([word]) =>
    unquoted(word).replaceAll('%%', '%'),
  );

const unquoted = (word: string): string =>
  word
    .replace(
      /"((?:[^"\\]|\\.)*)"|'([^']*)'/gs,
      (_, double?: string, single?: string) => double ?? single ?? '',
    )
    .replace(/\\(["'\\$`])/g, '$1');
