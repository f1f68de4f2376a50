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
          [id, ...Object.keys(args ?? {}).map((name) => `<${name.toUpperCase()}>`), '[flags]'].join(
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

type Shape = Readonly<{
  description?: string;
  $ref?: string;
  required?: readonly string[];
  properties?: Readonly<Record<string, Key>>;
}>;

type Key = Readonly<{
  description?: string;
  $ref?: string;
  type?: string | readonly string[];
  enum?: readonly unknown[];
  const?: unknown;
}>;

interface Schema extends Shape {
  $defs?: Readonly<Record<string, Shape & Key>>;
  /** The documents that --json can print, unless they share their keys. */
  oneOf?: readonly Shape[];
}

function jsonText(file: string): string[] {
  const path = `schemas/output/${file}.json`;
  if (!existsSync(join(root, path))) return [];
  const schema = JSON.parse(readFileSync(join(root, path), 'utf8')) as Schema;
  const shapes = schema.properties === undefined ? (schema.oneOf ?? []) : [schema];
  return [
    '## JSON',
    `\`--json\` prints one document; its schema is [${path}](../../${path}).`,
    ...shapes.flatMap((shape) => [
      ...(shapes.length === 1 ? [] : [`${shape.description?.replace(/\.$/, '')}:`]),
      keysTable(withReference(shape, schema), schema),
    ]),
  ];
}

/** The shape or key, with what it refers to in the same file. */
function withReference<T extends Shape | Key>(given: T, {$defs = {}}: Schema): T {
  const name = given.$ref?.replace('#/$defs/', '') ?? '';
  const {[name]: target} = $defs;
  const required = [given, target ?? {}].flatMap((each) =>
    'required' in each ? each.required : [],
  );
  return {...target, ...given, required};
}

function keysTable({required = [], properties = {}}: Shape, schema: Schema): string {
  const rows = Object.entries(properties).map(([name, key]) => {
    const {description = '', enum: options, const: fixed, ...rest} = withReference(key, schema);
    const {type = options ? 'string' : []} = rest;
    return [
      `\`${name}\`${required.includes(name) ? '' : ' (optional)'}`,
      fixed === undefined ? [type].flat().join(' or ') : `always \`${fixed}\``,
      [description, ...(options ? [`One of ${codes(options.map(String))}.`] : [])].join(' ').trim(),
    ];
  });
  return table(['Key', 'Type', 'Description'], rows);
}
