import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {execa} from 'execa';
import {describe, expect, test} from 'vitest';
import {directoryOf} from '../cluster/helm/charts-under-test.ts';
import {findHelmMatrix} from '../cluster/helm/find-helm.ts';
import {root} from '../docs/commands.ts';
import {TOKEN} from '../support/install-place.ts';
import {onCluster} from './on-cluster.ts';
import {fileOf, linesOf, recipe} from './recipe.ts';

const ci = recipe('docs/guide/ci.md');
const symptomsTable = readFileSync(join(root, 'docs/guide/symptoms.md'), 'utf8');
const airGapped = recipe('docs/guide/air-gapped.md');

describe.each(await findHelmMatrix())('with Helm $major', ({path}) => {
  test('a pipeline installs, verifies, changes nothing the second time, and detects manual changes', async () => {
    const {write, typed, place, folder} = await onCluster(path);
    const chart = {
      SCALR_AGENT_INSTALL_CHART_SOURCE: await directoryOf(
        {chart: 'agent-local', version: '0.6.5'},
        folder,
      ),
    };
    const [deploy = '', diff = ''] = linesOf(ci, 'Deploy');
    write('answers.yaml', fileOf(ci, 'Answers file'));
    expect(
      await typed('scalr-agent values --answers answers.yaml --out values.yaml --yes', chart),
    ).toMatchObject({exitCode: 0});

    expect((await typed(diff, {...TOKEN, ...chart})).exitCode).toBe(5);
    const first = await typed(deploy, {...TOKEN, ...chart});
    expect(first, first.stdout + first.stderr).toMatchObject({exitCode: 0});
    expect(first.stdout + first.stderr).not.toContain('hunter2');
    expect((await typed(deploy, chart)).exitCode).toBe(0);
    expect((await typed(diff, chart)).exitCode).toBe(0);

    const source = chart.SCALR_AGENT_INSTALL_CHART_SOURCE;
    await typed(
      `helm upgrade scalr-agent '${source}' --namespace ${place.namespace} --reuse-values --set replicaCount=1`,
    );
    expect((await typed('scalr-agent status --values values.yaml --exit-code')).exitCode).toBe(5);
  }, 180_000);

  test('a pipeline without a token changes nothing and reports the missing setting', async () => {
    const {write, typed, place, folder} = await onCluster(path);
    const chart = {
      SCALR_AGENT_INSTALL_CHART_SOURCE: await directoryOf(
        {chart: 'agent-local', version: '0.6.5'},
        folder,
      ),
    };
    write('answers.yaml', fileOf(ci, 'Answers file'));
    const [deploy = ''] = linesOf(ci, 'Deploy');
    const {exitCode, stderr, stdout} = await typed(deploy, chart);
    expect({exitCode, said: stdout + stderr}).toEqual({
      exitCode: 3,
      said: expect.stringContaining('SCALR_AGENT_TOKEN'),
    });
    expect(await place.kubectl('get', 'deployments,secrets', '--output', 'name')).toBe('');
  });

  test('the first commands of the guide work on a cluster, in the order of a first day', async () => {
    const {typed, folder} = await onCluster(path);
    const chart = {
      SCALR_AGENT_INSTALL_CHART_SOURCE: await directoryOf(
        {chart: 'agent-local', version: '0.6.5'},
        folder,
      ),
    };
    const guide = recipe('docs/guide/getting-started.md');
    const [preflight = '', dryRun = '', install = ''] = linesOf(guide, '3. Install an agent');
    const [status = ''] = linesOf(guide, '5. Queue a run');
    const first = (page: string): string => linesOf(recipe(`docs/guide/${page}.md`), '')[0] ?? '';
    const pages = ['install-and-upgrade', 'troubleshoot', 'support-bundle'].map(first);
    for (const text of [preflight, dryRun, install, status, ...pages]) {
      const {exitCode, stdout, stderr} = await typed(text, {...TOKEN, ...chart});
      expect(exitCode, `${text}${stdout}${stderr}`).toBe(0);
    }
  }, 180_000);

  test('a remedy of the symptoms page changes one setting and keeps the others', async () => {
    const {typed, folder} = await onCluster(path);
    const chart = {
      SCALR_AGENT_INSTALL_CHART_SOURCE: await directoryOf(
        {chart: 'agent-local', version: '0.6.5'},
        folder,
      ),
    };
    await typed('scalr-agent install --url https://acme.scalr.io --concurrency 2 --yes', {
      ...TOKEN,
      ...chart,
    });
    const [remedy = ''] = linesOf(recipe('docs/guide/symptoms.md'), 'Apply a remedy');
    const shown = await typed(remedy, chart);
    expect(shown, shown.stderr).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('4Gi'),
    });
    expect((await typed(remedy.replace('--diff', '--yes'), chart)).exitCode).toBe(0);
    const values = await typed('helm get values scalr-agent --namespace scalr-agent --output json');
    expect(JSON.parse(values.stdout)).toMatchObject({
      replicaCount: 2,
      resources: {limits: {memory: expect.stringMatching(/^4(Gi|096Mi)$/)}},
    });
  }, 180_000);

  test('the runbook for a rejected token needs no token of a Scalr user', async () => {
    const {typed, folder, write, place} = await onCluster(path);
    const chart = {
      SCALR_AGENT_INSTALL_CHART_SOURCE: await directoryOf(
        {chart: 'agent-local', version: '0.6.5'},
        folder,
      ),
    };
    await typed('scalr-agent install --url https://acme.scalr.io --yes', {...TOKEN, ...chart});
    write('token.txt', 'another\n');
    write('answers.yaml', 'url: https://acme.scalr.io\n');
    const symptoms = recipe('docs/guide/symptoms.md');
    const [rotation = ''] = linesOf(symptoms, '401');
    const shown = await typed(rotation, chart);
    expect(shown, shown.stderr).toMatchObject({exitCode: 0});
    const done = await typed(rotation.replace('--dry-run', '--yes'), chart);
    expect(done, done.stderr).toMatchObject({exitCode: 0});
    const secret = await place.kubectl('get', 'secret', 'scalr-agent-token', '--output', 'json');
    expect(Buffer.from(JSON.parse(secret).data.token, 'base64').toString()).toBe('another');
    const first = [...symptomsTable.matchAll(/\| `(scalr-agent [^`]+)` \|/g)]
      .map(([, command = '']) => command)
      .map((each) => (each.includes('--probe') ? `${each} --dry-run` : each));
    expect(first.length).toBeGreaterThan(8);
    for (const command of new Set(first)) {
      const {exitCode, stdout, stderr} = await typed(command, chart);
      // The pool is in the account, which this place has no token for.
      if (command.startsWith('scalr-agent pool '))
        expect(stderr).toContain('No Scalr API token found');
      else expect(exitCode, `${command}${stdout}${stderr}`).not.toBe(2);
    }
  }, 180_000);

  test.each([
    'Install with scalr-agent',
    'Install with Helm only',
  ])('installs from copied chart and images: %s', async (heading) => {
    const {cwd, write, typed, place, folder, bin} = await onCluster(path);
    const directory = await directoryOf({chart: 'agent-job', version: '0.6.5'}, folder);
    await execa(join(bin, 'helm'), ['package', directory, '--destination', cwd]);
    write('answers.yaml', fileOf(airGapped, 'Connected machine'));
    const [, , values = ''] = linesOf(airGapped, 'Air-gapped machine');
    for (const text of [values, linesOf(airGapped, heading).join('')]) {
      const {exitCode, stderr} = await typed(text);
      expect(exitCode, stderr).toBe(0);
    }
    const images = await place.kubectl('get', 'deployments', '--output', 'jsonpath={..image}');
    expect(images).toMatch(/^registry\.example\.com\/mirror\/scalr\/agent:/);
    const {exitCode, stdout} = await typed('scalr-agent status --namespace scalr-agent');
    expect(exitCode, stdout).toBe(0);
  });
});
