import {defineSetting} from './define.ts';
import {choice} from './kinds.ts';

export const cloud = defineSetting({
  id: 'cloud',
  group: 'Cluster',
  question: 'Where does the cluster run?',
  summary: 'Provider of the cluster; chooses node paths and checks what it forbids.',
  kind: choice(['gke', 'gke-autopilot', 'eks', 'aks', 'openshift', 'other']),
  explained: {
    text: 'It decides which directories of the nodes can be written to and which volumes the cluster forbids.',
    reference: 'agent-k8s 0.6.5, README',
  },
  meanings: {
    gke: 'Google Kubernetes Engine, Standard',
    'gke-autopilot': 'Google Kubernetes Engine, Autopilot: no volumes of the node',
    eks: 'Amazon Elastic Kubernetes Service',
    aks: 'Azure Kubernetes Service',
    openshift: 'Red Hat OpenShift: no root and no volumes of the node unless allowed',
    other: 'anything else, or not known',
  },
});

export const nodeOs = defineSetting({
  id: 'node-os',
  group: 'Cluster',
  question: 'Which system do the nodes run?',
  summary: 'Operating system of the nodes; chooses node paths.',
  kind: choice(['cos', 'al2', 'al2023', 'bottlerocket', 'ubuntu', 'other']),
  explained: {
    text: 'It decides which directories of the nodes are writable and allow programs to run.',
    reference: 'agent-k8s 0.6.5, README',
  },
  meanings: {
    cos: 'Container-Optimized OS, the usual one on GKE',
    al2: 'Amazon Linux 2',
    al2023: 'Amazon Linux 2023',
    bottlerocket: 'Bottlerocket',
    ubuntu: 'Ubuntu',
    other: 'anything else, or not known',
  },
});
