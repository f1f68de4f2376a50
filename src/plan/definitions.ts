import {parseAllDocuments} from 'yaml';

/** The custom resource definitions in a rendered chart. */
export function definitionsIn(manifest: string): object[] {
  return parseAllDocuments(manifest, {logLevel: 'silent'}).flatMap((document) => {
    const object = 'toJS' in document ? (document.toJS() as {kind?: string} | null) : null;
    return object?.kind === 'CustomResourceDefinition' ? [object] : [];
  });
}
