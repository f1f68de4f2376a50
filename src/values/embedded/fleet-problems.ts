import type {ChartName} from '../../charts/releases/chart-name.ts';
import {newestOf} from '../../charts/releases/target.ts';
import {within} from '../../charts/releases/versions.ts';
import {tokenClaims} from '../../ground/secret.ts';
import type {SourceProblem} from '../reading/finding.ts';
import type {EmbeddedRelease} from './embedded-release.ts';

const EXACT = /^v?\d+\.\d+\.\d+(?:[-+].*)?$/;
export const isExact = (version: string | undefined): version is string =>
  EXACT.test(version ?? '');

type LocatedRelease = Pick<EmbeddedRelease, 'chart' | 'version' | 'offset' | 'place'>;

/** What the file of a release lacks: the missing step, or nothing. */
interface Lacking {
  /** To apply the definitions of agent-job with an upgrade. */
  definitions: string | false | undefined;
  /** To leave the replicas to an autoscaler in the same file. */
  ignored: string | false | undefined;
}

const warning = (offset: number, code: string, message: string, suggestion: string) =>
  ({offset, verdict: 'warning', code, message, suggestion}) as const;
const error = (offset: number, code: string, message: string, suggestion: string) =>
  ({offset, verdict: 'error', code, message, suggestion}) as const;

/** Problems of one release around its values. */
export function fleetProblems(
  {chart, version, offset}: LocatedRelease,
  {definitions, ignored}: Lacking,
): SourceProblem[] {
  const problems: SourceProblem[] = [];
  if (chart === 'agent-job' && definitions) {
    const message = 'Upgrades do not apply new custom resource definitions of agent-job.';
    problems.push(warning(offset, 'NO_CRD_POLICY', message, definitions));
  }
  if (ignored) {
    const message = 'The replicas that the autoscaler sets are reverted.';
    problems.push(warning(offset, 'REPLICAS_REVERTED', message, ignored));
  }
  if (!isExact(version)) {
    const what =
      version === undefined ? 'The release has no version' : `The version "${version}" is a range`;
    const message = `${what}, so clusters can run different versions.`;
    const suggestion = `Set an exact version, for example ${newestOf(chart)}`;
    problems.push(warning(offset, 'VERSION_RANGE', message, suggestion));
  }
  return problems;
}

const OCI = /(?:oci:\/\/|(?<![\w/.:-]))scalr\.github\.io\/agent-helm/g;
const TOKEN = /\beyJ[\w-]+\.[\w-]+\.[\w-]+/g;

/** Problems of a whole file. */
export function fileProblems(text: string): SourceProblem[] {
  const isComment = (offset: number): boolean =>
    /^\s*#/.test(text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset + 1));
  const tokens = [...text.matchAll(TOKEN)].filter(([token]) => tokenClaims(token) !== undefined);
  const addresses = [...text.matchAll(OCI)].filter(({index}) => !isComment(index));
  const leak = 'The file contains a token, which anyone with access to the file can use.';
  const revoke = 'Revoke the token, and refer to an existing Secret';
  const http = 'The chart repository is an HTTP repository, not an OCI registry.';
  const use = 'Use https://scalr.github.io/agent-helm/';
  return [
    ...tokens.map(({index}) => error(index, 'TOKEN_IN_FILE', leak, revoke)),
    ...addresses.map(({index}) => error(index, 'OCI_REPOSITORY', http, use)),
  ];
}

/** Versions whose objects have fixed names, so that a namespace can hold only one release. */
const FIXED_NAMES: Readonly<Record<ChartName, string>> = {
  'agent-k8s': '*',
  'agent-job': '<=0.5.67',
  'agent-local': '<=0.5.54',
};

const hasFixedNames = ({chart, version}: LocatedRelease): boolean =>
  within(isExact(version) ? version : newestOf(chart), FIXED_NAMES[chart]);

/** Releases whose objects have the same names as those of one before them. */
export const collisions = (releases: readonly LocatedRelease[]): SourceProblem[] =>
  releases.flatMap((release, index) => {
    const {chart, place, offset} = release;
    const isRepeated = releases
      .slice(0, index)
      .some((each) => each.chart === chart && each.place === place);
    if (!isRepeated || place === '' || !hasFixedNames(release)) return [];
    const message = `The file has two releases of ${chart} in one namespace, and their objects have the same names.`;
    return [error(offset, 'SEVERAL_RELEASES', message, 'Use another namespace for one of them')];
  });
