import {readFileSync} from 'node:fs';
import {Ajv, type ValidateFunction} from 'ajv';
import {parse} from 'yaml';

interface Operation {
  parameters?: readonly {name: string; schema?: object}[];
  requestBody?: {$ref: string};
  responses: Readonly<Record<string, {$ref?: string}>>;
}

interface OpenApi {
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  components: object;
}

const api = parse(readFileSync(new URL('openapi.yaml', import.meta.url), 'utf8')) as OpenApi;
const ajv = new Ajv({allErrors: true, strict: false});
ajv.addSchema({$id: 'api', components: api.components});

const compiled = new Map<string, ValidateFunction>();
const validatorOf = (schema: object): ValidateFunction => {
  const text = JSON.stringify(schema).replaceAll('"#/', '"api#/');
  const known = compiled.get(text) ?? ajv.compile(JSON.parse(text));
  compiled.set(text, known);
  return known;
};

const operations = Object.entries(api.paths).flatMap(([template, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    method: method.toUpperCase(),
    pattern: new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[A-Za-z0-9-]+')}$`),
    operation,
  })),
);

export interface Sent {
  method: string;
  /** Below the base path. */
  path: string;
  query: URLSearchParams;
  body: unknown;
}

const operationOf = ({method, path}: Pick<Sent, 'method' | 'path'>): Operation | undefined =>
  operations.find((each) => each.method === method && each.pattern.test(path))?.operation;

const problemsOf = (schema: object | undefined, value: unknown, where: string): string[] => {
  if (schema === undefined) return [];
  const isValid = validatorOf(schema);
  return isValid(value)
    ? []
    : (isValid.errors ?? []).map(({instancePath, message}) => `${where}${instancePath} ${message}`);
};

/** How a request differs from the description of the API; empty if it does not. */
export function requestProblems(sent: Sent): string[] {
  const operation = operationOf(sent);
  if (operation === undefined) return [`${sent.method} ${sent.path} is unknown`];
  const {parameters = [], requestBody} = operation;
  const query = [...sent.query].flatMap(([name, value]) => {
    const known = parameters.find((each) => each.name === name);
    return known === undefined
      ? [`parameter ${name} is unknown`]
      : problemsOf(known.schema, value, name);
  });
  if (requestBody === undefined)
    return sent.body === undefined ? query : [...query, 'unexpected body'];
  return [...query, ...problemsOf(requestBody, sent.body, 'body')];
}

/** The same for an answer of the mock. */
export function responseProblems(
  sent: Pick<Sent, 'method' | 'path'>,
  status: number,
  body: unknown,
): string[] {
  const known = operationOf(sent)?.responses[String(status)];
  if (known === undefined)
    return status >= 400 ? [] : [`HTTP ${status} is not a response of ${sent.method} ${sent.path}`];
  return known.$ref === undefined ? [] : problemsOf(known, body, 'response');
}
