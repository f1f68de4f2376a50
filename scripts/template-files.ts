import {readFileSync} from 'node:fs';
import {parse} from 'yaml';

/** Files of templates as modules: texts, and YAML as what it holds, because parsing it takes longer than the command that reads it. */
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
