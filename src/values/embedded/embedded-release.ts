import type {ChartName} from '../../charts/releases/chart-name.ts';
import type {Target} from '../../charts/releases/target.ts';
import type {SourceProblem} from '../reading/finding.ts';
import type {TextEdit} from '../text-edits.ts';

/** A release in a file of another engine: its chart, its version and its inline values. */
export interface EmbeddedRelease {
  kind: string;
  chart: ChartName;
  version: string | undefined;
  /** Where the version stands, or what lacks it. */
  offset: number;
  /** Where it is installed, as far as the file says. */
  place: string;
  /** The values as a file of their own; undefined if the release has none inline. */
  values: string | undefined;
  /** The inline values at their lines and columns in the file, with blanks around them. */
  inPlace: string | undefined;
  /** Values files that the inline values override. */
  files: readonly string[];
  /** Values come from other places too. */
  hasOtherValues: boolean;
  /** Names of single values that are set beside the inline values and override them. */
  parameters: readonly string[];
  /** Problems of the file around the values. */
  problems: readonly SourceProblem[];
  /** The edits that write another chart, version and values. */
  edits(to: Target, values: string | undefined): TextEdit[];
}
