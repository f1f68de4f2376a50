import type {ChartName} from '../../charts/schema.ts';
import type {Edit} from '../yaml-text.ts';

/** A release in a file of another engine: its chart, its version and its inline values. */
export interface EmbeddedRelease {
  kind: string;
  chart: ChartName;
  version: string | undefined;
  /** The values as a file of their own; undefined if the release has none inline. */
  values: string | undefined;
  /** Values come from other places too. */
  hasOtherValues: boolean;
  /** Names of single values that are set beside the inline values and override them. */
  parameters: readonly string[];
  /** The edits that write another chart, version and values. */
  edits(chart: ChartName, version: string, values: string | undefined): Edit[];
}
