import type {ScalrRelease} from '../../../cluster/platform/cluster-facts.ts';
import {mapped} from '../../../ground/fact.ts';
import type {PreflightContext} from '../facts/context.ts';

export const RELEASES = 'list Helm releases';

export const isThisRelease = (
  release: {name: string; namespace: string},
  {name}: PreflightContext,
): boolean => release.name === name.release && release.namespace === name.kubeTarget.namespace;

export const otherReleases = (context: PreflightContext, chart: ScalrRelease['chart']) =>
  mapped(context.facts.releases, ({scope, releases}) => ({
    scope,
    others: releases.filter((each) => each.chart === chart && !isThisRelease(each, context)),
  }));

/** Why releases of other namespaces are unknown. */
export const onlyOfNamespace = (context: PreflightContext): string =>
  `your user can only list releases of namespace ${context.name.kubeTarget.namespace}`;
