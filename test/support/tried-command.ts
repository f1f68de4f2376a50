import {execa} from 'execa';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {findKubectl} from '../control-plane/kubectl.ts';
import type {PrintedCommand} from './commands-in.ts';

const [{path: helm} = {path: 'helm'}] = await findHelm();
const TOOLS: Readonly<Record<string, string>> = {kubectl: await findKubectl(), helm};

/** Of these the flags are checked; they would wait, ask the internet or make a pod. */
const FLAGS_ONLY = /^(?:kubectl (?:debug|edit|wait)|helm (?:pull|show|template|upgrade))\b/;
const CHANGES =
  /^(?:kubectl (?:annotate|apply|create|delete|label|patch|run|scale|uncordon)|helm (?:rollback|uninstall))\b/;
/** What kubectl and helm say of a command line that they do not take. */
const USAGE =
  /unknown (?:command|flag|shorthand)|invalid argument|flag needs|required flag|doesn't have a resource type|(?:accepts|requires) (?:at least )?\d|must (?:specify|be)|exactly one|is required|couldn't parse|unable to parse/i;

function withoutEffect(
  {text, tool, args}: PrintedCommand,
  dryRun: 'client' | 'server',
): readonly string[] {
  if (args.includes('--help')) return args;
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const insert = (flag: string): string[] => [...args.slice(0, end), flag, ...args.slice(end)];
  if (FLAGS_ONLY.test(text)) return insert('--help');
  return CHANGES.test(text) ? insert(tool === 'helm' ? '--dry-run' : `--dry-run=${dryRun}`) : args;
}

/** Runs a printed command of kubectl or helm without its effect. */
const tried = (
  command: PrintedCommand,
  kubeconfig: string,
  dryRun: 'client' | 'server' = 'client',
) =>
  execa(TOOLS[command.tool] as string, withoutEffect(command, dryRun), {
    env: {KUBECONFIG: kubeconfig},
    input: '',
    reject: false,
    timeout: 20_000,
  });

/** Why the tool does not take the command; what the cluster says to it is another matter. */
export async function refusal(
  command: PrintedCommand,
  kubeconfig: string,
): Promise<string | undefined> {
  const {stderr} = await tried(command, kubeconfig);
  return USAGE.test(stderr) ? `${command.text}: ${stderr.trim()}` : undefined;
}

/** Why a server dry run of the command fails; objects that it names must exist. */
export async function failureOf(
  command: PrintedCommand,
  kubeconfig: string,
): Promise<string | undefined> {
  const {stderr} = await tried(command, kubeconfig, 'server');
  return USAGE.test(stderr) || /not found/i.test(stderr)
    ? `${command.text}: ${stderr.trim().split('\n').at(-1)}`
    : undefined;
}

export const isTried = ({tool}: Pick<PrintedCommand, 'tool'>): boolean => tool in TOOLS;
