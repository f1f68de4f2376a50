import type {ChartName} from '../../charts/releases/chart-name.ts';
import {newestOf} from '../../charts/releases/target.ts';
import {within} from '../../charts/releases/versions.ts';
import {type KeyFinding, remediesOf, type Verdict} from '../../ground/finding.ts';
import {tokenClaims} from '../../ground/secret.ts';
import type {SourcePosition} from '../reading/finding.ts';
import {LEAK} from '../rules/check-clear-text.ts';
import type {EngineRelease} from './engines.ts';
import type {ReleaseChart} from './read-release.ts';
import {isExact} from './release-version.ts';

/** A release of ours, and where its version stands in the file. */
export interface LocatedRelease extends ReleaseChart, SourcePosition {
  place: string;
}

const warning = (release: SourcePosition, code: string, message: string, suggestion: string) =>
  problemAt(release, {verdict: 'warning', code, message, suggestion});

interface ProblemAround {
  verdict: Verdict;
  code: string;
  message: string;
  suggestion: string;
}

const problemAt = (
  {line, column}: SourcePosition,
  {suggestion, ...problem}: ProblemAround,
): KeyFinding => ({
  ...problem,
  subject: {path: '', line, column},
  remedies: remediesOf(suggestion),
});

/** Problems of one release around its values. */
export function fleetProblems(
  located: LocatedRelease,
  {lacksDefinitions, lacksIgnored}: Pick<EngineRelease, 'lacksDefinitions' | 'lacksIgnored'>,
  isScaled: boolean,
): KeyFinding[] {
  const problems: KeyFinding[] = [];
  const {chart, written, version, unknown} = located;
  if (chart === 'agent-job' && lacksDefinitions) {
    const message = 'Upgrades do not apply new custom resource definitions of agent-job.';
    problems.push(warning(located, 'NO_CRD_POLICY', message, lacksDefinitions));
  }
  if (isScaled && lacksIgnored) {
    const message = 'The replicas that the autoscaler sets are reverted.';
    problems.push(warning(located, 'REPLICAS_REVERTED', message, lacksIgnored));
  }
  // What the engine fills in, or takes from Git, is no range.
  if (!isExact(written) && !written?.includes('{') && unknown === undefined) {
    const what =
      written === undefined ? 'The release has no version' : `The version "${written}" is a range`;
    const message = `${what}, so clusters can run different versions.`;
    const suggestion = `Set an exact version, for example ${version}`;
    problems.push(warning(located, 'VERSION_RANGE', message, suggestion));
  }
  return problems;
}

const OCI = /(?:oci:\/\/|(?<![\w/.:-]))scalr\.github\.io\/agent-helm/g;
const TOKEN = /\beyJ[\w-]+\.[\w-]+\.[\w-]+/g;

/** Problems of a whole file. */
export function fileProblems(text: string): KeyFinding[] {
  const error = (offset: number, code: string, message: string, suggestion: string) =>
    problemAt(positionIn(text, offset), {verdict: 'error', code, message, suggestion});
  const isComment = (offset: number): boolean =>
    /^\s*#/.test(text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset + 1));
  const tokens = [...text.matchAll(TOKEN)].filter(([token]) => tokenClaims(token) !== undefined);
  const addresses = [...text.matchAll(OCI)].filter(({index}) => !isComment(index));
  const http = 'The chart repository is an HTTP repository, not an OCI registry.';
  const use = 'Use https://scalr.github.io/agent-helm/';
  return [
    ...tokens.map(({index}) => error(index, LEAK.code, LEAK.message, LEAK.suggestion)),
    ...addresses.map(({index}) => error(index, 'OCI_REPOSITORY', http, use)),
  ];
}

function positionIn(text: string, offset: number): SourcePosition {
  const before = text.slice(0, offset);
  return {line: before.split('\n').length, column: offset - before.lastIndexOf('\n')};
}

/** Versions whose objects have fixed names, so that a namespace can hold only one release. */
const FIXED_NAMES: Readonly<Record<ChartName, string>> = {
  'agent-k8s': '*',
  'agent-job': '<=0.5.67',
  'agent-local': '<=0.5.54',
};

const hasFixedNames = ({chart, version}: LocatedRelease): boolean =>
  within(version ?? newestOf(chart), FIXED_NAMES[chart]);

/** A release whose objects have the same names as those of one before it. */
export function collision(
  release: LocatedRelease,
  before: readonly LocatedRelease[],
): KeyFinding[] {
  const {chart, place} = release;
  const isRepeated = before.some((each) => each.chart === chart && each.place === place);
  if (!isRepeated || place === '' || !hasFixedNames(release)) return [];
  return [
    problemAt(release, {
      verdict: 'error',
      code: 'SEVERAL_RELEASES',
      message: `The file has two releases of ${chart} in one namespace, and their objects have the same names.`,
      suggestion: 'Use another namespace for one of them',
    }),
  ];
}
