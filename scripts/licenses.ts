import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {execa} from 'execa';

interface Component {
  group?: string;
  name: string;
  version: string;
  licenses: readonly {license: {id: string}}[];
  evidence?: {licenses?: readonly {license: {text: {content: string}}}[]};
}

/**
 * The licenses of all packages that esbuild's metafile names; CycloneDX finds the packages and their license files. Each text stands there
 * once, under its packages and their copyright notices.
 */
export async function licensesOf(metafile: string): Promise<string> {
  const {stdout} = await execa(
    'cyclonedx-esbuild',
    [metafile, '--gather-license-texts', '--output-reproducible'],
    {preferLocal: true},
  );
  const {components} = JSON.parse(stdout) as {components: readonly Component[]};
  const texts = new Map<string, {terms: string; packages: string[]}>();
  for (const component of components) {
    const name = [component.group, component.name].filter(Boolean).join('/');
    const title = `${name} ${component.version} (${[...new Set(component.licenses.map(({license}) => license.id))].join(', ')})`;
    const text = component.evidence?.licenses?.map(({license}) =>
      Buffer.from(license.text.content, 'base64').toString('utf8').trim(),
    );
    const lines = (text ?? [readmeOf(name)]).join('\n\n').split('\n');
    const notices = lines.filter((line) => NOTICE.test(line)).map((line) => `  ${line.trim()}`);
    const terms = lines
      .filter((line) => !NOTICE.test(line) && !TITLE.test(line))
      .join('\n')
      .trim();
    const key = terms.replaceAll(/[\s"'*]+/g, ' ').toLowerCase();
    const {packages = []} = texts.get(key) ?? {};
    texts.set(key, {terms, packages: [...packages, [title, ...notices].join('\n')]});
  }
  const parts = [...texts.values()].map(
    ({terms, packages}) => `${packages.join('\n')}\n\n${terms}`,
  );
  return `${parts.toSorted().join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

/** `Copyright (c) 2018 Salesforce.com`; the terms of Apache also begin a line with the word. */
const NOTICE = /^\s*(?:[Cc]opyright\s+(?:\([cC]\)|©|\d{4})|©|\(c\)\s)/;
const TITLE = /^\s*#*\s*(?:The |\()?(?:MIT|ISC)(?: License)?\)?(?: \(\w+\))?:?\s*$/i;

/** Where a package without a license file has its license. */
function readmeOf(name: string): string {
  const folder = join('node_modules', name);
  const readme = readdirSync(folder).find((file) => /^readme/i.test(file));
  if (readme === undefined) throw new Error(`${name} has neither a license file nor a README.`);
  return readFileSync(join(folder, readme), 'utf8').trim();
}
