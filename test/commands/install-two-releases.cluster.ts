import {describe, expect, test} from 'vitest';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import {findHelm} from '../cluster/helm/find-helm.ts';
import type {Workplace} from '../control-plane/workplace.ts';
import {installPlace, stepFlags, TOKEN} from '../support/install-place.ts';
import {install} from '../support/run-on-cluster.ts';

/** Each major with another chart: it is the charts that share or do not. */
const SHARING: Readonly<Record<3 | 4, ChartName>> = {3: 'agent-local', 4: 'agent-job'};
/** In the small charts only the NetworkPolicy has a fixed name. */
const FIXED = ['--metadata-service', 'block'];

describe.each(await findHelm())('two releases in one namespace, Helm $major', ({
  path: helm,
  major,
}) => {
  const release = async (
    place: Workplace,
    chart: ChartName,
    name: string,
    more: readonly string[] = [],
  ) => {
    const argv = [...(await stepFlags(chart)), '--release', name, '--yes', '--json', ...more];
    const {stdout} = await install(place, helm, argv, {env: TOKEN});
    return JSON.parse(stdout);
  };

  test(`keep their own objects when ${SHARING[major]} is installed twice`, async () => {
    const chart = SHARING[major];
    const place = await installPlace();
    const uids = (): Promise<string> =>
      place.kubectl(
        'get',
        'deployments,secrets',
        '--output',
        'jsonpath={range .items[*]}{.metadata.name} {.metadata.uid} {.metadata.generation}\n{end}',
      );
    expect(await release(place, chart, 'one')).toMatchObject({changed: true, agent: 'registered'});
    const alone = await uids();
    expect(await release(place, chart, 'two')).toMatchObject({changed: true, agent: 'registered'});
    for (const name of ['one', 'two'])
      expect(await release(place, chart, name)).toMatchObject({
        changed: false,
        agent: 'registered',
      });
    expect(await release(place, chart, 'two', ['--extra-env', 'TEAM=a'])).toMatchObject({
      changed: true,
      agent: 'registered',
    });
    for (const line of alone.trim().split('\n')) expect(await uids()).toContain(line);
    expect(await release(place, chart, 'one')).toMatchObject({changed: false});
  });

  test('refuse the second agent-k8s and leave the first one unchanged', async () => {
    const place = await installPlace();
    const one = await release(place, 'agent-k8s', 'one', FIXED);
    expect(one, JSON.stringify(one)).toMatchObject({changed: true, agent: 'registered'});
    const {error} = await release(place, 'agent-k8s', 'two', FIXED);
    expect(error).toMatchObject({
      code: 'OBJECT_NOT_OWNED',
      exit: 2,
      message: expect.stringMatching(/"agent-k8s-[\w-]+"/),
    });
    expect(error.suggestions.join()).toContain('one release per namespace');
    expect(await release(place, 'agent-k8s', 'one', FIXED)).toMatchObject({
      changed: false,
      agent: 'registered',
    });
    expect(await place.kubectl('get', 'deployments,daemonsets', '--output', 'name')).not.toContain(
      'two',
    );
  });
});
