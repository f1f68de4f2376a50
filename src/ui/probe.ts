import type {Values} from '../charts/tree.ts';
import type {ProbeObjects} from '../cluster/probe.ts';
import {maskSecrets} from '../errors.ts';
import {toYaml} from '../values/yaml.ts';

/** What a probe would make, as manifests without passwords. */
export const probeText = ({objects}: ProbeObjects): string =>
  objects
    .map((object, index) => maskSecrets(toYaml(object as unknown as Values, {header: index === 0 ? HEADER : []})))
    .map((text) => `---\n${text}`)
    .join('');

const HEADER = ['What --probe makes and removes again'];
