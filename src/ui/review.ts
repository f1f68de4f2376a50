import type {InstallFacts} from '../cluster/install-facts.ts';
import {commandLine} from '../command-line.ts';
import type {Warning} from '../errors.ts';
import {upgradeInstall} from '../helm/helm.ts';
import type {Loss, Plan} from '../plan/step.ts';
import type {WantedRelease} from '../plan/wanted-release.ts';
import type {ReleaseName} from '../ports/processes.ts';
import type {Checked} from '../preflight/check.ts';
import type {Setting} from '../settings/define.ts';
import {type Answer, type AnswerSource, flagsOf, holdsSecret} from '../settings/settings.ts';
import {checkText} from './checks.ts';
import {answerText} from './conversation.ts';
import {warningText} from './messages.ts';
import {planText} from './plan.ts';
import {paragraph, type Screen, theme} from './theme.ts';

interface Entry {
  setting: Setting;
  answer: Answer;
}

const FROM: Readonly<Record<AnswerSource, string>> = {
  flag: 'flag',
  environment: 'environment',
  answers: 'answers file',
  'values-file': 'values file',
  cluster: 'cluster',
  prompt: 'your answer',
  default: 'default',
  chart: 'chart default',
};

/** All settings with their sources, and the resulting values.yaml. */
export function decidedText(entries: readonly Entry[], chart: string, yaml: string, screen: Screen): string {
  const {bold, dim} = theme(screen);
  const width = Math.max(...entries.map(({setting}) => setting.id.length));
  const settings = entries.map(({setting, answer}) =>
    paragraph(
      `  ${setting.id.padEnd(width)}  `,
      `${answerText(setting, answer)} ${dim(`(${answer.because ?? FROM[answer.source]})`)}`,
      screen,
    ),
  );
  const file = yaml.trimEnd().replace(/^(?=.)/gm, '  ');
  return `\n${bold('Settings')}\n${settings.join('')}\n${bold('values.yaml')} ${dim(`for ${chart}`)}\n${file}\n\n`;
}

/** The plan with its warnings. */
export function preparedText(plan: Plan, name: ReleaseName, facts: InstallFacts, warnings: readonly Checked[], screen: Screen): string {
  const {bold} = theme(screen);
  const nothing = plan.steps.length === 0 ? 'No changes. The release already matches these settings.\n' : '';
  const losses = planWarnings(plan).map((each) => warningText(each, screen));
  const doubts = [...losses, ...warnings.map((each) => checkText(each, screen))].join('');
  return `${bold('Planned changes')}\n${planText(plan, name, facts, screen)}${nothing}${doubts === '' ? '' : `\n${doubts}`}\n`;
}

/** The equivalent non-interactive command. */
export function sameAgainText(entries: readonly Entry[], where: readonly string[]): string {
  const given = entries.filter(({answer}) => answer.source !== 'default' && answer.source !== 'chart');
  const open = given.filter(({setting, answer}) => !holdsSecret(setting, answer));
  const lines = ['scalr-agent install --yes', ...where, ...open.flatMap(({setting, answer}) => flagsOf(setting, answer))];
  const hidden = given.filter(({setting, answer}) => holdsSecret(setting, answer)).map(({setting}) => setting.env);
  const before = hidden.length === 0 ? '' : `# Requires the environment variable${hidden.length > 1 ? 's' : ''} ${hidden.join(', ')}\n`;
  return `${before}${lines.map((line, index) => `${index === 0 ? '' : '  '}${line}`).join(' \\\n')}\n`;
}

/** Commands to install from another machine. */
export function elsewhereText({name, chart, yaml, secrets}: Omit<WantedRelease, 'manifest' | 'values'>, screen: Screen): string {
  const {namespace} = name.place;
  const lines = [
    commandLine({tool: 'kubectl', args: ['create', 'namespace', namespace]}),
    ...secrets.map((secret) => secretCommand(secret, namespace)),
    commandLine(upgradeInstall(name, chart, yaml)),
  ];
  return `${theme(screen).bold('To install from another machine, run in the directory that contains values.yaml:')}\n${lines.map((line) => `  ${line}\n`).join('')}`;
}

/** The content is read from standard input. */
function secretCommand({name, type, data}: WantedRelease['secrets'][number], namespace: string): string {
  const keys = Object.keys(data);
  if (type === 'kubernetes.io/tls')
    return commandLine({
      tool: 'kubectl',
      args: ['create', 'secret', 'tls', name, '--namespace', namespace, '--cert=tls.crt', '--key=tls.key'],
    });
  const files = keys.map((key) => `--from-file=${key}=/dev/stdin`);
  return commandLine({tool: 'kubectl', args: ['create', 'secret', 'generic', name, '--namespace', namespace, ...files]});
}

/** Warnings about lost data and drains, shown before the plan runs and in the result. */
export const planWarnings = ({losses = [], warnings = []}: Plan): Warning[] => [
  ...losses.map(lossWarning),
  ...warnings.map((message) => ({code: 'DRAIN', message})),
];

function lossWarning(loss: Loss): Warning {
  if ('claim' in loss) {
    return {
      code: 'CLAIM_DELETED',
      message: `PVC ${loss.claim} is deleted by this change, because these settings do not request it. The data on its volume is lost, unless the reclaim policy of the volume is Retain.`,
    };
  }
  const {path, installed, file} = loss.value;
  const what = file === undefined ? 'remove it' : `change it to ${JSON.stringify(file)}`;
  return {
    code: 'VALUE_DROPPED',
    message: `${path} is ${JSON.stringify(installed)} in the installed release, but these settings ${what}. To keep the value, set it with its flag or with --set.`,
  };
}
