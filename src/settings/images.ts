import {image, namesRegistry, registry} from './addresses.ts';
import {defineSetting, type Get, InvalidValue} from './define.ts';
import {objectName} from './kinds.ts';
import {listOf} from './lists.ts';

export const imageRegistry = defineSetting({
  id: 'image-registry',
  group: 'Images',
  question: 'Registry that mirrors the images',
  summary: 'Registry that mirrors the images; it is put in front of every one.',
  kind: registry(),
});

export const imagePullSecret = defineSetting({
  id: 'image-pull-secret',
  group: 'Images',
  question: 'Secret for pulling images',
  summary: 'Secret for pulling images; may be repeated.',
  kind: listOf(objectName()),
});

const ownRegistry = (value: string, get: Get): InvalidValue | undefined =>
  get(imageRegistry) !== undefined && namesRegistry(value)
    ? new InvalidValue(`"${value}" names a registry and --image-registry would be put in front of it`, 'Leave out one of the two')
    : undefined;

export const agentImage = defineSetting({
  id: 'agent-image',
  group: 'Images',
  question: 'Image of the agent',
  summary: 'Image of the agent; without a tag the one the chart was tested with.',
  kind: image(),
  rule: ownRegistry,
});

export const runnerImage = defineSetting({
  id: 'runner-image',
  group: 'Images',
  question: 'Image that runs execute in',
  summary: 'Image that runs execute in, with its tag.',
  kind: image({tagged: true}),
  rule: ownRegistry,
});
