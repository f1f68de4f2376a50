import {isBelow, isVersion} from '../../../charts/charts.ts';
import {pairsBelow} from '../../../cluster/kubernetes/pod-specs.ts';
import type {NodeObject} from '../../../cluster/platform/readings.ts';
import {changing} from '../../../ground/finding.ts';
import {few} from '../../../ground/text.ts';
import type {Values} from '../../../ground/tree.ts';
import {imageRegistry} from '../../../settings/images.ts';
import {withValue} from '../../../settings/spelling.ts';
import {chartPods} from '../facts/chart-pods.ts';
import {check} from './check.ts';
import {ifKnown, pass, warn} from './check-result.ts';

/** Since this version, CRI-O rejects names without a registry unless it is configured otherwise. */
const STRICT_CRIO = '1.34.0';

export const shortNames = check('Nodes', 'image-names', 'Image names with a registry', {
  ref: 'https://github.com/cri-o/cri-o/releases/tag/v1.34.0',
  run: (context) =>
    ifKnown(chartPods(context), 'render the chart', (pods) =>
      ifKnown(context.readings.nodes, 'list nodes', (nodes) => {
        const short = [...new Set(pods.flatMap(({spec}) => imagesIn(spec)))].filter(isShortName);
        const strict = nodes.filter(isStrictAboutNames).map(({metadata}) => metadata.name);
        if (short.length === 0) return pass('Every image name has a registry');
        if (strict.length === 0) return pass('No node rejects image names without a registry');
        return warn(
          `CRI-O on ${few(strict)} rejects image names without a registry: ${few(short)}`,
          changing`Use ${withValue(imageRegistry, 'docker.io')}`,
        );
      }),
    ),
});

/** Of containers, and of volumes that are images. */
const imagesIn = (spec: Values): string[] =>
  pairsBelow(spec).flatMap(([key, value]) =>
    (key === 'image' || key === 'reference') && typeof value === 'string' ? [value] : [],
  );

/** The first part of a full name is a host: docker.io, localhost:5000 */
const isShortName = (image: string): boolean =>
  !image.includes('/') || !/[.:]|^localhost$/.test(image.slice(0, image.indexOf('/')));

function isStrictAboutNames({status}: NodeObject): boolean {
  const [, version = ''] =
    /^cri-o:\/\/(.+)$/.exec(status?.nodeInfo?.containerRuntimeVersion ?? '') ?? [];
  return isVersion(version) && !isBelow(version, STRICT_CRIO);
}
