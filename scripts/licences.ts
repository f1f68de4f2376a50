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

/** The licences of all packages that esbuild's metafile names, each text once; CycloneDX finds the packages and their licence files. */
export async function licencesOf(metafile: string): Promise<string> {
  const {stdout} = await execa('cyclonedx-esbuild', [metafile, '--gather-license-texts', '--output-reproducible'], {preferLocal: true});
  const {components} = JSON.parse(stdout) as {components: readonly Component[]};
  const texts = new Map<string, string[]>();
  for (const component of components) {
    const name = [component.group, component.name].filter(Boolean).join('/');
    const title = `${name} ${component.version} (${[...new Set(component.licenses.map(({license}) => license.id))].join(', ')})`;
    const text = component.evidence?.licenses?.map(({license}) => Buffer.from(license.text.content, 'base64').toString('utf8').trim());
    const key = (text ?? [readmeOf(name)]).join('\n\n');
    texts.set(key, [...(texts.get(key) ?? []), title]);
  }
  const parts = [...texts].map(([text, titles]) => `${titles.join('\n')}\n\n${text}`);
  return `${parts.toSorted().join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

/** Where a package without a licence file has its licence. */
function readmeOf(name: string): string {
  const folder = join('node_modules', name);
  const readme = readdirSync(folder).find((file) => /^readme/i.test(file));
  if (readme === undefined) throw new Error(`${name} has neither a licence file nor a README.`);
  return readFileSync(join(folder, readme), 'utf8').trim();
}
