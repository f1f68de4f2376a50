/** Where in which cluster; what is absent is the operator's own default. */
export interface Place {
  kubeconfig?: string;
  kubeContext?: string;
  namespace: string;
}

/** A Helm release, and where it is. */
export interface ReleaseName {
  release: string;
  place: Place;
}
