import {commandLine} from '../../ground/command-line.ts';
import {namesRegistry} from '../../settings/kinds/images.ts';

/** An image and its copy. */
export interface Copy {
  image: string;
  mirror: string;
  digest?: string;
}

/** Tools that copy images between registries. */
export const COPY_TOOLS = ['skopeo', 'crane', 'docker'] as const;
export type CopyTool = (typeof COPY_TOOLS)[number];

/** Commands that copy the images. Docker cannot push a digest, so it has no command for an image without a tag. */
export const copyCommands = (copies: readonly Copy[]): Record<CopyTool, string[]> => ({
  skopeo: copies.map(({image, mirror}) =>
    line('skopeo', 'copy', '--all', `docker://${withRegistry(image)}`, `docker://${mirror}`),
  ),
  crane: copies.map(({image, mirror}) => line('crane', 'copy', image, mirror)),
  docker: copies
    .filter(({digest}) => digest === undefined)
    .flatMap(({image, mirror}) => [
      line('docker', 'pull', image),
      line('docker', 'tag', image, mirror),
      line('docker', 'push', mirror),
    ]),
});

const line = (tool: string, ...args: readonly string[]): string => commandLine({tool, args});

/** skopeo has no default registry. */
const withRegistry = (image: string): string =>
  namesRegistry(image) ? image : `docker.io/${image}`;

interface Layout {
  title: string;
  copies: readonly {image: string; path: string}[];
  /** Default of the registry. */
  registry: string | undefined;
}

/** A shell script that saves the images to an OCI layout directory on one machine, and pushes them to a registry from another one. */
export function layoutScript({title, copies, registry}: Layout): string {
  const table = copies.map(({image, path}) => `${withRegistry(image)} ${path}`);
  return `#!/bin/sh
# Copies the ${title} through a directory. Requires skopeo.
#   With internet access:  sh images.sh save DIRECTORY
#   In the other network:  sh images.sh push DIRECTORY ${registry === undefined ? 'REGISTRY' : `[REGISTRY]   (default: ${registry})`}
# The copies have the same names and platforms. An image with a digest keeps it, in a directory of its own.
# SKOPEO_FLAGS contains more flags, for example --dest-creds USER:PASSWORD or --dest-tls-verify=false.
set -eu

images='
${table.join('\n')}
'

copy() {
  # shellcheck disable=SC2086
  skopeo copy --all \${SKOPEO_FLAGS-} "$1" "$2"
}

# An OCI layout can change digests.
layout() {
  case "$1" in
  *@*) mkdir -p "$directory/$1" && echo "dir:$directory/$1" ;;
  *) echo "oci:$directory:$1" ;;
  esac
}

case "\${1-}" in
save)
  directory=\${2:?Set the directory}
  echo "$images" | while read -r image path; do
    [ -z "$image" ] || copy "docker://$image" "$(layout "$path")" </dev/null
  done
  ;;
push)
  directory=\${2:?Set the directory}
  registry=\${3${registry === undefined ? ':?Set the registry' : `:-${registry}`}}
  echo "$images" | while read -r image path; do
    [ -z "$image" ] || copy "$(layout "$path")" "docker://$registry/$path" </dev/null
  done
  ;;
*)
  sed -n '2,6s/^# *//p' "$0" >&2
  exit 2
  ;;
esac
`;
}
