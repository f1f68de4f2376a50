import {ExpectedError} from '../../errors.ts';
import type {HostCall} from '../../ports/host-tools.ts';
import {journalFindings, type UnitFacts} from '../findings/journal-findings.ts';
import {seed, seedsOfVariables, seedsOfWords, type Variable, variableIn} from '../redact/find-secrets.ts';
import type {Seed} from '../redact/known-values.ts';
import {type HostDeps, type HostOptions, type HostPrepared, hostLog, readSystem, readTexts, refusal} from './host.ts';
import type {Since} from './log-items.ts';
import type {TextFile} from './object-files.ts';
import type {Gap} from './read-namespace.ts';

const AGENT = 'scalr-agent';
/** Runs the containers of runs on a VM; its drop-in for a proxy is a link to that of the agent. */
const DOCKER = 'scalr-docker';
/** Without Environment=, which systemd prints in the clear. */
const PROPERTIES = (
  'Id LoadState LoadError ActiveState SubState Result UnitFileState FragmentPath DropInPaths NeedDaemonReload User Restart NRestarts ' +
  'ExecMainStatus ExecMainCode ExecMainStartTimestamp ActiveEnterTimestamp InactiveEnterTimestamp MemoryCurrent MemoryMax TasksCurrent LimitNOFILE'
).split(' ');

/** What systemd and its journal know of an agent on a VM. @throws ExpectedError when it cannot be read at all */
export async function prepareJournal({since, now}: HostOptions, world: HostDeps): Promise<HostPrepared> {
  const {host, over} = world;
  const version = await host.run({tool: 'journalctl', args: ['--version']}, {over});
  if (version.trouble)
    throw refusal('The journal cannot be read', version.trouble, [
      'For an agent that runs in Docker: scalr-agent collect-logs --docker CONTAINER',
    ]);
  const [agent, docker, system] = await Promise.all([readUnit(AGENT, world), readUnit(DOCKER, world), readSystem(world)]);
  if (agent.facts['LoadState'] === 'not-found')
    throw refusal(`There is no unit ${AGENT} on this machine`, {kind: 'not-found', message: 'systemd does not know it'}, [
      'Run it on the machine of the agent',
      'For an agent that runs in Docker: scalr-agent collect-logs --docker CONTAINER',
    ]);
  if (agent.texts.length === 0) await refuseSilence(agent.gaps, journalOf(AGENT, since, now), world);
  // Only what was installed by the package of the agent has it.
  const units = docker.facts['LoadState'] === 'loaded' ? [agent, docker] : [agent];
  return {
    name: 'journal',
    noun: 'unit',
    about: `systemd unit ${AGENT}`,
    releases: [],
    scope: {objects: [], pods: []},
    texts: () => [...units.flatMap(({texts}) => texts), {name: 'systemd/version.txt', text: version.stdout}, ...system],
    logs: units.map(({name}) => hostLog('journal', name)),
    seeds: units.flatMap(({seeds}) => seeds),
    gaps: units.flatMap(({gaps}) => gaps),
    findings: (logs, at) => journalFindings(units, logs, at),
    api: {stream: (path) => host.stream(journalOf(path, since, now), {over})},
  };
}

/** Where systemd says nothing, its journal has to. @throws ExpectedError */
async function refuseSilence([gap]: readonly Gap[], {tool, args}: HostCall, {host, over}: HostDeps): Promise<void> {
  const {stdout, trouble} = await host.run({tool, args: [...args, '--lines=1']}, {over});
  if (gap === undefined || trouble === undefined || /^(?!-- ).*\S/m.test(stdout)) return;
  const message = `systemctl: ${gap.trouble.message}; journalctl: ${trouble.message}`;
  throw refusal(`Nothing of unit ${AGENT} could be read, and no bundle was written`, {...trouble, message}, [
    'Run it on the machine of the agent',
    'For an agent that runs in Docker: scalr-agent collect-logs --docker CONTAINER',
  ]);
}

/** --all: it would hide lines with colours, progress bars and foreign bytes as "blob data". */
const journalOf = (unit: string, since: Since, now: Date): HostCall => ({
  tool: 'journalctl',
  args: [
    ...['--unit', `${unit}.service`, '--all', '--no-pager', '--utc', '--output', 'short-iso-precise'],
    ...(since === undefined ? [] : ['--since', `@${Math.floor(startOf(since, now) / 1000)}`]),
  ],
});

const startOf = (since: NonNullable<Since>, now: Date): number =>
  'seconds' in since ? now.getTime() - since.seconds * 1000 : Date.parse(since.time);

interface Unit extends UnitFacts {
  texts: readonly TextFile[];
  seeds: readonly Seed[];
  gaps: readonly Gap[];
}

