import {isHarmless} from './harmless.ts';
import {matchAt, NOTHING, type Rule} from './rule.ts';

/** Between two words of a command, as a shell reads them or as a list of strings. */
const GAP = String.raw`(?:[ \t]+|\\*["'],[ \t]*\\*["'])`;
const WORD = String.raw`[^\s"'\\|;&]`;
const QUOTE = String.raw`(?:\\*["'])?`;
/** Other words of the same command. */
const MORE = '(?:(?!&&)[^\\n|;]){0,300}?';
const BLANK = String.raw`(?:\s|\\+[nrt])+`;
const REGISTRIES = `(?<=(?:docker|podman|nerdctl|buildah|registry|oras|skopeo|crane|acr)(?:${GAP}|${BLANK}))`;

/** Where tools take a password that no key announces; the first group is the password. */
const COMMANDS: readonly (readonly [anchors: readonly string[], expression: string])[] = [
  [['curl'], `curl\\b${MORE}${GAP}(?:-[A-Za-z]{0,8}[uU]|--user|--proxy-user)(?:${GAP}|=)?${QUOTE}[^\\s:"'\\\\]{1,64}:(${WORD}{2,256})`],
  [['login'], `${REGISTRIES}login\\b${MORE}${GAP}-p(?:${GAP}|=)${QUOTE}(${WORD}{2,256})`],
  [['sshpass'], `sshpass${GAP}-p${GAP}?${QUOTE}(${WORD}{2,256})`],
  [
    ['mysql', 'mariadb'],
    `(?:mysql|mariadb)(?:-?dump|-?admin|import|sh)?\\b${MORE}${GAP}-p(?!rotocol|ort|rint|ipe|ager|lugin)${QUOTE}(${WORD}{2,256})`,
  ],
  [['redis-cli'], `redis-cli${MORE}${GAP}-a${GAP}${QUOTE}(${WORD}{2,256})`],
  [['--from-literal'], `--from-literal(?:${GAP}|=)${QUOTE}[\\w.-]{1,128}=(${WORD}{2,1024})`],
  [
    ['machine', 'default'],
    `(?:machine${BLANK}[^\\s\\\\]{1,128}|default)${BLANK}login${BLANK}[^\\s\\\\]{1,128}${BLANK}(?:account${BLANK}[^\\s\\\\]{1,128}${BLANK})?password${BLANK}(${WORD}{2,256})`,
  ],
  [['unseal key'], `Unseal Key(?: \\d{1,2})?:\\s{1,4}(${WORD}{20,128})`],
];

export const commandRules: readonly Rule[] = COMMANDS.map(([anchors, source]) => {
  // What a colon follows is the key of something else.
  const expression = new RegExp(`${source}(?!${WORD}|\\\\*["'][ \\t]*:)`, 'dy');
  return {
    name: 'command',
    anchors,
    onlyOutside: true,
    find(text, start) {
      const [from = 0, to = 0] = matchAt(expression, text, start)?.indices?.[1] ?? [];
      return from === to || isHarmless(text.slice(from, to)) ? NOTHING : [{start: from, end: to}];
    },
  };
});
