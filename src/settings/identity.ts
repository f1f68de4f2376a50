import {defineSetting} from './define.ts';
import {objectName} from './kinds.ts';
import {annotations} from './lists.ts';

export const serviceAccountName = defineSetting({
  id: 'service-account-name',
  group: 'Identity',
  question: 'Existing service account',
  summary: 'Existing service account; together with --service-account-annotation the chart creates it under this name.',
  kind: objectName(),
});

export const serviceAccountAnnotation = defineSetting({
  id: 'service-account-annotation',
  group: 'Identity',
  question: 'Annotation of the service account',
  summary: 'Annotation of the service account that the chart creates, for cloud identities; may be repeated.',
  kind: annotations(),
});
