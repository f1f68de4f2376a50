import {cpSync, readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {execa} from 'execa';
import {expect, test} from 'vitest';
import {root} from '../docs/commands.ts';
import {chartRepository} from './chart-repository.ts';
import {fileOf, linesOf, recipe, type} from './recipe.ts';
import {workshop} from './workshop.ts';

const page = recipe('docs/guide/air-gapped.md');
const UPSTREAM = 'https://scalr.github.io/agent-helm/';
const [fetch = '', list = '', save = ''] = linesOf(page, 'Connected machine');
const [unpack = '', push = '', write = ''] = linesOf(page, 'Air-gapped machine');

/** A shell without any network, not even to this machine. */
const ALONE = ['unshare', '--map-root-user', '--net'];
const canBeAlone =
  (await execa('unshare', ['--map-root-user', '--net', 'true'], {reject: false})).exitCode === 0;

/** Stands in for skopeo, which needs the registries. */
const SKOPEO = {skopeo: 'echo "$@" >> skopeo.log'};
const logOf = (cwd: string): string[] =>
  readFileSync(join(cwd, 'skopeo.log'), 'utf8').trim().split('\n');

test('the copied files are sufficient, and no step uses a network', async () => {
  const outside = await workshop(SKOPEO);
  const repository = await chartRepository(
    join(outside.bin, 'helm'),
    {chart: 'agent-job', version: '0.6.5'},
    outside.folder,
  );
  outside.write('answers.yaml', fileOf(page, 'Connected machine'));
  // The charts of upstream are another's.
  const here = fetch.replace(UPSTREAM, repository);
  expect(here).not.toBe(fetch);
  // The build is older than this test.
  const checkout = {CHECKOUT: root, npm_config_ignore_scripts: 'true'};
  const path = `${join(outside.env.npm_config_prefix, 'bin')}:${outside.env.PATH}`;
  for (const text of [here, list, save])
    expect(
      await type(text, {...outside, env: {...outside.env, ...checkout, PATH: path}}),
    ).toMatchObject({
      exitCode: 0,
    });
  const saved = logOf(outside.cwd).map((line) =>
    /^copy --all docker:\/\/docker\.io\/(\S+) oci:\.\/images:(\S+)$/.exec(line)?.slice(1),
  );
  expect(saved.length).toBeGreaterThan(1);
  expect(saved).toEqual(saved.map((found) => [found?.[1], found?.[1]]));

  const inside = await workshop(SKOPEO);
  for (const file of readdirSync(outside.cwd).filter((name) =>
    /\.tgz$|^answers\.yaml$|^images\.sh$/.test(name),
  )) {
    cpSync(join(outside.cwd, file), join(inside.cwd, file));
  }
  const alone = {
    cwd: inside.cwd,
    env: {...inside.env, PATH: `${join(inside.env.npm_config_prefix, 'bin')}:${inside.env.PATH}`},
    under: canBeAlone ? ALONE : [],
  };
  const {exitCode: reached} = await type(
    `node -e "fetch('${repository}').catch(() => process.exit(7))"`,
    alone,
  );
  expect(reached).toBe(canBeAlone ? 7 : 0);
  for (const text of [unpack, push, write])
    expect(await type(text, alone)).toMatchObject({exitCode: 0});

  const rendered = await type(
    'helm template scalr-agent ./agent-job-0.6.5.tgz --values values.yaml --kube-version 1.35.0',
    alone,
  );
  const used = [...rendered.stdout.matchAll(/^[- ]*(?:image|reference): *"?([^" \n]+)/gm)].map(
    ([, image = '']) => image,
  );
  const mirrored = new Set(logOf(inside.cwd).map((line) => line.split('docker://')[1]));
  expect(used.length).toBeGreaterThan(saved.length);
  expect(used.filter((image) => !mirrored.has(image))).toEqual([]);
});
