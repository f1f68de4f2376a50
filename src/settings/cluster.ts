import {defineSetting} from './define.ts';
import {choice} from './kinds.ts';

export const cloud = defineSetting({
  id: 'cloud',
  group: 'Cluster',
  question: 'Where does the cluster run?',
  summary: 'Kubernetes platform. Determines node paths and platform-specific checks.',
  kind: choice(['gke', 'gke-autopilot', 'eks', 'aks', 'openshift', 'other']),
  explained: {
    text: 'Determines which node directories are writable and which volume types are forbidden.',
    reference: 'agent-k8s 0.6.5, README',
  },
  labels: {gke: 'GKE', 'gke-autopilot': 'GKE Autopilot', eks: 'EKS', aks: 'AKS', openshift: 'OpenShift', other: 'Other'},
  meanings: {
    gke: 'Google Kubernetes Engine, Standard',
    'gke-autopilot': 'Google Kubernetes Engine; no hostPath volumes',
    eks: 'Amazon Elastic Kubernetes Service',
    aks: 'Azure Kubernetes Service',
    openshift: 'Red Hat OpenShift; root and hostPath need an SCC',
    other: 'other or unknown',
  },
});

export const nodeOs = defineSetting({
  id: 'node-os',
  group: 'Cluster',
  question: 'Operating system of the nodes',
  summary: 'Operating system of the nodes; determines node paths.',
  kind: choice(['cos', 'al2', 'al2023', 'bottlerocket', 'ubuntu', 'other']),
  explained: {
    text: 'Determines which node directories are writable and allow execution of programs.',
    reference: 'agent-k8s 0.6.5, README',
  },
  meanings: {
    cos: 'Container-Optimized OS, the default on GKE',
    al2: 'Amazon Linux 2',
    al2023: 'Amazon Linux 2023',
    bottlerocket: 'Bottlerocket',
    ubuntu: 'Ubuntu',
    other: 'other or unknown',
  },
});
