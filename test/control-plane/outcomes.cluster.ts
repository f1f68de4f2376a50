import {describe, expect, test} from 'vitest';
import {pod} from './objects.ts';
import {workplace} from './workplace.ts';

const INIT = {initContainers: ['first', 'second'].map((name) => ({name, image: 'busybox'}))};

/** Outcome of a pod with this annotation, and the message of its event. */
const OUTCOMES: Readonly<Record<string, {status: object; event: string; spec?: object}>> = {
  'image-pull-backoff': {
    status: {
      phase: 'Pending',
      containerStatuses: [
        {ready: false, restartCount: 0, state: {waiting: {reason: 'ImagePullBackOff'}}},
      ],
    },
    event: 'Failed',
  },
  'crash-loop': {
    status: {
      phase: 'Running',
      containerStatuses: [
        {
          restartCount: 3,
          state: {waiting: {reason: 'CrashLoopBackOff'}},
          lastState: {terminated: {exitCode: 1, reason: 'Error'}},
        },
      ],
    },
    event: 'BackOff',
  },
  'oom-killed': {
    status: {
      phase: 'Running',
      containerStatuses: [
        {
          restartCount: 3,
          state: {waiting: {reason: 'CrashLoopBackOff'}},
          lastState: {terminated: {exitCode: 137, reason: 'OOMKilled'}},
        },
      ],
    },
    event: 'BackOff',
  },
  'config-error': {
    status: {
      phase: 'Pending',
      containerStatuses: [
        {
          state: {
            waiting: {
              reason: 'CreateContainerConfigError',
              message: 'secret "test-missing" not found',
            },
          },
        },
      ],
    },
    event: 'Failed',
  },
  'init-stuck': {
    spec: INIT,
    status: {
      phase: 'Pending',
      initContainerStatuses: [
        {name: 'first', state: {running: {}}},
        {name: 'second', state: {waiting: {reason: 'PodInitializing'}}},
      ],
      containerStatuses: [{state: {waiting: {reason: 'PodInitializing'}}}],
    },
    event: 'Started',
  },
  unready: {
    status: {
      phase: 'Running',
      containerStatuses: [{ready: false, started: true, state: {running: {}}}],
    },
    event: 'Unhealthy',
  },
  evicted: {
    status: {
      phase: 'Failed',
      reason: 'Evicted',
      containerStatuses: [{state: {terminated: {exitCode: 137}}}],
    },
    event: 'Evicted',
  },
};

describe('a pod whose annotation says so', () => {
  test.concurrent.for(Object.entries(OUTCOMES))('is %s and stays it', async ([
    outcome,
    {status, event, spec = {}},
  ], {expect}) => {
    const {kubectl} = await workplace();
    await kubectl.apply(pod('agent', {outcome, spec}));
    await expect.poll(() => kubectl.get('pod', 'agent'), {interval: 300}).toMatchObject({status});
    const before = await kubectl.get('pod', 'agent');
    await new Promise((resolve) => setTimeout(resolve, 3000));
    expect(await kubectl.get('pod', 'agent')).toEqual(before);
    expect(
      await kubectl('get', 'events', '--field-selector', 'involvedObject.name=agent'),
    ).toContain(event);
    await kubectl('delete', 'pod', 'agent', '--timeout=10s');
  });

  test('can be told so while it runs', async () => {
    const {kubectl} = await workplace();
    await kubectl.apply(pod('agent'));
    await kubectl('wait', 'pod/agent', '--for=condition=Ready', '--timeout=10s');
    await kubectl('annotate', 'pod/agent', 'test.scalr.io/outcome=crash-loop');
    await kubectl('wait', 'pod/agent', '--for=condition=Ready=false', '--timeout=10s');
    expect(await kubectl('get', 'pod', 'agent')).toContain('CrashLoopBackOff');
  });
});
