import type {Check} from '../check.ts';
import {probeMetadata} from './probe/metadata.ts';
import {probePod} from './probe/pod.ts';
import {probeScalr} from './probe/scalr.ts';
import {probeVolume} from './probe/volume.ts';

/** What a pod found out where runs will be; nothing where nobody asked for one. */
export const probeChecks: readonly Check[] = [probePod, probeScalr, probeVolume, probeMetadata];
