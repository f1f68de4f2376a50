/** Where in which cluster; what is absent is the operator's own default. */
export interface Place {
  kubeconfig?: string;
  kubeContext?: string;
  namespace: string;
}
