import {defineSetting, type Setting, spellings} from './define.ts';
import {choice} from './kinds/texts.ts';

/** Distributions without node paths or checks of their own. */
const OTHER_DISTRIBUTIONS =
  'k3s k3d rke rke2 kind minikube microk8s k0s talos kubeadm on-prem vanilla none'.split(' ');

export const cloud = defineSetting('Cluster', 'cloud', {
  question: 'Where does the cluster run?',
  summary: 'Kubernetes platform. Determines node paths and platform-specific checks.',
  kind: choice(['gke', 'gke-autopilot', 'eks', 'aks', 'openshift', 'other']),
  meant: spellings({
    aws: 'eks',
    amazon: 'eks',
    azure: 'aks',
    gcp: 'gke',
    google: 'gke',
    autopilot: 'gke-autopilot',
    ocp: 'openshift',
    ...Object.fromEntries(OTHER_DISTRIBUTIONS.map((name) => [name, 'other'])),
  }),
  explained: 'Determines which node directories are writable and which volume types are forbidden.',
  reference: 'agent-k8s 0.6.5, README',
  labels: {
    gke: 'GKE',
    'gke-autopilot': 'GKE Autopilot',
    eks: 'EKS',
    aks: 'AKS',
    openshift: 'OpenShift',
    other: 'Other',
  },
  meanings: {
    gke: 'Google Kubernetes Engine, Standard',
    'gke-autopilot': 'Google Kubernetes Engine; no hostPath volumes',
    eks: 'Amazon Elastic Kubernetes Service',
    aks: 'Azure Kubernetes Service',
    openshift: 'Red Hat OpenShift; root and hostPath need an SCC',
    other: 'other or unknown',
  },
});

export const nodeOs = defineSetting('Cluster', 'node-os', {
  question: 'Operating system of the nodes',
  summary: 'Operating system of the nodes; determines node paths.',
  kind: choice(['cos', 'al2', 'al2023', 'bottlerocket', 'ubuntu', 'other']),
  meant: spellings({
    'cos-containerd': 'cos',
    'container-optimized-os': 'cos',
    'ubuntu-containerd': 'ubuntu',
    ubuntu2204: 'ubuntu',
    ubuntu2404: 'ubuntu',

    amazonlinux2: 'al2',
    'amazon-linux-2': 'al2',
    amazonlinux2023: 'al2023',
    'amazon-linux-2023': 'al2023',
  }),
  explained: 'Determines which node directories are writable and allow execution of programs.',
  reference: 'agent-k8s 0.6.5, README',
  meanings: {
    cos: 'Container-Optimized OS, the default on GKE',
    al2: 'Amazon Linux 2',
    al2023: 'Amazon Linux 2023',
    bottlerocket: 'Bottlerocket',
    ubuntu: 'Ubuntu',
    other: 'other or unknown',
  },
});

export const clusterSettings: readonly Setting[] = [cloud, nodeOs];
