import {describe, expect, test} from 'vitest';
import {survivorsIn} from './corpus/cases.ts';
import {WRITTEN} from './corpus/written-lines.ts';
import {seen} from './helpers.ts';

const COMMANDS: readonly string[] = [
  ...(WRITTEN['commands'] ?? []),
  ...(WRITTEN['more commands'] ?? []),
  'redis-cli -a «Autumn2026!» ping',
  'curl -u ci:«Autumn2026!» https://x.example.com',
  'server --admin-password=«Autumn2026!»',
  'server --admin-password «Autumn2026!»',
  'agent --token «4821» --url x',
  'init admin:«Autumn2026!»',
].map((command) => command.trim());
/** One command without a shell: words that need no quotes. */
const WORDS = COMMANDS.filter((command) => /^[\w ./:@=,#!«»-]+$/.test(command)).map((command) =>
  command.split(' '),
);

const quoted = (words: readonly string[], by: string): string =>
  words.map((word) => JSON.stringify(word)).join(by);

/** Where a command is a list of words, or one word of a list. */
const LISTS: Readonly<Record<string, (words: readonly string[]) => string>> = {
  'arguments in JSON': (words) => JSON.stringify({args: words}),
  'arguments in pretty-printed JSON': (words) => JSON.stringify({spec: {args: words}}, null, 4),
  'a probe in JSON': (words) => JSON.stringify({livenessProbe: {exec: {command: words}}}, null, 2),
  'a hook in YAML': (words) =>
    `postStart:\n  exec:\n    command:\n${words.map((word) => `    - ${word}\n`).join('')}`,
  'quoted words in YAML': (words) => `command:\n${words.map((word) => `- "${word}"\n`).join('')}`,
  'YAML on one line': (words) => `args: [${quoted(words, ', ')}]`,
  'bare words of YAML on one line': (words) =>
    `{exec: {command: [${words.map((word) => (word.includes(':') ? `"${word}"` : word)).join(', ')}]}}`,
  'a health check of Docker': (words) =>
    JSON.stringify({Healthcheck: {Test: ['CMD', ...words]}}, null, 4),
  'a health check in a shell': (words) =>
    JSON.stringify({Healthcheck: {Test: ['CMD-SHELL', words.join(' ')]}}, null, 4),
  'a shell': (words) => JSON.stringify({command: ['/bin/sh', '-c', words.join(' ')]}),
  'a shell in YAML': (words) => `command:\n- sh\n- -c\n- ${words.join(' ')}\n`,
  '[]string{} of Go': (words) => `Args:[]string{${quoted(words, ', ')}}, Env:nil`,
  'quoted words of Go': (words) => `exec: args [${quoted(words, ' ')}] failed`,
  '/proc/PID/cmdline': (words) => `cmdline: ${words.join('\0')}\0`,
  'an event': (words) => JSON.stringify({event: `running ${JSON.stringify(words)}`, level: 'info'}),
};

describe.each(Object.entries(LISTS))('a command in a list: %s', (_, write) => {
  test.each(WORDS.map((words) => words.join(' ')))('%s', (command) => {
    const secrets = [...command.matchAll(/«([^»]*)»/g)].map(([, secret]) => secret as string);
    const text = write(command.replace(/[«»]/g, '').split(' '));
    expect(survivorsIn(seen(`${text}\n`), secrets)).toEqual([]);
  });
});
