import {defineSetting, type Setting} from './define.ts';
import {annotations} from './kinds/lists.ts';
import {objectName} from './kinds/texts.ts';

export const serviceAccountName = defineSetting('Identity', 'service-account-name', {
  question: 'Existing service account',
  summary: 'Existing service account. With --service-account-annotation, the chart creates it.',
  kind: objectName(),
});

export const serviceAccountAnnotation = defineSetting('Identity', 'service-account-annotation', {
  question: 'Annotation of the service account',
  summary: 'Annotation of the service account that the chart creates, for cloud identities.',
  kind: annotations(),
});

export const identitySettings: readonly Setting[] = [serviceAccountName, serviceAccountAnnotation];