async function readUnit(name: string, world: HostDeps): Promise<Unit> {
  const unit = `${name}.service`;
  const [cat, show] = [`systemd/${unit}.txt`, `systemd/${name}.properties.txt`];
  const {texts, gaps} = await readTexts(
    [
      {name: cat, call: {tool: 'systemctl', args: ['cat', '--no-pager', unit]}},
      {name: show, call: {tool: 'systemctl', args: ['show', '--no-pager', `--property=${PROPERTIES.join(',')}`, unit]}},
    ],
    world,
  );
  const textOf = (file: string): string => texts.find((each) => each.name === file)?.text ?? '';
  const {variables, environmentFiles, seeds} = parseUnit(textOf(cat));
  const files = await Promise.all(environmentFiles.map((file) => readVariables(file, world)));
  const all = [...variables, ...files.flatMap((file) => file.variables)];
  return {
    name,
    texts,
    variables: all.map((each) => each.name),
    facts: Object.fromEntries([...textOf(show).matchAll(/^(\w+)=(.*)$/gm)].map(([, key = '', value = '']) => [key, value])),
    seeds: [...seeds, ...seedsOfVariables(all)],
    gaps: [...gaps, ...files.flatMap((file) => file.gaps)],
  };
}

/** Only for what must not get out; the file itself never gets in. */
async function readVariables(
  {path, isOptional}: {path: string; isOptional: boolean},
  {files}: HostDeps,
): Promise<{variables: Variable[]; gaps: Gap[]}> {
  const what = `${path} (what is in it could not be searched for elsewhere)`;
  const gap = (kind: Gap['trouble']['kind'], message: string) => ({variables: [], gaps: [{what, trouble: {kind, message}}]});
  if (/[*?[%]/.test(path)) return gap('refused', 'it is a pattern, and only systemd knows for which files');
  try {
    return {variables: parseEnvironmentFile((await files.read(path)).toString('utf8')), gaps: []};
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    const isMissing = /no such file/.test(error.message);
    if (isMissing && isOptional) return {variables: [], gaps: []};
    if (isMissing) return gap('not-found', 'there is no such file, so the unit does not start');
    return gap('forbidden', `${error.message} Repeat it with sudo`);
  }
}

/** What a unit of systemd and its drop-ins say, one after the other, as `systemctl cat` prints them. */
export interface UnitFile {
  variables: readonly Variable[];
  /** Files with more of them; `isOptional` may be missing. */
  environmentFiles: readonly {path: string; isOptional: boolean}[];
  seeds: readonly Seed[];
}

/** Pure. */
export function parseUnit(text: string): UnitFile {
  const settings = settingsIn(text);
  const of = (name: string): string[] => settings.flatMap(([key, value]) => (key === name ? [value] : []));
  const variables = of('Environment')
    .flatMap(wordsIn)
    .flatMap((word) => variableIn(word) ?? []);
  return {
    variables,
    environmentFiles: of('EnvironmentFile').flatMap((value) => {
      const path = value.replace(/^-/, '').trim();
      return path === '' ? [] : [{path, isOptional: value.startsWith('-')}];
    }),
    seeds: [
      ...seedsOfVariables(variables),
      ...settings.flatMap(([key, value]) => (key.startsWith('Exec') ? seedsOfWords(wordsIn(value)) : [])),
      ...of('SetCredential').flatMap((value) => {
        const [, name, content] = /^([^:]+):(.+)$/s.exec(value) ?? [];
        return name === undefined || content === undefined ? [] : [seed(name, content)];
      }),
    ],
  };
}

/** The variables of an EnvironmentFile: a value in quotes may go over lines. Pure. */
export const parseEnvironmentFile = (text: string): Variable[] =>
  [...text.matchAll(/^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*=[ \t]*("(?:[^"\\]|\\.)*"|'[^']*'|[^\n]*)/gms)].map(
    ([, name = '', raw = '']) => ({
      name,
      value: /^["']/.test(raw) ? unquoted(raw) : raw.trim(),
    }),
  );

/** Key and value of every line; one that ends in a backslash goes on in the next. */
const settingsIn = (text: string): [string, string][] =>
  text
    .replace(/\\\n/g, ' ')
    .split('\n')
    .flatMap((line): [string, string][] => {
      const [, key, value] = /^\s*([A-Za-z]+)\s*=\s*(.*)$/.exec(line) ?? [];
      return key === undefined || value === undefined ? [] : [[key, value.trim()]];
    });

/** Words as systemd takes them: quotes hold blanks together, %% is a percent sign. */
const wordsIn = (text: string): string[] =>
  [...text.matchAll(/(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\\.|[^\s"'])+/g)].map(([word]) => unquoted(word).replaceAll('%%', '%'));

const unquoted = (word: string): string =>
  word
    .replace(/"((?:[^"\\]|\\.)*)"|'([^']*)'/gs, (_, double?: string, single?: string) => double ?? single ?? '')
    .replace(/\\(["'\\$`])/g, '$1');
