import {defineSetting} from './define.ts';
import {choice} from './kinds.ts';

export const cloud = defineSetting({
  id: 'cloud',
  group: 'Cluster',
  question: 'Where does the cluster run?',
  summary: 'Provider of the cluster; chooses node paths and checks what it forbids.',
  kind: choice(['gke', 'gke-autopilot', 'eks', 'aks', 'openshift', 'other']),
});

export const nodeOs = defineSetting({
  id: 'node-os',
  group: 'Cluster',
  question: 'Which system do the nodes run?',
  summary: 'Operating system of the nodes; chooses node paths.',
  kind: choice(['cos', 'al2', 'al2023', 'bottlerocket', 'ubuntu', 'other']),
});
