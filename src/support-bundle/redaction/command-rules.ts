import {isHarmless} from './harmless.ts';
import {matchAt, NOTHING, type Rule} from './rule.ts';

/** Between two words of a command, as a shell reads them or as a list of strings. */
const GAP = String.raw`(?:[ \t]+|\\*["'],[ \t]*\\*["'])`;
const WORD = String.raw`[^\s"'\\|;&]`;
/** Other words of the same command. */
const MORE = String.raw`[^\n|;]{0,300}?`;

/** Where tools take a password that no key announces; the first group is the password. */
const COMMANDS: readonly (readonly [anchor: string, expression: string])[] = [
  ['curl', String.raw`curl\b${MORE}${GAP}(?:-u|--user)(?:${GAP}|=)?["']?[^\s:"'\\]{1,64}:(${WORD}{2,256})`],
  ['login', `login${MORE}${GAP}-p(?:${GAP}|=)(${WORD}{2,256})`],
  ['sshpass', `sshpass${GAP}-p${GAP}?(${WORD}{2,256})`],
  ['mysql', String.raw`mysql(?:dump|admin)?\b${MORE}${GAP}-p(${WORD}{2,256})`],
  ['redis-cli', `redis-cli${MORE}${GAP}-a${GAP}(${WORD}{2,256})`],
  ['--from-literal', String.raw`--from-literal(?:${GAP}|=)["']?[\w.-]{1,128}=(${WORD}{2,1024})`],
  ['machine', String.raw`machine\s+\S{1,128}\s+login\s+\S{1,128}\s+password\s+(${WORD}{2,256})`],
  ['unseal key', String.raw`Unseal Key(?: \d{1,2})?:\s{1,4}(${WORD}{20,128})`],
];

export const commandRules: readonly Rule[] = COMMANDS.map(([anchor, source]) => {
  // What a colon follows is the key of something else.
  const expression = new RegExp(`${source}(?!${WORD}|\\\\*["'][ \\t]*:)`, 'dy');
  return {
    name: 'command',
    anchors: [anchor],
    onlyOutside: true,
    find(text, start) {
      const [from = 0, to = 0] = matchAt(expression, text, start)?.indices?.[1] ?? [];
      return from === to || isHarmless(text.slice(from, to)) ? NOTHING : [{start: from, end: to}];
    },
  };
});
