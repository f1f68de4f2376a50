import type {Evidence, ObjectFinding} from '../src/ground/finding.ts';
import {visibleText} from './untrusted-text.ts';

/** Makes an element: text in Node.js, a node of Preact in the browser. */
export type ElementMaker<T> = (
  tag: string,
  attributes: Readonly<Record<string, string>>,
  ...children: readonly (T | string)[]
) => T;

/** What the first screen shows. */
export interface FirstScreen {
  /** SUMMARY.md */
  summary: string;
  /** As in findings.json. */
  findings: readonly ObjectFinding[];
}

const GROUPS = [
  ['error', 'Errors', 'Error'],
  ['unknown', 'Unknown', 'Unknown'],
  ['warning', 'Warnings', 'Warning'],
  ['note', 'Notes', 'Note'],
] as const;
/** Sections of the summary beside the findings. */
const FACTS = [
  'Withheld: the final check found a secret, which was masked, or the file was left out',
  'Not included',
  'Releases',
  'Versions',
];

/** Verdict, findings and what is missing. Readable without scripts. Pure. */
export function firstScreen<T>(h: ElementMaker<T>, {summary, findings}: FirstScreen): T {
  const {title, verdict, notes, sections} = partsOf(summary);
  const worst =
    GROUPS.find(
      ([verdict]) => verdict !== 'note' && findings.some((each) => each.verdict === verdict),
    )?.[0] ?? 'ok';
  return h(
    'div',
    {class: 'overview'},
    h(
      'header',
      {class: `verdict is-${worst}`},
      h('p', {class: 'eyebrow'}, visibleText(title)),
      h('h1', {}, visibleText(verdict)),
      ...notes.map((note) => h('p', {class: 'note'}, visibleText(note))),
      h('button', {type: 'button', class: 'copy', hidden: ''}, 'Copy as Markdown'),
    ),
    h(
      'div',
      {class: 'columns'},
      h(
        'div',
        {class: 'findings'},
        ...GROUPS.flatMap(([verdict, heading, label]) => {
          const found = findings.filter((each) => each.verdict === verdict);
          if (found.length === 0) return [];
          return [
            h('h2', {}, `${heading} (${found.length})`),
            ...found.map((each) => findingOf(h, each, label)),
          ];
        }),
        ...(findings.length === 0 ? [h('p', {class: 'empty'}, 'No problems found.')] : []),
      ),
      h(
        'aside',
        {class: 'facts', 'aria-label': 'Facts about the bundle'},
        ...FACTS.flatMap((name) => {
          const lines = sections.get(name);
          if (lines === undefined) return [];
          return [
            h('h2', {}, name.split(':')[0] as string),
            h('ul', {}, ...lines.map((line) => h('li', {}, ...labeled(h, line)))),
          ];
        }),
      ),
    ),
  );
}

/** Address of a line in the log viewer. */
export const lineAddress = ({file, line}: Evidence): string =>
  `#log=${encodeURIComponent(file)}${line === undefined ? '' : `&line=${line}`}`;

function findingOf<T>(
  h: ElementMaker<T>,
  {verdict, code, subject, message, remedies, evidence}: ObjectFinding,
  label: string,
): T {
  const labeledLine = (name: string, ...content: (T | string)[]): T =>
    h('p', {class: 'next'}, h('span', {class: 'label'}, name), h('span', {}, ...content));
  return h(
    'article',
    {class: `finding is-${verdict}`},
    h(
      'p',
      {class: 'kind'},
      h('span', {class: 'verdict-label'}, label),
      ' ',
      h('code', {}, visibleText(code)),
    ),
    h('h3', {}, visibleText(subject.object)),
    h('p', {class: 'message'}, visibleText(message)),
    ...remedies.map(({text}) => labeledLine('Next', ...withCommands(h, visibleText(text)))),
    ...(evidence === undefined
      ? []
      : [labeledLine('File', h('a', {href: lineAddress(evidence)}, visibleText(place(evidence))))]),
  );
}

const place = ({file, line}: Evidence): string =>
  line === undefined ? file : `${file}, line ${line}`;

/** A command ends with its sentence. */
const COMMAND = /((?:scalr-agent|kubectl|helm|docker|systemctl|sudo) (?:[^,;.]|[.](?=\S))+)/;

const withCommands = <T>(h: ElementMaker<T>, text: string): (T | string)[] =>
  text.split(COMMAND).map((part, index) => (index % 2 === 0 ? part : h('code', {}, part)));

/** `name: text` with the name in front. */
function labeled<T>(h: ElementMaker<T>, line: string): (T | string)[] {
  const [, name, text] = /^([^:]{1,120}): (.*)$/s.exec(line) ?? [];
  return name === undefined
    ? [visibleText(line)]
    : [h('b', {}, visibleText(name)), ` ${visibleText(text as string)}`];
}

function partsOf(summary: string): {
  title: string;
  verdict: string;
  notes: string[];
  sections: ReadonlyMap<string, string[]>;
} {
  const [head = '', ...rest] = summary.split(/^## /m);
  const lines = head.split('\n').filter((line) => line !== '');
  const title = lines.find((line) => line.startsWith('# ')) ?? '# Support bundle';
  const verdict = lines.find((line) => /^\*\*.*\*\*$/.test(line)) ?? '**No summary.**';
  return {
    title: title.slice(2),
    verdict: verdict.slice(2, -2),
    notes: lines.filter((line) => line !== title && line !== verdict),
    sections: new Map(
      rest.map((section) => {
        const [name = '', ...content] = section.split('\n');
        return [name, content.filter((line) => line.startsWith('- ')).map((line) => line.slice(2))];
      }),
    ),
  };
}
