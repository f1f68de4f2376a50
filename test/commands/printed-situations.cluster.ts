import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {directoryOf} from '../cluster/helm/charts-under-test.ts';
import {findHelmMatrix} from '../cluster/helm/find-helm.ts';
import {setLogs} from '../control-plane/logs.ts';
import {commandIn} from '../docs/commands.ts';
import {onCluster} from '../recipes/on-cluster.ts';
import {commandsIn, isFailure, type PrintedCommand} from '../support/commands-in.ts';
import {TOKEN} from '../support/install-place.ts';
import {dryRunFlags, isRefused, isWizard} from '../support/situation.ts';
import {isTried, refusal} from '../support/tried-command.ts';

type Shop = Awaited<ReturnType<typeof onCluster>>;

/** In the order of the life of a release. */
const LIFE: readonly {typed: string; env?: Readonly<Record<string, string>>}[] = [
  {typed: 'status'},
  {typed: 'upgrade --dry-run'},
  {typed: 'install --url https://acme.scalr.io --yes', env: {}},
  {typed: 'install --url https://acme.scalr.io --dry-run'},
  {typed: 'preflight --url https://acme.scalr.io'},
  {typed: 'install --url https://acme.scalr.io --yes'},
  {typed: 'install --url https://acme.scalr.io --concurrency 3 --diff'},
  {typed: 'status'},
  {typed: 'status --verbose'},
  {typed: 'status --release other'},
  {typed: 'upgrade --dry-run'},
  {typed: 'debug on --dry-run'},
  {typed: 'rotate-token --dry-run', env: {}},
  {typed: 'rotate-token --token-file token.txt --dry-run', env: {}},
  {typed: 'collect-logs --out bundle.zip'},
  {typed: 'collect-logs --out bundle.zip'},
  {typed: 'uninstall --dry-run'},
  {typed: 'uninstall --purge=secrets'},
  {typed: 'uninstall --yes'},
  {typed: 'status'},
  {typed: 'uninstall --yes'},
];

/** Why the command is not accepted where it was printed, with the environment of the user and without a terminal. */
async function problemOf(command: PrintedCommand, shop: Shop): Promise<string | undefined> {
  if (isTried(command)) return refusal(command, shop.place.kubeconfig);
  if (command.tool !== 'scalr-agent' || isWizard(command.args)) return undefined;
  const {found} = commandIn(command.args);
  if (found === undefined) return `${command.text}: unknown command`;
  const closed = command.text.replace(' --open', '');
  const line = [closed, ...dryRunFlags(command.args, found)].join(' ');
  const {stdout, stderr} = await shop.typed(line, {});
  return isRefused(stdout) ? `${line}: ${stdout}${stderr}` : undefined;
}

describe.each(await findHelmMatrix())('with Helm $major', ({path}) => {
  test('every command that is printed in the life of a release can be typed', async () => {
    const shop = await onCluster(path);
    const source = await directoryOf({chart: 'agent-local', version: '0.6.5'}, shop.folder);
    writeFileSync(join(shop.cwd, 'token.txt'), 'another\n');
    const tried = new Set<string>();
    for (const {typed, env = TOKEN} of LIFE) {
      const chart = {SCALR_AGENT_INSTALL_CHART_SOURCE: source};
      const {stdout, stderr} = await shop.typed(`scalr-agent ${typed}`, {...env, ...chart});
      const printed = commandsIn(`${stdout}\n${stderr}`).filter(
        (each) => each.args.length > 0 && !isFailure(each) && !tried.has(each.text),
      );
      for (const command of printed) {
        tried.add(command.text);
        expect.soft(await problemOf(command, shop), `after: ${typed}`).toBeUndefined();
      }
    }
    expect(tried.size).toBeGreaterThan(15);
  }, 300_000);

  test('every command that status prints about a rejected token can be typed', async () => {
    const shop = await onCluster(path);
    const source = await directoryOf({chart: 'agent-local', version: '0.6.5'}, shop.folder);
    const chart = {SCALR_AGENT_INSTALL_CHART_SOURCE: source};
    await shop.typed('scalr-agent install --url https://acme.scalr.io --yes', {...TOKEN, ...chart});
    await setLogs(
      shop.place.kubeconfig,
      {namespace: shop.place.namespace},
      {'*': {current: ['ERROR 401 Unauthorized: invalid agent token']}},
    );
    const {stdout, stderr} = await shop.typed('scalr-agent status --verbose', {});
    const printed = commandsIn(`${stdout}\n${stderr}`).filter(({args}) => args.length > 0);
    for (const command of printed) expect.soft(await problemOf(command, shop)).toBeUndefined();
  }, 120_000);
});
