import type {ChartRequirements} from '../charts/recommend.ts';
import type {InstallFacts} from '../cluster/install-facts.ts';
import {ExpectedError} from '../errors.ts';
import type {WantedRelease} from '../plan/install.ts';
import type {Plan} from '../plan/step.ts';
import type {Choice} from '../ports/prompter.ts';
import type {Checked} from '../preflight/check.ts';
import type {Setting} from '../settings/define.ts';
import type {Answer} from '../settings/settings.ts';
import {errorText, warningText} from '../ui/messages.ts';
import {decidedText, elsewhereText, preparedText, sameAgainText} from '../ui/review.ts';
import {type Generated, generate} from '../values/generate.ts';
import {confirmed} from './confirmed.ts';
import {edit} from './edit.ts';
import type {InterviewWorld} from './interview.ts';
import type {Knowledge} from './knowledge.ts';

/** What an install would do, and what speaks against it. */
export interface Prepared {
  plan: Plan;
  facts: InstallFacts;
  warnings: readonly Checked[];
}

export interface ReviewWorld extends InterviewWorld {
  /** Flags that say which cluster, for the printed command. */
  where: readonly string[];
  wanted(generated: Generated): Omit<WantedRelease, 'manifest'>;
  /** Looks at the cluster; changes nothing. @throws ExpectedError where an install is not possible */
  prepare(generated: Generated): Promise<Prepared>;
  /** Returns the paths of what was written. @throws ExpectedError */
  save(directory: string, generated: Generated): Promise<readonly string[]>;
}

type Action = 'install' | 'change' | 'save' | 'print' | 'leave';

/** What is to be installed, with the plan that was shown; undefined where the operator leaves. */
export type Decision = {generated: Generated; plan: Plan} | undefined;

/** Shows everything that was decided and does what the operator wants, until that is to install or to leave. */
export async function review(
  known: Knowledge,
  facts: ChartRequirements,
  askAgain: () => Promise<void>,
  world: ReviewWorld,
): Promise<Decision> {
  for (;;) {
    const generated = tryGenerate(known, facts, world);
    const prepared = generated && (await tryPrepare(generated, known, world));
    const decision = await actOn(generated, prepared, known, world);
    if (decision === 'change') {
      await edit(known, world);
      await askAgain();
    } else return decision;
  }
}

function tryGenerate(known: Knowledge, facts: ChartRequirements, {screen, say}: ReviewWorld): Generated | undefined {
  try {
    const generated = generate(confirmed(known), facts);
    if (generated.warnings.length > 0) say('\n');
    for (const warning of generated.warnings) say(warningText(warning, screen));
    return generated;
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    say(`\n${errorText(error, screen)}`);
    return undefined;
  }
}

async function tryPrepare(generated: Generated, known: Knowledge, world: ReviewWorld): Promise<Prepared | undefined> {
  const {screen, say} = world;
  const {target} = generated;
  const {name, yaml} = world.wanted(generated);
  say(decidedText(decided(generated, known), `${target.chart} ${target.version}`, yaml, screen));
  try {
    const prepared = await world.prepare(generated);
    say(preparedText(prepared.plan, name, prepared.facts, prepared.warnings, screen));
    return prepared;
  } catch (error) {
    if (!(error instanceof ExpectedError) || error.code === 'INTERRUPTED') throw error;
    say(`An install from here is not possible now:\n${errorText(error, screen)}\n`);
    return undefined;
  }
}

/** What holds, as it was said: what the cluster answered is shown as its answer. */
const decided = ({settings}: Generated, known: Knowledge): {setting: Setting; answer: Answer}[] =>
  settings.entries().map(({setting, answer}) => ({setting, answer: known.answer(setting) ?? answer}));

async function actOn(
  generated: Generated | undefined,
  prepared: Prepared | undefined,
  known: Knowledge,
  world: ReviewWorld,
): Promise<Decision | 'change'> {
  const {prompter, say, screen} = world;
  let next: Action | undefined;
  for (;;) {
    const action = (await prompter.choose({
      message: 'What now?',
      help: [
        'Nothing has been changed so far, and nothing is before you choose to install.',
        'Saved answers replay this conversation: scalr-agent install --answers answers.yaml',
        'https://github.com/Scalr/agent-helm',
      ],
      choices: actions(generated, prepared),
      default: next ?? (prepared ? 'install' : generated ? 'save' : 'change'),
    })) as Action;
    if (action === 'change' || action === 'leave') return action === 'change' ? 'change' : undefined;
    if (generated === undefined) continue;
    if (action === 'install') return prepared && {generated, plan: prepared.plan};
    if (action === 'save') await save(generated, world);
    if (action === 'print' || prepared === undefined) {
      say(`\n${sameAgainText(decided(generated, known), world.where)}`);
      say(`\n${elsewhereText(world.wanted(generated), screen)}\n`);
    }
    next = prepared ? 'install' : 'leave';
  }
}

function actions(generated: Generated | undefined, prepared: Prepared | undefined): Choice[] {
  const broken = generated === undefined ? {unavailable: 'the answers contradict each other'} : {};
  return [
    {value: 'install', label: 'Install', ...(prepared === undefined ? {unavailable: 'not possible now, see above'} : {})},
    {value: 'change', label: 'Change something'},
    {value: 'save', label: 'Save values.yaml and answers.yaml', ...broken},
    {value: 'print', label: 'Print the commands that do the same', ...broken},
    {value: 'leave', label: 'Leave without installing'},
  ];
}

/** What cannot be written there may go somewhere else. */
async function save(generated: Generated, {prompter, say, screen, save: write}: ReviewWorld): Promise<void> {
  const directory = await prompter.text({
    message: 'Into which directory?',
    help: [
      'Both files are readable by you alone and hold no secret.',
      'What is there already is replaced only after a yes.',
      '--save DIRECTORY does the same.',
    ],
    default: '.',
    problem: () => undefined,
  });
  try {
    say(`Saved: ${(await write(directory, generated)).join(', ')}\n`);
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    say(errorText(error, screen));
  }
}
