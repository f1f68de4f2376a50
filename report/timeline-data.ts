/** What happened at one moment. */
export interface Mark {
  /** Milliseconds. */
  at: number;
  lane: string;
  kind: MarkKind;
  text: string;
  /** File of the bundle that shows it. */
  file: string;
  line?: number;
}

/** Kinds of marks, with their names. */
export const MARK_KINDS = {
  release: 'Release',
  restart: 'Restart',
  failure: 'Container failed',
  oom: 'OOM kill',
  eviction: 'Eviction',
  probe: 'Probe failure',
  warning: 'Warning',
  skew: 'Clock skew',
  gap: 'Gap in the recording',
} as const;
export type MarkKind = keyof typeof MARK_KINDS;

/** A pod, a release or another object over time. */
export interface Lane {
  id: string;
  group: (typeof LANE_GROUPS)[number];
  from?: number;
  to?: number;
  /** The pod has failed. */
  isFailed?: boolean;
}

export const LANE_GROUPS = ['Releases', 'Controllers', 'Workers', 'Runs', 'Other objects'] as const;

export interface Timeline {
  /** By group and name. */
  lanes: readonly Lane[];
  /** By time. */
  marks: readonly Mark[];
  from: number;
  to: number;
}

/** Files that a timeline is made of. */
export const isOfTimeline = (name: string): boolean =>
  /^(gone\/)?(objects\/pod\/.*\.json|events\.txt)$|^releases\/[^/]+\/history\.json$|^(findings|errors)\.json$|^SUMMARY\.md$/.test(
    name,
  );

type Json = Readonly<Record<string, unknown>> | undefined;
const at = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce((inner, key) => (inner as Json)?.[key], value);
const text = (value: unknown, ...path: readonly string[]): string => {
  const found = at(value, ...path);
  return typeof found === 'string' || typeof found === 'number' ? String(found) : '';
};
const list = (value: unknown, ...path: readonly string[]): unknown[] => {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
};

