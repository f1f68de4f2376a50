import type {ChartName} from '../../charts/releases/chart-name.ts';
import {newestOf} from '../../charts/releases/target.ts';
import {within} from '../../charts/releases/versions.ts';
import {type ExpectedError, failed} from '../../ground/errors.ts';
import {tokenClaims} from '../../ground/secret.ts';
import type {SourceProblem} from '../validate/finding.ts';
import type {Edit} from '../yaml-text.ts';

/** A release in a file of another engine: its chart, its version and its inline values. */
export interface EmbeddedRelease {
  kind: string;
  chart: ChartName;
  version: string | undefined;
  /** The values as a file of their own; undefined if the release has none inline. */
  values: string | undefined;
  /** The inline values at their lines and columns in the file, with blanks around them. */
  inPlace: string | undefined;
  /** Values files that the inline values override, once for each environment. */
  fileSets: readonly (readonly string[])[];
  /** Values come from other places too. */
  hasOtherValues: boolean;
  /** Names of single values that are set beside the inline values and override them. */
  parameters: readonly string[];
  /** Problems of the file around the values. */
  problems: readonly SourceProblem[];
  /** The edits that write another chart, version and values. */
  edits(chart: ChartName, version: string, values: string | undefined): Edit[];
}

/** The text with blanks before `start` and behind `end`. */
export const blankAround = (text: string, start: number, end: number): string => {
  const blank = (part: string): string => part.replaceAll(/[^\r\n]/g, ' ');
  return `${blank(text.slice(0, start))}${text.slice(start, end)}${blank(text.slice(end))}`;
};

/** Only another program can evaluate the file. */
export const notReadable = (
  file: string,
  reason: string,
  suggestions: readonly string[],
): ExpectedError =>
  failed('UNREADABLE_FILE', `Cannot read the values in ${file}: ${reason}.`, suggestions);

/** A text with this many blanks less at the start of its lines. */
export const dedent = (text: string, column: number): string =>
  text.replaceAll(new RegExp(`(?<=^|\\n) {0,${column}}`, 'g'), '');

/** A text with this many blanks more at the start of its filled lines. */
export const indent = (text: string, column: number): string =>
  text.trimEnd().replaceAll(/(?<=^|\n)(?=[^\n])/g, ' '.repeat(column));

/** The smallest indentation of a text. */
export const columnOf = (text: string): number => {
  const columns = text
    .split('\n')
    .flatMap((line) => (line.trim() === '' ? [] : [line.search(/\S/)]));
  return columns.length > 0 ? Math.min(...columns) : 0;
};

/** What the rules for fleets need to know about a release. */
export interface FleetRelease {
  chart: ChartName;
  version: string | undefined;
  /** Where the version stands, or what lacks it. */
  offset: number;
  /** What upgrades lack to apply the definitions of agent-job. */
  lacksDefinitions?: string | false | undefined;
  /** What an engine lacks to leave the replicas to an autoscaler in the same file. */
  lacksIgnored?: string | false | undefined;
}

const EXACT = /^v?\d+\.\d+\.\d+(?:[-+].*)?$/;
export const isExact = (version: string | undefined): version is string =>
  EXACT.test(version ?? '');

const problem = (
  offset: number,
  code: string,
  message: string,
  suggestion: string,
  severity: SourceProblem['severity'] = 'error',
): SourceProblem => ({offset, severity, code, message, suggestion});

/** Problems of one release around its values. */
export function fleetProblems({
  chart,
  version,
  offset,
  lacksDefinitions,
  lacksIgnored,
}: FleetRelease): SourceProblem[] {
  const missing = {
    NO_CRD_POLICY: [
      'Upgrades do not apply new custom resource definitions of agent-job.',
      chart === 'agent-job' && lacksDefinitions,
    ],
    REPLICAS_REVERTED: ['The replicas that the autoscaler sets are reverted.', lacksIgnored],
    VERSION_RANGE: [
      `${version === undefined ? 'The release has no version' : `The version "${version}" is a range`}, so clusters can run different versions.`,
      !isExact(version) && `Set an exact version, for example ${newestOf(chart)}`,
    ],
  } as const;
  return Object.entries(missing).flatMap(([code, [message, step]]) =>
    step ? [problem(offset, code, message, step, 'warning')] : [],
  );
}

const OCI = /(?:oci:\/\/|(?<![\w/.:-]))scalr\.github\.io\/agent-helm/g;
const TOKEN = /\beyJ[\w-]+\.[\w-]+\.[\w-]+/g;

/** Problems of a whole file. */
export function fileProblems(text: string): SourceProblem[] {
  const isComment = (offset: number): boolean =>
    /^\s*(?:#|\/\/)/.test(text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset + 1));
  const tokens = [...text.matchAll(TOKEN)].filter(([token]) => tokenClaims(token) !== undefined);
  const addresses = [...text.matchAll(OCI)].filter(({index}) => !isComment(index));
  const leak = 'The file contains a token, which anyone with access to the file can use.';
  const revoke = 'Revoke the token, and refer to an existing Secret';
  const http = 'The chart repository is an HTTP repository, not an OCI registry.';
  const use = 'Use https://scalr.github.io/agent-helm/';
  return [
    ...tokens.map(({index}) => problem(index, 'TOKEN_IN_FILE', leak, revoke)),
    ...addresses.map(({index}) => problem(index, 'OCI_REPOSITORY', http, use)),
  ];
}

/** Versions whose objects have fixed names, so that a namespace can hold only one release. */
const FIXED_NAMES: Readonly<Record<ChartName, string>> = {
  'agent-k8s': '*',
  'agent-job': '<=0.5.67',
  'agent-local': '<=0.5.54',
};

/** Releases whose objects have the same names. */
export const collisions = (
  releases: readonly {
    chart: ChartName;
    version: string | undefined;
    place: string;
    offset: number;
  }[],
): SourceProblem[] =>
  releases.flatMap(({chart, version, place, offset}, index) => {
    const isFirst = !releases
      .slice(0, index)
      .some((each) => each.chart === chart && each.place === place);
    if (
      isFirst ||
      place === '' ||
      !within(version && isExact(version) ? version : newestOf(chart), FIXED_NAMES[chart])
    )
      return [];
    const message = `The file has two releases of ${chart} in one namespace, and their objects have the same names.`;
    return [problem(offset, 'SEVERAL_RELEASES', message, 'Use another namespace for one of them')];
  });
