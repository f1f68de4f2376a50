import type {ChartName} from '../../charts/releases/chart-name.ts';
import {type KeyFinding, type KeySubject, remediesOf} from '../../ground/finding.ts';
import type {ValuesFile} from '../../settings/chart-values.ts';
import {quote} from '../../settings/settings.ts';
import {readSource, type ValuesReading} from '../reading/source.ts';

/** A file, and how its values are read if they are only a part of it. */
export interface CheckedFile extends ValuesFile {
  read?: ValuesReading;
}

/** What Helm reads from the values of the file. */
export const readOf = ({text, read}: CheckedFile): ValuesReading => read ?? readSource(text);

/** The release of another tool, such as Flux, that has the values. */
export interface ReleaseOfGroup {
  kind: string;
  chart: ChartName;
  /** Undefined if it is unknown. */
  version: string | undefined;
  /** Where a version comes from that is not in the file. */
  because?: string | undefined;
  /** Why its version is unknown, so that nothing can be checked. */
  unknown?: UncheckedReason | undefined;
  /** The resource in a plan; findings name it, because they have no lines. */
  address?: string;
  /** Problems of the file around the values. */
  around: readonly KeyFinding[];
  /** Places of its values that could not be read, so that nothing is known to be missing. */
  unread: readonly string[];
}

/** Files that are checked together: a single file, or several that Helm merges. */
export interface FileGroup {
  files: readonly CheckedFile[];
  areLayers: boolean;
  release?: ReleaseOfGroup;
  /** All findings of a file whose values are not checked. */
  around?: readonly KeyFinding[];
}

const namesOf = ({files}: FileGroup): string[] => [...new Set(files.map(({file}) => file))];

export const groupName = (group: FileGroup): string => namesOf(group).join(' + ');

/** The file a finding is shown in: the one that wrote the value, or the last one for something missing. */
export const fileOf = ({files}: FileGroup, subject?: KeySubject): string =>
  subject?.file ?? (files.at(-1)?.file as string);

/** Why a file was not checked, and the command that checks it. */
export interface UncheckedReason {
  reason: string;
  command: string;
}

export const uncheckedFile = (file: string, {reason, command}: UncheckedReason): KeyFinding => ({
  code: 'UNCHECKED_FILE',
  verdict: 'unknown',
  subject: {path: '', file},
  message: `${reason.replace(/^[a-z]/, (letter) => letter.toUpperCase())}.`,
  remedies: remediesOf(command),
});

/** A release whose chart version is not known; a given version is used for it. */
export const whyUnknownVersion = (
  file: string,
  reason: string,
  version = 'VERSION',
): UncheckedReason => ({
  reason,
  command: `scalr-agent validate ${quote(file)} --chart-version ${version}`,
});
