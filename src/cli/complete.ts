import {join} from 'node:path';
import {execWithTimeout} from '../adapters/exec-with-timeout.ts';
import {readPackageJson} from '../adapters/package-files.ts';
import {bashWords, type Flag, readLine, withTopics} from '../completion/line.ts';
import {type Ask, bashReply, type CompletionProgram, offerFor, reply} from '../completion/replies.ts';

/** Completion must be fast, but a credential plugin alone takes seconds. */
const TOOL_TIMEOUT_MS = 5000;

/**
 * Replies to a script of templates/completion, without loading a command. `args` contains the shell and its command line; the words in
 * `before` are added in front of it unless it starts with a command.
 */
export async function complete([shell = '', ...args]: readonly string[], before: readonly string[], root: string): Promise<void> {
  const program = programOf(root);
  // A command takes precedence.
  const leading = (words: readonly string[]): readonly string[] => (/^[a-z]/.test(words[0] ?? '') ? [] : before);
  const lineOf = (words: readonly string[]) => readLine(withTopics(words, Object.keys(program.commands)), program.flagsOf);
  if (shell === 'bash') {
    const [line = '', replaced = '', type = '', columns = ''] = args;
    const written = bashWords(line, replaced, process.env);
    const typed = written.words.slice(1);
    const read = lineOf([...leading(typed), ...typed]);
    const offer = written.isRedirected ? 'files' : await offerFor(read, program);
    process.stdout.write(bashReply(offer, read, written, {type, columns: Number(columns) || 80}));
    return;
  }
  const words = shell === 'powershell' ? (process.env['SCALR_AGENT_WORDS'] ?? '').split('\n') : args;
  const read = lineOf([...leading(words), ...words]);
  process.stdout.write(reply(await offerFor(read, program), read, {isFiltered: shell === 'powershell'}));
}

type Manifest = Readonly<Record<string, CompletionProgram['commands'][string] & {flags: Readonly<Record<string, Flag>>}>>;

function programOf(root: string): CompletionProgram {
  const {commands} = readPackageJson(join(root, 'oclif.manifest.json')) as {commands: Manifest};
  return {
    commands,
    flagsOf: (command) => Object.values(commands[command]?.flags ?? {}),
    async live(flag, line) {
      const {liveValues} = await import('../completion/replies.ts');
      const ask: Ask = ({tool, args}, path = tool) => execWithTimeout(path, args, TOOL_TIMEOUT_MS);
      return liveValues(ask, process.env)[flag](line);
    },
  };
}
