import type {Finding} from '../findings/finding.ts';
import type {Gap} from '../read-namespace.ts';

/** Takes secrets out of a text. */
type Clean = (text: string) => string;

// One by one: in a sentence made of several, the name of a file such as token.log would hide what comes after its colon.

export const cleanFinding = (finding: Finding, clean: Clean): Finding => ({
  ...finding,
  object: clean(finding.object),
  message: clean(finding.message),
  remedy: clean(finding.remedy),
  ...(finding.evidence === undefined ? {} : {evidence: clean(finding.evidence)}),
});

export const cleanGap = ({what, trouble, ...gap}: Gap, clean: Clean): Gap => ({
  ...gap,
  what: clean(what),
  trouble: {...trouble, message: clean(trouble.message)},
});
