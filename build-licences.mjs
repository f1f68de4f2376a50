import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

const PACKAGE = /^node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/;

/** Folders of the packages of which something is in the bundle, by what esbuild wrote down. */
function foldersOf({outputs}) {
  const used = Object.values(outputs).flatMap(({inputs}) => Object.entries(inputs).filter(([, {bytesInOutput}]) => bytesInOutput > 0));
  return [...new Set(used.flatMap(([path]) => PACKAGE.exec(path)?.[0] ?? []))];
}

/** What a package says of its licence, in a file of its own or at least in its README. */
function licenceIn(folder) {
  const files = readdirSync(folder);
  const read = (file) => readFileSync(join(folder, file), 'utf8').trim();
  const own = files.filter((file) => /^(licen[cs]e|copying|notice)/i.test(file)).map(read);
  if (own.length > 0) return own;
  return files
    .filter((file) => /^readme/i.test(file))
    .flatMap((file) => /^#* *licen[cs]e\b[\s\S]*Permission is hereby[\s\S]*/im.exec(read(file))?.[0] ?? []);
}

/** Writes the licences of all that is bundled, each text once. @throws where a package comes without one */
export function writeLicences(metafile, file) {
  const texts = new Map();
  for (const folder of foldersOf(metafile)) {
    const {name, version, license} = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const text = licenceIn(folder).join('\n\n');
    if (text === '') throw new Error(`${name} ${version} (${license}) comes without the text of its licence.`);
    texts.set(text, [...(texts.get(text) ?? []), `${name} ${version} (${license})`]);
  }
  const parts = [...texts].map(([text, packages]) => `${packages.toSorted().join('\n')}\n\n${text}`);
  writeFileSync(file, `${parts.toSorted().join(`\n\n${'-'.repeat(80)}\n\n`)}\n`);
}
