import {readFileSync} from 'node:fs';
import {Ajv2020} from 'ajv/dist/2020.js';

const schemaOf = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../schemas/output/${name}.json`, import.meta.url), 'utf8'));

const ajv = new Ajv2020({allErrors: true, strictTypes: false});
ajv.addSchema(schemaOf('finding'), 'finding.json');

/** Schema errors in a --json document of this command; empty if valid. */
export function violations(name: string, text: string): unknown[] {
  const isValid = ajv.compile({...schemaOf(name), $id: `${name}-${Math.random()}`});
  return isValid(JSON.parse(text)) ? [] : (isValid.errors ?? []);
}
