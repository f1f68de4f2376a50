import {readFileSync} from 'node:fs';
import {parse} from 'yaml';

/** Imports of template files: text as a string, YAML parsed, because parsing it takes longer than the command that reads it. */
export const templateFiles = {
  name: 'template-files',
  enforce: 'pre' as const,
  load(id: string) {
    if (!/\.(md|gotmpl|tf|sh|yaml)$/.test(id)) return undefined;
    const text = readFileSync(id, 'utf8');
    const content: unknown = id.endsWith('.yaml') ? parse(text) : text;
    return {code: `export default ${JSON.stringify(content)};`, moduleType: 'js' as const};
  },
};
