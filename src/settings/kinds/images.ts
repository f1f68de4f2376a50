import {InvalidValue, type Kind} from './kind.ts';
import {text} from './texts.ts';

const IMAGE =
  /^[a-z0-9]+([._-][a-z0-9]+)*(:\d+)?(\/[a-z0-9]+(([._]|__|-+)[a-z0-9]+)*)*(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@sha256:[0-9a-f]{64})?$/i;

export const image = ({tagged = false} = {}): Kind<string> => {
  const kind = text({
    hint: 'IMAGE',
    pattern: IMAGE,
    expected: 'a valid image reference',
    example: 'registry.example.com/team/agent:1.4.0',
  });
  return {
    ...kind,
    parse(raw, context) {
      const value = kind.parse(raw, context);
      const {tag, digest} = splitImage(value);
      if (tagged && tag === undefined)
        throw new InvalidValue(`"${value}" has no tag`, `Add a tag, for example ${value}:1.0.0`);
      if (tag !== undefined && digest) {
        if (/:[^/@]+@/.test(value))
          throw new InvalidValue(
            `"${value}" has a tag and a digest, but the charts support only one of them`,
            `Use ${value.replace(/:[^/@]+@/, '@')}`,
          );
      }
      return value;
    },
  };
};

/** Repository and tag, which the charts join with a colon; a digest is split into `name@sha256` and its hex digits. */
export function splitImage(reference: string): {repository: string; tag?: string; digest: boolean} {
  const [, digested, hex] = /^(.*@sha256):([0-9a-f]{64})$/.exec(reference) ?? [];
  if (digested !== undefined && hex !== undefined)
    return {repository: digested, tag: hex, digest: true};
  const [, repository = reference, tag] = /^(.*?)(?::([^/:]+))?$/.exec(reference) ?? [];
  return tag === undefined ? {repository, digest: false} : {repository, tag, digest: false};
}

export const withoutRegistry = (reference: string, registry: string | undefined): string =>
  registry !== undefined && reference.startsWith(`${registry}/`)
    ? reference.slice(registry.length + 1)
    : reference;

/** True if the reference contains a registry: short names of docker.io have no dot and no port in the first part. */
export function namesRegistry(reference: string): boolean {
  const [first = '', ...rest] = reference.split('/');
  return rest.length > 0 && (/[.:]/.test(first) || first === 'localhost');
}

/** Media types of the manifest of an image, for one platform or several. */
export const MANIFEST_TYPES = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',

  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
];

/** Where a registry has the manifest of an image. Like Docker, only registries of this machine are asked without TLS. */
export function manifestUrl(reference: string): string {
  const [host = '', ...path] = reference.split('/');
  const {repository, tag = 'latest', digest} = splitImage(path.join('/'));
  const scheme = /^(localhost|127\.[\d.]+)(:\d+)?$/.test(host) ? 'http' : 'https';
  return `${scheme}://${host}/v2/${digest ? repository.replace('@sha256', '') : repository}/manifests/${digest ? `sha256:${tag}` : tag}`;
}

/** host[:port][/path] of an image registry. */
export const registry = (): Kind<string> => ({
  ...text(),
  hint: 'HOST[/PATH]',
  parse(raw) {
    const value = String(raw).trim();
    if (/^[a-z]+:\/\//.test(value))
      throw new InvalidValue(
        `"${value}" has a scheme`,
        `Did you mean ${value.replace(/^[a-z]+:\/\//, '')}?`,
      );
    const trimmed = value.replace(/\/+$/, '');
    if (!IMAGE.test(trimmed) || trimmed.includes('@') || !namesRegistry(`${trimmed}/`)) {
      throw new InvalidValue(
        `"${value}" is not an image registry`,
        'Example: registry.example.com/mirror',
      );
    }
    return trimmed;
  },
});
