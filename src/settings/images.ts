import {defineSetting, type Get, type Setting} from './define.ts';
import {image, namesRegistry, registry} from './kinds/images.ts';
import {InvalidValue} from './kinds/kind.ts';
import {listOf} from './kinds/lists.ts';
import {choice, objectName} from './kinds/texts.ts';

export const imageRegistry = defineSetting('Images', 'image-registry', {
  question: 'Image registry mirror',
  summary: 'Image registry mirror; prepended to every image name.',
  kind: registry(),
});

export const imagePullPolicy = defineSetting('Images', 'image-pull-policy', {
  question: 'Image pull policy',
  kind: choice(['Always', 'IfNotPresent', 'Never']),
});

export const imagePullSecret = defineSetting('Images', 'image-pull-secret', {
  question: 'Image pull secret',
  kind: listOf(objectName()),
});

const ownRegistry = (value: string, get: Get): InvalidValue | undefined =>
  get(imageRegistry) !== undefined && namesRegistry(value)
    ? new InvalidValue(
        `"${value}" already contains a registry, and the image registry would be prepended`,
        'Remove one of the two',
      )
    : undefined;

export const agentImage = defineSetting('Images', 'agent-image', {
  question: 'Agent image',
  summary: 'Agent image; the default tag is the agent version of the chart.',
  kind: image(),
  rule: ownRegistry,
});

export const runnerImage = defineSetting('Images', 'runner-image', {
  isForRuns: true,
  question: 'Runner image',
  summary: 'Runner image, including its tag.',
  kind: image({tagged: true}),
  rule: ownRegistry,
});

export const imageSettings: readonly Setting[] = [
  imageRegistry,
  imagePullPolicy,
  imagePullSecret,
  agentImage,
  runnerImage,
];
