import {type Screen, theme} from '../../ui/theme.ts';
import type {InstallImages} from '../../values/images.ts';
import {COPY_TOOLS, type CopyTool} from './mirror.ts';

/** The images of an install, the commands that copy them, and the install with these flags, which uses the copies. */
export function imagesText(
  {chart, chartVersion, agentVersion, registry, images}: InstallImages,
  commands: Record<CopyTool, string[]> | undefined,
  use: {steps: readonly string[]; notes: readonly string[]},
  screen: Screen,
): string {
  const {bold, dim} = theme(screen);
  const width = Math.max(...images.map(({image}) => image.length));
  const list = [
    bold(`Images of ${chart} ${chartVersion} (agent ${agentVersion})`),
    ...images.map(({image, used}) => `  ${image.padEnd(width)}  ${dim(used.join(', '))}`),
  ];
  if (registry === undefined || commands === undefined) return `${list.join('\n')}\n`;
  const copies = COPY_TOOLS.flatMap((tool) =>
    commands[tool].length === 0
      ? []
      : [
          '',
          bold(
            `Copy them to ${registry} with ${tool}${tool === 'docker' ? ' (only the platform of this machine, and no digests)' : ''}`,
          ),
          ...commands[tool].map((each) => `  ${each}`),
        ],
  );
  const {steps, notes} = use;
  const used =
    notes.length > 0 ? notes : [bold('Use the copies'), ...steps.map((each) => `  ${each}`)];
  return `${[...list, ...copies, '', ...used].join('\n')}\n`;
}
