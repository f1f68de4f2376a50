import {readdirSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {directoryOf} from '../cluster/helm/charts-under-test.ts';
import {onCluster} from '../recipes/on-cluster.ts';
import {linesOf, recipe} from '../recipes/recipe.ts';
import {certificates} from '../support/certificates.ts';
import {TOKEN} from '../support/install-place.ts';
import {root} from './commands.ts';

/** Commands without a cluster (guide.test.ts), and those with tests of their own: of pipelines, account, machines, test pods and the wizard. */
const TESTED_ELSEWHERE =
  /^scalr-agent (values|validate|schema|recommend|images|export|migrate|pool|network)\b|--(answers|values|pool|target|probe|accessible)\b|rotate-token --(dry-run|yes)|install$|uninstall --yes|--chart-version 0\.7\.0/;

const lines = ['docs/guide', 'docs'].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((page) => page.endsWith('.md'))
    .flatMap((page) => {
      const sections = recipe(`${folder}/${page}`);
      return [...sections.keys()].flatMap((heading) =>
        linesOf(sections, heading).flatMap((text) => text.trim().split('\n')),
      );
    }),
);
/** Other tests change the CRDs of agent-job and the labels of nodes at the same time. */
const DEPENDS_ON_OTHERS = /agent-job|--node-selector/;
const commands = [...new Set(lines)].filter(
  (line) =>
    line.startsWith('scalr-agent ') &&
    !TESTED_ELSEWHERE.test(line) &&
    !DEPENDS_ON_OTHERS.test(line),
);
const [currentValues = ''] = lines.filter((line) => line.startsWith('helm get values '));

test('the commands of the guides work with an installed agent', {timeout: 180_000}, async () => {
  const {write, typed, folder} = await onCluster();
  const source = await directoryOf({chart: 'agent-local', version: '0.6.5'}, folder);
  const exitOf = async (line: string, token?: typeof TOKEN) => {
    const env = {...token, SCALR_AGENT_INSTALL_CHART_SOURCE: source};
    const {exitCode, stdout, stderr} = await typed(line, env);
    return {exitCode, printed: exitCode === 0 ? '' : stdout + stderr};
  };
  write('company-ca.pem', String(certificates['ca.pem']));
  write('token.txt', TOKEN.SCALR_AGENT_TOKEN);
  for (const line of ['scalr-agent install --url https://acme.scalr.io --yes', currentValues])
    expect(await exitOf(line, TOKEN)).toMatchObject({exitCode: 0});
  for (const line of commands) expect(await exitOf(line), line).toMatchObject({exitCode: 0});
  expect(commands.length).toBeGreaterThan(15);
});
