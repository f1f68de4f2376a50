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
  const reader = new TimelineReader(files);
  reader.read();
  return reader.timeline();
}

class TimelineReader {
  readonly #files: ReadonlyMap<string, string>;
  /** When the bundle was made. */
  readonly #made: number;
  readonly #lanes = new Map<string, Lane>();
  readonly #marks: Mark[] = [];

  constructor(files: ReadonlyMap<string, string>) {
    this.#files = files;
    this.#made = Date.parse(/^Created (\S+) by /m.exec(files.get('SUMMARY.md') ?? '')?.[1] ?? '');
  }

  read(): void {
    for (const [file, content] of this.#files) {
      const release = /^releases\/([^/]+)\/history\.json$/.exec(file)?.[1];
      if (file.includes('objects/pod/')) this.#addPod(file, parsed(content));
      else if (release !== undefined) this.#addReleases(release, file, content);
    }
    for (const file of ['events.txt', 'gone/events.txt']) this.#addEvents(file);
    this.#addSkew();
    this.#addMissing();
  }

  timeline(): Timeline {
    const lanes = [...this.#lanes.values()].toSorted(
      (one, other) =>
        LANE_GROUPS.indexOf(one.group) - LANE_GROUPS.indexOf(other.group) ||
        one.id.localeCompare(other.id),
    );
    const marks = this.#marks.toSorted((one, other) => one.at - other.at);
    const ends = lanes.flatMap(({from = Number.NaN, to = Number.NaN}) => [from, to]);
    return {lanes, marks, ...spanOf([...marks.map((mark) => mark.at), ...ends, this.#made])};
  }

  #addMark(mark: Mark): void {
    if (!Number.isNaN(mark.at)) this.#marks.push(mark);
  }

  #lane(id: string, group: Lane['group']): string {
    if (!this.#lanes.has(id)) this.#lanes.set(id, {id, group});
    return id;
  }

  #addReleases(release: string, file: string, content: string): void {
    for (const [index, revision] of list(parsed(content)).entries()) {
      const what = `${text(revision, 'chart')}, ${text(revision, 'status')}. ${text(revision, 'description')}`;
      this.#addMark({
        at: Date.parse(text(revision, 'updated')),
        lane: this.#lane(`release/${release}`, 'Releases'),
        kind: 'release',
        text: `Revision ${text(revision, 'revision')}: ${what}`.trim(),
        file,
        line: lineOf(content, '"revision"', index),
      });
    }
  }

  #addEvents(file: string): void {
    for (const [index, event] of (this.#files.get(file) ?? '').split('\n').entries()) {
      const [time = '', type, about = '', reason = '', ...message] = event.split('  ');
      if (type !== 'Warning') continue;
      const isOfPods = /^(?:Pod|Job)\//.test(about);
      this.#addMark({
        at: Date.parse(time),
        lane: this.#lane(
          about.replace(/^Pod\//, 'pod/'),
          isOfPods ? groupOf(about) : 'Other objects',
        ),
        kind: kindOf(reason),
        text: `${reason}: ${message.join('  ')}`,
        file,
        line: index + 1,
      });
    }
  }

  #addSkew(): void {
    const file = 'findings.json';
    for (const finding of list(parsed(this.#files.get(file)))) {
      if (text(finding, 'code') !== 'CLOCK_SKEW') continue;
      const lane = this.#lane(text(finding, 'subject', 'object'), 'Other objects');
      this.#addMark({at: this.#made, lane, kind: 'skew', text: text(finding, 'message'), file});
    }
  }

  #addMissing(): void {
    const file = 'errors.json';
    for (const missing of list(parsed(this.#files.get(file)))) {
      const time = text(missing, 'at');
      const what = text(missing, 'subject', 'object');
      if (time !== '') this.#addGap(time, what, text(missing, 'message'), file);
    }
  }

  #addGap(time: string, what: string, message: string, file: string): void {
    const pod = /^logs\/([^/]+)\//.exec(what)?.[1];
    const lane =
      pod === undefined
        ? this.#lane(what, 'Other objects')
        : this.#lane(`pod/${pod}`, groupOf(pod));
    this.#addMark({at: Date.parse(time), lane, kind: 'gap', text: `${what}: ${message}`, file});
  }

  #addPod(file: string, pod: unknown): void {
    const name = text(pod, 'metadata', 'name');
    if (name === '') return;
    const lane = `pod/${name}`;
    const statuses = STATUSES.flatMap((key) => list(pod, 'status', key));
    const ends = statuses
      .map((status) => Date.parse(text(status, 'state', 'terminated', 'finishedAt')))
      .filter((end) => !Number.isNaN(end));
    const phase = text(pod, 'status', 'phase');
    const hasEnded = ['Succeeded', 'Failed'].includes(phase) && ends.length > 0;
    const from = Date.parse(
      text(pod, 'status', 'startTime') || text(pod, 'metadata', 'creationTimestamp'),
    );
    const to = hasEnded ? Math.max(...ends) : this.#made;
    const labels = Object.values((at(pod, 'metadata', 'labels') as Json) ?? {}).join(' ');
    this.#lanes.set(lane, {
      id: lane,
      group: groupOf(name, labels),
      ...(Number.isNaN(from) || Number.isNaN(to) ? {} : {from, to}),
      isFailed: phase === 'Failed',
    });
    if (text(pod, 'status', 'reason') === 'Evicted') {
      const message = text(pod, 'status', 'message') || 'Evicted';
      this.#addMark({at: ends[0] ?? from, lane, kind: 'eviction', text: message, file});
    }
    for (const status of statuses) this.#addEnds(lane, status, file);
  }

  /** The end of a container, and the end before its last restart. */
  #addEnds(lane: string, status: unknown, file: string): void {
    for (const key of ['lastState', 'state'] as const) {
      const ended = at(status, key, 'terminated');
      const reason = text(ended, 'reason');
      const exitCode = text(ended, 'exitCode');
      const isSuccess = key === 'state' && exitCode === '0';
      if (ended === undefined || ended === null || isSuccess) continue;
      const restarts = text(status, 'restartCount') || 0;
      this.#addMark({
        at: Date.parse(text(ended, 'finishedAt')),
        lane,
        kind: reason === 'OOMKilled' ? 'oom' : KIND_OF_END[key],
        text: `Container ${text(status, 'name')}: ${reason || 'ended'}, exit code ${exitCode}, restarts: ${restarts}`,
        file,
      });
    }
  }
}

const STATUSES = ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'];
const KIND_OF_END = {lastState: 'restart', state: 'failure'} as const;

function parsed(content: string | undefined): unknown {
  try {
    return JSON.parse(content ?? '');
  } catch {
    return undefined;
  }
}

function groupOf(name: string, labels = ''): Lane['group'] {
  if (/(^|[-/])(run|atask)-/.test(name) || /\btask\b/.test(labels)) return 'Runs';
  return /controller/.test(`${name} ${labels}`) ? 'Controllers' : 'Workers';
}

function kindOf(reason: string): MarkKind {
  if (reason === 'Unhealthy') return 'probe';
  if (/^Evict/.test(reason)) return 'eviction';
  return /OOM/.test(reason) ? 'oom' : 'warning';
}

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