/** Lanes and marks of the files of a bundle, which are untrusted. Pure. */
export function timelineOf(files: ReadonlyMap<string, string>): Timeline {
  const lanes = new Map<string, Lane>();
  const marks: Mark[] = [];
  const add = (mark: Mark): void => void (Number.isNaN(mark.at) || marks.push(mark));
  const lane = (id: string, group: Lane['group']): string => {
    if (!lanes.has(id)) lanes.set(id, {id, group});
    return id;
  };
  const summary = files.get('SUMMARY.md') ?? '';
  const made = Date.parse(/^Created (\S+) by /m.exec(summary)?.[1] ?? '');
  for (const [file, content] of files) {
    if (file.includes('objects/pod/')) addPod(file, parsed(content), made, lanes, add);
    const release = /^releases\/([^/]+)\/history\.json$/.exec(file)?.[1];
    for (const [index, revision] of release === undefined ? [] : list(parsed(content)).entries()) {
      add({
        at: Date.parse(text(revision, 'updated')),
        lane: lane(`release/${release}`, 'Releases'),
        kind: 'release',
        text: `Revision ${text(revision, 'revision')}: ${text(revision, 'chart')}, ${text(revision, 'status')}. ${text(revision, 'description')}`.trim(),
        file,
        line: lineOf(content, '"revision"', index),
      });
    }
  }
  for (const file of ['events.txt', 'gone/events.txt']) {
    for (const [index, event] of (files.get(file) ?? '').split('\n').entries()) {
      const [time = '', type, about = '', reason = '', ...message] = event.split('  ');
      if (type !== 'Warning') continue;
      const id = about.replace(/^Pod\//, 'pod/');
      const where = lane(
        id,
        about.startsWith('Pod/') || about.startsWith('Job/') ? groupOf(about, '') : 'Other objects',
      );
      add({
        at: Date.parse(time),
        lane: where,
        kind: kindOf(reason),
        text: `${reason}: ${message.join('  ')}`,
        file,
        line: index + 1,
      });
    }
  }
  for (const finding of list(parsed(files.get('findings.json')))) {
    if (text(finding, 'code') !== 'CLOCK_SKEW') continue;
    const where = lane(text(finding, 'object'), 'Other objects');
    add({
      at: made,
      lane: where,
      kind: 'skew',
      text: text(finding, 'message'),
      file: 'findings.json',
    });
  }
  const gaps = [
    ...list(parsed(files.get('errors.json'))).map((missing) => ({
      file: 'errors.json',

      time: text(missing, 'at'),
      what: text(missing, 'what'),
      message: text(missing, 'message'),
    })),
    ...[...summary.matchAll(/^- (logs\/\S+): (\d+ bytes cut from the middle) after (\S+),/gm)].map(
      ([, what = '', message = '', time = '']) => ({file: 'SUMMARY.md', time, what, message}),
    ),
  ];
  for (const {file, time, what, message} of gaps) {
    if (time === '') continue;
    const pod = /^logs\/([^/]+)\//.exec(what)?.[1];
    const where =
      pod === undefined ? lane(what, 'Other objects') : lane(`pod/${pod}`, groupOf(pod, ''));
    add({at: Date.parse(time), lane: where, kind: 'gap', text: `${what}: ${message}`, file});
  }
  const ordered = marks
    .map((mark, index) => ({mark, index}))
    .toSorted((one, other) => one.mark.at - other.mark.at || one.index - other.index);
  return {
    lanes: [...lanes.values()].toSorted(
      (one, other) =>
        LANE_GROUPS.indexOf(one.group) - LANE_GROUPS.indexOf(other.group) ||
        one.id.localeCompare(other.id),
    ),
    marks: ordered.map(({mark}) => mark),
    ...spanOf([
      ...marks.map((mark) => mark.at),
      ...[...lanes.values()].flatMap(({from = Number.NaN, to = Number.NaN}) => [from, to]),
      made,
    ]),
  };
}

function parsed(content: string | undefined): unknown {
  try {
    return JSON.parse(content ?? '');
  } catch {
    return undefined;
  }
}

function addPod(
  file: string,
  pod: unknown,
  made: number,
  lanes: Map<string, Lane>,
  add: (mark: Mark) => void,
): void {
  const name = text(pod, 'metadata', 'name');
  if (name === '') return;
  const id = `pod/${name}`;
  const statuses = [
    'initContainerStatuses',
    'containerStatuses',
    'ephemeralContainerStatuses',
  ].flatMap((key) => list(pod, 'status', key));
  const ends = statuses
    .map((status) => Date.parse(text(status, 'state', 'terminated', 'finishedAt')))
    .filter((end) => !Number.isNaN(end));
  const phase = text(pod, 'status', 'phase');
  const from = Date.parse(
    text(pod, 'status', 'startTime') || text(pod, 'metadata', 'creationTimestamp'),
  );
  const to = ['Succeeded', 'Failed'].includes(phase) && ends.length > 0 ? Math.max(...ends) : made;
  lanes.set(id, {
    id,
    group: groupOf(name, Object.values((at(pod, 'metadata', 'labels') as Json) ?? {}).join(' ')),
    ...(Number.isNaN(from) || Number.isNaN(to) ? {} : {from, to}),
    isFailed: phase === 'Failed',
  });
  if (text(pod, 'status', 'reason') === 'Evicted')
    add({
      at: ends[0] ?? from,
      lane: id,
      kind: 'eviction',
      text: text(pod, 'status', 'message') || 'Evicted',
      file,
    });
  for (const status of statuses) {
    for (const key of ['lastState', 'state']) {
      const ended = at(status, key, 'terminated');
      const reason = text(ended, 'reason');
      const exitCode = text(ended, 'exitCode');
      if (ended === undefined || ended === null || (key === 'state' && exitCode === '0')) continue;
      add({
        at: Date.parse(text(ended, 'finishedAt')),
        lane: id,
        kind: reason === 'OOMKilled' ? 'oom' : key === 'state' ? 'failure' : 'restart',
        text: `Container ${text(status, 'name')}: ${reason || 'ended'}, exit code ${exitCode}, restarts: ${text(status, 'restartCount') || 0}`,
        file,
      });
    }
  }
}

function groupOf(name: string, labels: string): Lane['group'] {
  if (/(^|[-/])(run|atask)-/.test(name) || /\btask\b/.test(labels)) return 'Runs';
  return /controller/.test(`${name} ${labels}`) ? 'Controllers' : 'Workers';
}

const kindOf = (reason: string): MarkKind =>
  reason === 'Unhealthy'
    ? 'probe'
    : /^Evict/.test(reason)
      ? 'eviction'
      : /OOM/.test(reason)
        ? 'oom'
        : 'warning';

/** 1-based line of the nth line with this text. */
function lineOf(content: string, wanted: string, nth: number): number {
  let found = -1;
  for (let count = 0; count <= nth; count += 1) found = content.indexOf(wanted, found + 1);
  return content.slice(0, found).split('\n').length;
}

function spanOf(times: readonly number[]): {from: number; to: number} {
  const known = times.filter((time) => !Number.isNaN(time));
  if (known.length === 0) return {from: 0, to: 1};
  const from = known.reduce((one, other) => Math.min(one, other));
  const to = known.reduce((one, other) => Math.max(one, other));
  return {from, to: Math.max(to, from + 1000)};
}

/** The timeline in the Trace Event format, which Perfetto and Chrome open. Pure. */
export function traceOf({lanes, marks}: Timeline): object {
  const idOf = new Map(lanes.map(({id}, index) => [id, index + 1]));
  const groupOfLane = new Map(lanes.map(({id, group}) => [id, LANE_GROUPS.indexOf(group) + 1]));
  const place = (lane: string) => ({pid: groupOfLane.get(lane) ?? 0, tid: idOf.get(lane) ?? 0});
  return {
    displayTimeUnit: 'ms',
    traceEvents: [
      ...LANE_GROUPS.map((name, index) => ({
        ph: 'M',
        name: 'process_name',
        pid: index + 1,
        tid: 0,
        args: {name},
      })),
      ...lanes.map(({id}) => ({ph: 'M', name: 'thread_name', ...place(id), args: {name: id}})),
      ...lanes.flatMap(({id, from, to}) =>
        from === undefined || to === undefined
          ? []
          : [
              {
                ph: 'X',
                name: id,
                cat: 'pod',
                ts: from * 1000,
                dur: Math.max(0, to - from) * 1000,
                ...place(id),
                args: {},
              },
            ],
      ),
      ...marks.map(({at, lane, kind, text, file, line}) => ({
        ph: 'i',
        s: 't',
        name: MARK_KINDS[kind],
        cat: kind,
        ts: at * 1000,
        ...place(lane),
        args: {text, file, ...(line === undefined ? {} : {line})},
      })),
    ],
  };
}
