import type {ContainerState, Pod, Snapshot} from '../cluster/objects.ts';
import {lastWords} from './agent-log.ts';
import type {CauseRecord, Finding} from './cause.ts';
import {oneLine, unwrap} from './error-text.ts';
import {troubledPods} from './readiness.ts';
import {type ContainerView, containersOf, isContainerTroubled, troubleSince} from './snapshot-queries.ts';

interface Broken {
  pod: Pod;
  container: ContainerView;
  /** How it ended, also while it waits for its next try. */
  end: NonNullable<ContainerState['terminated']> | undefined;
  /** Everything that was said about its end. */
  words: string;
  lastLine: string | undefined;
}

/** Ten, twenty, forty seconds of back-off: what comes and goes with another pod has come by then. */
const ENOUGH_RESTARTS = 3;

function broken(snapshot: Snapshot): Broken[] {
  return troubledPods(snapshot).flatMap((pod) =>
    containersOf(pod)
      .filter(isContainerTroubled)
      .map((container) => {
        const {state, lastState, name} = container;
        const end = state?.terminated ?? lastState?.terminated;
        const lastLine = lastWords(snapshot.logs[`${pod.metadata.name}/${name}`]);
        const words = [state?.waiting?.message, end?.message, lastLine].filter((each) => each !== undefined).join(' ');
        return {pod, container, end, words, lastLine};
      }),
  );
}

const isRestartedEnough = ({restartCount = 0}: ContainerView): true | undefined => (restartCount >= ENOUGH_RESTARTS ? true : undefined);

const startFailure = (code: string, hopelessAfter: number, words: RegExp, remedy: string): CauseRecord => ({
  code,
  hopelessAfter,
  remedy,
  test: (snapshot) =>
    broken(snapshot)
      .filter((each) => words.test(each.words))
      .map(({pod, container: {name, state}, end, lastLine}) => {
        const said = [state?.waiting?.message, end?.message, lastLine].find((each) => each && words.test(each)) ?? '';
        return {object: pod, reason: oneLine(`container ${name} did not start: ${shortened(said)}`), since: troubleSince(pod)};
      }),
});

/** Runtimes tell all their layers; the innermost knows. */
const shortened = (words: string): string => /(exec:? "[^"]*":.*|exec \S+: exec format error)/.exec(words)?.[0] ?? unwrap(words);

function oomFinding({pod, container}: Broken): Finding {
  const limit = container.spec?.resources?.limits?.['memory'];
  const bound = limit === undefined ? '' : `, its limit is ${limit}`;
  return {
    object: pod,
    reason: `OOMKilled: container ${container.name} wanted more memory than it may have${bound}`,
    since: troubleSince(pod),
    isHopeless: isRestartedEnough(container),
  };
}

const crashFinding = ({pod, container, end, lastLine}: Broken): Finding => ({
  object: pod,
  reason: oneLine(
    `CrashLoopBackOff: container ${container.name} ended with exit code ${end?.exitCode ?? '?'}${lastLine ? `: ${lastLine}` : ''}`,
  ),
  since: troubleSince(pod),
  isHopeless: isRestartedEnough(container),
});

export const containerCauses: readonly CauseRecord[] = [
  // Neither the image nor the version of the cluster changes by waiting.
  startFailure(
    'WRONG_ARCHITECTURE',
    0,
    /exec format error/,
    'The image is built for another architecture than the node has: choose nodes with --node-selector kubernetes.io/arch=amd64, or another image',
  ),
  startFailure(
    'IMAGE_VOLUMES_UNSUPPORTED',
    0,
    /exec-loop.*no such file/,
    'This chart mounts images as volumes, which needs Kubernetes 1.35: upgrade the cluster, or use an older chart version (--chart-version)',
  ),
  startFailure(
    'COMMAND_NOT_FOUND',
    30,
    /executable file not found|exec: .*no such file/,
    'The image lacks the program: check --agent-image',
  ),
  {
    code: 'OOM_KILLED',
    remedy: 'Raise the memory limit of the container',
    test: (snapshot) =>
      broken(snapshot)
        .filter(({end}) => end?.reason === 'OOMKilled')
        .map(oomFinding),
  },
  {
    code: 'START_FAILED',
    hopelessAfter: 60,
    remedy: 'Correct what the runtime refuses',
    test: (snapshot) =>
      broken(snapshot)
        .filter(
          ({container: {state}, end}) =>
            state?.waiting?.reason === 'RunContainerError' || /StartError|ContainerCannotRun/.test(end?.reason ?? ''),
        )
        .map(({pod, container: {name}, words}) => ({
          object: pod,
          reason: oneLine(`container ${name} did not start: ${shortened(words)}`),
          since: troubleSince(pod),
        })),
  },
  {
    code: 'CRASH_LOOP',
    remedy: 'Read the whole log with kubectl logs --previous, and mend what it says',
    test: (snapshot) =>
      broken(snapshot)
        .filter(({pod, container: {state}, end}) => {
          const isBetweenTries = state?.waiting?.reason === 'CrashLoopBackOff';
          return pod.status?.phase !== 'Failed' && (isBetweenTries || (end?.exitCode ?? 0) !== 0);
        })
        .map(crashFinding),
  },
];
