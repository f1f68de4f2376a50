import {unknown} from '../../../../src/ground/fact.ts';

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const isFact = (value: object): boolean => 'source' in value && 'value' in value;

/** Replaces every fact at any depth; plain values keep their identity. */
function mapFacts(
  value: unknown,
  path: string,
  replace: (fact: object, path: string) => unknown,
): unknown {
  if (!isObject(value)) return value;
  if (isFact(value)) return replace(value, path);
  if (value instanceof Map)
    return new Map(
      [...value].map(([key, each]) => [key, mapFacts(each, `${path}.${key}`, replace)]),
    );
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, mapFacts(each, `${path}.${key}`, replace)]),
  );
}

/** Of a cluster and of a machine. */
const PARTS: ReadonlySet<string> = new Set([
  'facts',
  'containers',
  'services',
  'readings',
  'live',
  'admission',
  'permissions',
  'secrets',
  'claims',
  'manifest',
  'context',
  'tools',
  'account',
]);

function mapContext<Context extends object>(
  context: Context,
  replace: (fact: object, path: string) => unknown,
): Context {
  const parts = Object.entries(context)
    .filter(([part]) => PARTS.has(part))
    .map(([part, value]) => [part, mapFacts(value, part, replace)]);
  return {...context, ...Object.fromEntries(parts)};
}

/** The facts whose value `read` looks at. */
export function factsRead<Context extends object>(
  context: Context,
  read: (context: Context) => unknown,
): string[] {
  const found = new Set<string>();
  read(
    mapContext(
      context,
      (fact, path) =>
        new Proxy(fact, {
          has(target, key) {
            found.add(path);
            return Reflect.has(target, key);
          },
        }),
    ),
  );
  return [...found];
}

/** The same context where one fact cannot be read. */
export const withUnknown = <Context extends object>(context: Context, path: string): Context =>
  mapContext(context, (fact, each) =>
    each === path ? unknown('forbidden', `${path} is forbidden`) : fact,
  );
