import {commands, words} from './commands.ts';
import {table} from './markdown.ts';

/** docs/README.md. */
export function indexPage(): string {
  const rows = commands.map(({id, file, command}) => [
    `[\`scalr-agent ${id}\`](commands/${file}.md)`,
    command.summary ?? '',
  ]);
  return `${words('docs.md')}\n`.replace(
    '<!-- commands -->',
    table(['Command', 'Description'], rows),
  );
}
