import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {commands, root, words} from './commands.ts';
import {table} from './markdown.ts';

/** docs/README.md. */
export function indexPage(): string {
  const rows = commands.map(({id, file, command}) => [
    `[\`scalr-agent ${id}\`](commands/${file}.md)`,
    command.summary ?? '',
  ]);
  return `${words('docs.md')}\n`
    .replace(
      '<!-- reference -->',
      table(['Reference', 'Content'], referencePages().map(referenceRow)),
    )
    .replace('<!-- commands -->', table(['Command', 'Description'], rows));
}

/** Pages for looking things up: beside the guides, and about all charts. */
const referencePages = (): string[] => [
  ...readdirSync(join(root, 'docs')).filter((each) => /^(?!README).*\.md$/.test(each)),
  'charts/README.md',
  'charts/upgrades.md',
];

/** The title of a page, and its first sentence. */
function referenceRow(page: string): string[] {
  const text = readFileSync(join(root, 'docs', page), 'utf8');
  const [, title = '', first = ''] = /^# (.*)\n+([\s\S]+?\.)(?=\s)/.exec(text) ?? [];
  return [`[${title}](${page})`, first];
}
