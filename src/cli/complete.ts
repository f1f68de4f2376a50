import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {argumentsOf} from '../ground/call-arguments.ts';
import {execWithTimeout} from '../ground/system/node-processes.ts';
import {readPackageJson} from '../ground/system/this-process.ts';
import {bashWords, type Flag, readLine, withTopics} from './completion/line.ts';
import {
  type Ask,
  bashReply,
  type CompletionProgram,
  liveValues,
  offerFor,
  reply,
} from './completion/replies.ts';

/** Completion must be fast, but a credential plugin alone takes seconds. */
const TOOL_TIMEOUT_MS = 5000;

/**
 * Replies to a script of templates/completion. `args` contains the shell and its command line; the words in
 * `before` are added in front of it unless it starts with a command.
 */
export async function complete(
  [shell = '', ...args]: readonly string[],
  before: readonly string[],
  root: string,
): Promise<void> {
  const {commands} = readPackageJson(join(root, 'oclif.manifest.json')) as Pick<
    CompletionProgram,
    'commands'
  >;
  // A command takes precedence.
  const leading = (words: readonly string[]): readonly string[] =>
    /^[a-z]/.test(words[0] ?? '') ? [] : before;
  const lineOf = async (words: readonly string[]) => {
    const typed = withTopics(words, Object.keys(commands));
    const flags =
      typed[0] !== undefined && typed.length > 1 && typed[0] in commands
        ? await flagsOf(typed[0], root)
        : [];
    return {read: readLine(typed, () => flags), program: {commands, flagsOf: () => flags, live}};
  };
  if (shell === 'bash') {
    const [line = '', replaced = '', type = '', columns = ''] = args;
    const written = bashWords(line, replaced, process.env);
    const typed = written.words.slice(1);
    const {read, program} = await lineOf([...leading(typed), ...typed]);
    const offer = written.isRedirected ? 'files' : await offerFor(read, program);
    process.stdout.write(bashReply(offer, read, written, {type, columns: Number(columns) || 80}));
    return;
  }
  const words =
    shell === 'powershell' ? (process.env['SCALR_AGENT_WORDS'] ?? '').split('\n') : args;
  const {read, program} = await lineOf([...leading(words), ...words]);
  process.stdout.write(
    reply(await offerFor(read, program), read, {isFiltered: shell === 'powershell'}),
  );
}

/** The flags of a command, which is the only one that is loaded. */
async function flagsOf(id: string, root: string): Promise<Flag[]> {
  const path = join(root, 'dist/commands', `${id.replaceAll(':', '/')}.js`);
  const {default: command} = (await import(pathToFileURL(path).href)) as {
    default: Record<'flags' | 'baseFlags', Record<string, Flag>>;
  };
  return Object.entries({...command.baseFlags, ...command.flags}).map(([name, flag]) => ({
    ...flag,
    name,
  }));
}

const live: CompletionProgram['live'] = async (flag, line) => {
  const ask: Ask = (call, path = call.tool) =>
    execWithTimeout(path, argumentsOf(call), TOOL_TIMEOUT_MS);
  return liveValues(ask, process.env)[flag](line);
};
