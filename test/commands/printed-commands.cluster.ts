import {execa} from 'execa';
import {expect, test} from 'vitest';
import {findKubectl} from '../cluster/kubectl.ts';
import {workplace} from '../cluster/workplace.ts';
import {findHelm} from '../helm/find-helm.ts';
import {DOCS, HELPED, isFailure, OUTPUTS, printedIn, VERBS} from '../support/printed-commands.ts';

const [{path: helm} = {path: 'helm'}] = await findHelm();
const TOOLS: Readonly<Record<string, string>> = {kubectl: await findKubectl(), helm};

/** Of these the flags are checked; they would wait, ask the internet or make a pod. */
const FLAGS_ONLY = /^(?:kubectl (?:debug|edit|wait)|helm (?:pull|show|template|upgrade))\b/;
const CHANGES = /^(?:kubectl (?:annotate|apply|create|delete|label|patch|run|scale|uncordon)|helm (?:rollback|uninstall))\b/;
/** What kubectl and helm say of a command line that they do not take. */
const USAGE =
  /unknown (?:command|flag|shorthand)|invalid argument|flag needs|required flag|doesn't have a resource type|(?:accepts|requires) (?:at least )?\d|must (?:specify|be)|exactly one|is required|couldn't parse|unable to parse/i;

function withoutEffect(text: string, tool: string, args: readonly string[]): readonly string[] {
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const insert = (flag: string): string[] => [...args.slice(0, end), flag, ...args.slice(end)];
  if (FLAGS_ONLY.test(text)) return insert('--help');
  return CHANGES.test(text) ? insert(tool === 'helm' ? '--dry-run' : '--dry-run=client') : args;
}

/** Why the tool does not take the command; what the cluster says to it is another matter. */
async function refusal(text: string, tool: string, args: readonly string[], kubeconfig: string): Promise<string | undefined> {
  const {stderr} = await execa(TOOLS[tool] as string, withoutEffect(text, tool, args), {
    env: {KUBECONFIG: kubeconfig},
    input: '',
    reject: false,
    timeout: 20_000,
  });
  return USAGE.exec(stderr) ? `${text}: ${stderr.trim()}` : undefined;
}

/** Only OpenShift has the kind. */
const isOfTool = ({tool, text}: {tool: string; text: string}): boolean =>
  tool in TOOLS && VERBS.test(text) && !text.includes('securitycontextconstraints');

test('kubectl and helm take every printed command', async () => {
  const {kubeconfig} = await workplace();
  // In the docs a name without flags is a mention.
  const printed = [...printedIn(OUTPUTS), ...printedIn(DOCS).filter(({text}) => / -/.test(text))];
  const commands = new Map(printed.filter((each) => isOfTool(each) && !isFailure(each)).map((each) => [each.text, each]));
  expect(commands.size).toBeGreaterThan(30);
  for (const {text, tool, args} of commands.values()) expect.soft(await refusal(text, tool, args, kubeconfig)).toBeUndefined();
});

test('kubectl and helm know every flag that the source gives to a printed command', async () => {
  const {kubeconfig} = await workplace();
  for (const [, {tool, args}] of HELPED) {
    const {stderr} = await execa(TOOLS[tool] as string, [...args.map((each) => each.replaceAll('X', '1')), '--help'], {
      env: {KUBECONFIG: kubeconfig},
      reject: false,
    });
    expect.soft(stderr, args.join(' ')).not.toMatch(USAGE);
  }
});

test.each([
  ['kubectl', ['describe', 'pod', 'a', '--name-space', 'b']],
  ['kubectl', ['create', 'rolebinding', 'a', '--cluster-role=view', '--dry-run=client']],
  ['kubectl', ['get', 'podz', '--namespace', 'b']],
  ['helm', ['history']],
])('a mistake is seen: %s %j', async (tool, args) => {
  const {kubeconfig} = await workplace();
  expect(await refusal([tool, ...args].join(' '), tool, args, kubeconfig)).toBeDefined();
});
