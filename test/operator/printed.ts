import {Flags, Parser} from '@oclif/core';
import {commandIn} from '../docs/commands.ts';
import {commandsIn, isFailure, type PrintedCommand} from '../support/commands-in.ts';
import {documentOf, type Report} from './things.ts';

function* stringsIn(node: unknown): Generator<string> {
  if (typeof node === 'string') yield node;
  else if (typeof node === 'object' && node !== null)
    for (const each of Object.values(node)) yield* stringsIn(each);
}

/** Every command that the report prints, once. */
export function printedIn(report: Report): PrintedCommand[] {
  const document = documentOf(report);
  const texts = [
    document === undefined ? report.stdout : [...stringsIn(document)].join('\n'),
    report.stderr,
  ];
  const found = texts
    .flatMap(commandsIn)
    .filter((each) => !isFailure(each) && each.args.length > 0);
  return [...new Map(found.map((each) => [each.text, each])).values()];
}

/** oclif adds them to every command. */
const ROOT_FLAGS = {json: Flags.boolean(), help: Flags.boolean()};

/** Why this program does not take the command. */
export async function refusalOfOurs({
  text,
  args: words,
}: PrintedCommand): Promise<string | undefined> {
  const {found, rest} = commandIn(words);
  if (found === undefined) return `${text}: unknown command`;
  const {flags, baseFlags, args, strict} = found.command;
  try {
    await Parser.parse([...rest], {flags: {...ROOT_FLAGS, ...baseFlags, ...flags}, args, strict});
    return undefined;
  } catch (error) {
    return `${text}: ${(error as Error).message.split('\n')[0]}`;
  }
}
