import {expect, test} from 'vitest';
import {workplace} from '../control-plane/workplace.ts';
import {isFailure} from '../support/commands-in.ts';
import {DOCS, HELPED, OUTPUTS, printedIn, VERBS} from '../support/printed-commands.ts';
import {isTried, refusal} from '../support/tried-command.ts';

/** Only OpenShift has the kind. */
const isOfTool = ({tool, text}: {tool: string; text: string}): boolean =>
  isTried({tool}) && VERBS.test(text) && !text.includes('securitycontextconstraints');

test('kubectl and helm take every printed command', async () => {
  const {kubeconfig} = await workplace();
  // In the docs a name without flags is a mention.
  const printed = [...printedIn(OUTPUTS), ...printedIn(DOCS).filter(({text}) => / -/.test(text))];
  const commands = new Map(
    printed.filter((each) => isOfTool(each) && !isFailure(each)).map((each) => [each.text, each]),
  );
  expect(commands.size).toBeGreaterThan(30);
  for (const command of commands.values())
    expect.soft(await refusal(command, kubeconfig)).toBeUndefined();
});

test('kubectl and helm know every flag that the source gives to a printed command', async () => {
  const {kubeconfig} = await workplace();
  for (const [, {tool, args}] of HELPED) {
    const given = [...args.map((each) => each.replaceAll('X', '1')), '--help'];
    expect
      .soft(await refusal({text: [tool, ...given].join(' '), tool, args: given}, kubeconfig))
      .toBeUndefined();
  }
});

test.each([
  ['kubectl', ['describe', 'pod', 'a', '--name-space', 'b']],
  ['kubectl', ['create', 'rolebinding', 'a', '--cluster-role=view', '--dry-run=client']],
  ['kubectl', ['get', 'podz', '--namespace', 'b']],
  ['helm', ['history']],
])('a mistake is seen: %s %j', async (tool, args) => {
  const {kubeconfig} = await workplace();
  expect(await refusal({text: [tool, ...args].join(' '), tool, args}, kubeconfig)).toBeDefined();
});
