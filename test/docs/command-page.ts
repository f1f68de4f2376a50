import {existsSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import type {Command, Interfaces} from '@oclif/core';
import {type Documented, root, words} from './commands.ts';
import {exitRowsOf} from './exit-codes.ts';
import {table} from './markdown.ts';
import {settings} from './settings.ts';

type Flag = Command.Flag.Any;

/** docs/commands/<command>.md: facts from the command, and the hand-written template. */
export function commandPage({id, file, command}: Documented): string {
  const named = namedFor(id);
  const flags = Object.entries({...command.baseFlags, ...command.flags} as Record<string, Flag>);
  const ofGroup = (group: string | undefined) =>
    flags.filter(([, {helpGroup}]) => helpGroup === group);
  return [
    `# scalr-agent ${id}`,
    named(command.summary ?? ''),
    fenced('sh', usageOf(id, command)),
    '## Examples',
    fenced('sh', examplesOf(command).map(named).join('\n')),
    '## Description',
    paragraphs(named(command.description ?? '')),
    written(file),
    ...section('Arguments', argumentRows(command)),
    ...flagsText('Flags', ofGroup(undefined)),
    ...flagsText(
      flags.some(([name]) => name === 'kube-context')
        ? 'Cluster connection flags'
        : 'Connection flags',
      ofGroup('CONNECTION'),
    ),
    ...settingsText(flags.map(([name]) => name)),
    ...flagsText('Global flags', ofGroup('GLOBAL')),
    '## Exit codes',
    table(['Code', 'Meaning'], exitRowsOf(id)),
    'Errors have a code; causes and remedies are in the [error reference](../errors.md).',
    ...jsonText(file),
  ]
    .filter((text) => text !== '')
    .join('\n\n')
    .concat('\n');
}

/** A description in paragraphs of about three lines. */
const paragraphs = (text: string): string =>
  text
    .split(/(?<=[a-z)\d`"]\.) (?!It )(?=[A-Z-])/)
    .reduce((all, sentence) => {
      const last = all.slice(all.lastIndexOf('\n') + 1);
      return `${all}${last.length + sentence.length > 480 ? '\n\n' : ' '}${sentence}`;
    })
    .trim();

/** oclif's placeholders, filled. */
const namedFor =
  (id: string) =>
  (text: string): string =>
    text.replaceAll('<%= config.bin %>', 'scalr-agent').replaceAll('<%= command.id %>', id);

const fenced = (language: string, text: string): string =>
  [`\`\`\`${language}`, text, '```'].join('\n');

function usageOf(id: string, {usage, args}: Command.Class): string {
  const own = [usage ?? []].flat();
  const lines =
    own.length > 0
      ? own
      : [
          [id, ...Object.keys(args ?? {}).map((name) => `<${name.toUpperCase()}>`), '[FLAGS]'].join(
            ' ',
          ),
        ];
  return lines.map((line) => `scalr-agent ${namedFor(id)(line)}`).join('\n');
}

const section = (title: string, rows: readonly string[][]): string[] =>
  rows.length === 0 ? [] : [`## ${title}`, table(['Argument', 'Description'], rows)];

/** What people wrote about the command. */
function written(file: string): string {
  const template = `commands/${file}.md`;
  return existsSync(join(root, 'templates', template)) ? words(template).trim() : '';
}

const argumentRows = ({args}: Command.Class): string[][] =>
  Object.entries((args ?? {}) as Record<string, Interfaces.Arg<unknown>>).map(
    ([name, {description = '', options}]) => [
      `\`${name.toUpperCase()}\``,
      [description, ...(options ? [`One of ${codes(options)}.`] : [])].join(' '),
    ],
  );

const codes = (texts: readonly string[]): string => texts.map((text) => `\`${text}\``).join(', ');

const flagsText = (title: string, flags: readonly [string, Flag][]): string[] =>
  flags.length === 0 ? [] : [`## ${title}`, table(['Flag', 'Description'], flags.map(flagRow))];

function flagRow([name, flag]: [string, Flag]): string[] {
  const {char, summary, description} = flag;
  const isSwitch = flag.type === 'boolean';
  const long = isSwitch && flag.allowNo ? `--[no-]${name}` : `--${name}`;
  const value = isSwitch
    ? ''
    : ` ${[flag.helpValue ?? '<VALUE>'].flat().join(' ').replaceAll(/[<>]/g, '')}`;
  const options = !isSwitch && flag.options ? [`One of ${codes(flag.options)}.`] : [];
  const fallback =
    flag.default === undefined
      ? []
      : [`Default: ${isSwitch ? (flag.default ? 'on' : 'off') : `\`${flag.default}\``}.`];
  const spelling = [...(char ? [`-${char}`] : []), `${long}${value}`]
    .map((text) => `\`${text}\``)
    .join(', ');
  return [spelling, [summary ?? description ?? '', ...options, ...fallback].join(' ')];
}

/** The settings page describes each of them once. */
function settingsText(flags: readonly string[]): string[] {
  const taken = settings.filter(({id}) => flags.includes(id));
  const rows = [...new Set(taken.map(({group}) => group))].map((group) => [
    group,
    taken
      .filter((each) => each.group === group)
      .map(({id}) => `[\`--${id}\`](../settings.md#${id})`)
      .join(', '),
  ]);
  return rows.length === 0
    ? []
    : [
        '## Settings',
        'Each is a flag, a variable and a key of the answers file, in this order of precedence.',
        table(['Group', 'Flags'], rows),
      ];
}

/** An example is a line, or one with a description, which becomes a comment. */
const examplesOf = ({examples = []}: Command.Class): string[] =>
  examples.map((example) =>
    typeof example === 'string' ? example : `# ${example.description}\n${example.command}`,
  );

interface Schema {
  /** What --json prints for one release, where a flag makes it a list. */
  $defs?: {release?: Schema};
  /** What --json prints, by target. */
  oneOf?: readonly (Schema & {description?: string})[];
  required?: readonly string[];
  properties?: Readonly<
    Record<
      string,
      {
        description?: string;
        type?: string | readonly string[];
        enum?: readonly unknown[];
        const?: unknown;
      }
    >
  >;
}

function jsonText(file: string): string[] {
  const path = `schemas/output/${file}.json`;
  if (!existsSync(join(root, path))) return [];
  const schema = JSON.parse(readFileSync(join(root, path), 'utf8')) as Schema;
  const others =
    schema.oneOf?.filter(({description = ''}) => /^With --(?:target|contexts)/.test(description)) ??
    [];
  return [
    '## JSON',
    `\`--json\` prints one document; its schema is [${path}](../../${path}).`,
    keysTable(described(schema)),
    ...others.flatMap((each) => [`${each.description?.replace(/\.$/, '')}:`, keysTable(each)]),
  ];
}

/** The part of a schema whose keys are listed: the first of several documents, unless they share their keys. */
function described(schema: Schema): Schema {
  if (schema.$defs?.release !== undefined) return schema.$defs.release;
  return schema.properties === undefined ? (schema.oneOf?.[0] ?? schema) : schema;
}

function keysTable({required = [], properties = {}}: Schema): string {
  const rows = Object.entries(properties).map(
    ([name, {description = '', type, enum: options, const: fixed}]) => [
      `\`${name}\`${required.includes(name) ? '' : ' (optional)'}`,
      fixed === undefined ? [type ?? []].flat().join(' or ') : `always \`${fixed}\``,
      [description, ...(options ? [`One of ${codes(options.map(String))}.`] : [])].join(' ').trim(),
    ],
  );
  return table(['Key', 'Type', 'Description'], rows);
}
