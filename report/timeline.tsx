import type {JSX} from 'preact';
import {useEffect, useRef, useState} from 'preact/hooks';
import type {BundleData} from './bundle-data.ts';
import {clock} from './log-view.tsx';
import {addressOf} from './route.ts';
import {
  isOfTimeline,
  LANE_GROUPS,
  type Lane,
  MARK_KINDS,
  type Mark,
  type MarkKind,
  type Timeline,
  timelineOf,
} from './timeline-data.ts';
import {visibleText} from './untrusted-text.ts';

/** Height of a lane, and of the head of a group. */
const LANE = 24;
const HEAD = 28;
const AXIS = 26;
/** Width of a mark. */
const MARK = 13;
/** Most marks of a table; the page stays fast. */
const MAX_TABLE = 2000;
/** Shape of a kind, so that color is not the only difference. */
const SHAPES: Readonly<Record<MarkKind, string>> = {
  release: 'M0-6 6 0 0 6-6 0Z',
  restart: 'M-5-5H5V5H-5Z',
  failure: 'M-6-4-4-6 0-2 4-6 6-4 2 0 6 4 4 6 0 2-4 6-6 4-2 0Z',
  oom: 'M0-7 6 5H-6Z',
  eviction: 'M0 7 6-5H-6Z',
  probe: 'M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0Z',
  warning: 'M0-6 2-2 6-2 3 1 4 6 0 3-4 6-3 1-6-2-2-2Z',
  skew: 'M-6-2H6V2H-6Z',
  gap: 'M-2-6H2V6H-2Z',
};

interface Range {
  from: number;
  to: number;
}

/** Where a mark leads: the log of its pod at that moment, otherwise the file that shows it. */
function targetOf({lane, at, file, line}: Mark, data: BundleData): string {
  const pod = /^pod\/(.+)$/.exec(lane)?.[1];
  const logs =
    pod === undefined
      ? []
      : [...data.files.keys()].filter((name) => name.startsWith(`logs/${pod}/`));
  const log = logs.find((name) => !name.endsWith('.previous.log')) ?? logs[0];
  if (log !== undefined) return addressOf({log: '*', t: new Date(at).toISOString()});
  return addressOf({log: file, line: line === undefined ? '' : String(line)});
}

/** Lanes of releases and pods with marks, and the same marks as a table. */
export function TimelineView({data}: {data: BundleData}): JSX.Element {
  const timeline = useTimeline(data);
  const [range, setRange] = useState<Range>();
  const [selected, setSelected] = useState<Mark>();
  if (timeline === undefined) return <main class="timeline">Reading…</main>;
  const margin = (timeline.to - timeline.from) * 0.03;
  const whole = {from: timeline.from - margin, to: timeline.to + margin};
  const {from, to} = range ?? whole;
  const zoom = (factor: number, around = (from + to) / 2): void => {
    const length = Math.min(Math.max((to - from) * factor, 10), whole.to - whole.from);
    const start = Math.min(
      Math.max(around - ((around - from) / (to - from)) * length, whole.from),
      whole.to - length,
    );
    setRange(length >= whole.to - whole.from ? undefined : {from: start, to: start + length});
  };
  const pan = (share: number): void => {
    const start = Math.min(
      Math.max(from + share * (to - from), whole.from),
      whole.to - (to - from),
    );
    setRange(range && {from: start, to: start + to - from});
  };
  const step = (direction: 1 | -1): void => {
    const now =
      selected === undefined ? (direction === 1 ? -1 : 0) : timeline.marks.indexOf(selected);
    const next = timeline.marks.at(
      Math.max(0, now + direction) % Math.max(1, timeline.marks.length),
    );
    if (next === undefined) return;
    setSelected(next);
    if (next.at < from || next.at > to)
      setRange({from: next.at - (to - from) / 2, to: next.at + (to - from) / 2});
  };
  const keys: Readonly<Record<string, () => void>> = {
    '+': () => zoom(0.5),
    '=': () => zoom(0.5),
    '-': () => zoom(2),
    0: () => setRange(undefined),

    ArrowLeft: () => pan(-0.2),
    ArrowRight: () => pan(0.2),
    n: () => step(1),
    p: () => step(-1),
    Enter: () => {
      if (selected) location.hash = targetOf(selected, data);
    },
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const run = event.ctrlKey || event.metaKey ? undefined : keys[event.key];
    if (run === undefined) return;
    event.preventDefault();
    run();
  };
  const kinds = (Object.keys(MARK_KINDS) as MarkKind[]).filter((kind) =>
    timeline.marks.some((mark) => mark.kind === kind),
  );
  return (
    <main class="timeline">
      <h1>Timeline</h1>
      <div class="controls">
        <button type="button" onClick={() => zoom(0.5)}>
          Zoom in <kbd>+</kbd>
        </button>
        <button type="button" onClick={() => zoom(2)} disabled={range === undefined}>
          Zoom out <kbd>-</kbd>
        </button>
        <button type="button" onClick={() => setRange(undefined)} disabled={range === undefined}>
          Show all <kbd>0</kbd>
        </button>
        <a
          class="button"
          href={addressOf({
            log: '*',
            ...(range
              ? {from: new Date(from).toISOString(), to: new Date(to).toISOString()}
              : {from: '', to: ''}),
          })}
        >
          Logs of this time
        </a>
        <ul class="legend" aria-label="Kinds of marks">
          {kinds.map((kind) => (
            <li>
              <svg width="16" height="16" viewBox="-8 -8 16 16" aria-hidden="true">
                <path class={`mark is-${kind}`} d={SHAPES[kind]} />
              </svg>
              {MARK_KINDS[kind]}
            </li>
          ))}
        </ul>
      </div>
      <Lanes
        {...{timeline, from, to, selected, zoom, pan, onKeyDown}}
        select={setSelected}
        open={(mark) => (location.hash = targetOf(mark, data))}
      />
      <p class="status" role="status">
        {selected === undefined
          ? 'Keys: + and - zoom, arrows move, n and p select the next and previous mark, Enter opens the log.'
          : `${new Date(selected.at).toISOString()} ${MARK_KINDS[selected.kind]}, ${visibleText(selected.lane)}: ${visibleText(selected.text)}`}
      </p>
      <MarkTable marks={timeline.marks} data={data} />
    </main>
  );
}

interface LanesProps extends Range {
  timeline: Timeline;
  selected: Mark | undefined;
  zoom(factor: number, around?: number): void;
  pan(share: number): void;
  select(mark: Mark): void;
  open(mark: Mark): void;
  onKeyDown(event: KeyboardEvent): void;
}

function Lanes({
  timeline,
  from,
  to,
  selected,
  zoom,
  pan,
  select,
  open,
  onKeyDown,
}: LanesProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(900);
  const drag = useRef<number | undefined>(undefined);
  useEffect(() => {
    const observer = new ResizeObserver(() => setWidth(box.current?.clientWidth ?? 900));
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  const names = width < 600 ? 120 : 260;
  const xOf = (time: number): number => names + ((time - from) / (to - from)) * (width - names);
  const timeAt = (event: MouseEvent): number => {
    const x = event.clientX - (box.current as HTMLDivElement).getBoundingClientRect().left;
    return from + ((x - names) / (width - names)) * (to - from);
  };
  const ends = new Map<string, number>();
  const places = new Map<string, number>();
  const heads: {group: string; y: number}[] = [];
  let y = AXIS;
  for (const group of LANE_GROUPS) {
    const lanes = timeline.lanes.filter((lane) => lane.group === group);
    if (lanes.length === 0) continue;
    heads.push({group, y});
    y += HEAD;
    for (const {id} of lanes) {
      places.set(id, y);
      y += LANE;
    }
  }
  return (
    <div
      class="lanes"
      ref={box}
      tabIndex={0}
      role="group"
      aria-label={`Timeline with ${timeline.marks.length} marks, listed in the table below`}
      onKeyDown={onKeyDown}
      onWheel={(event) => {
        if (!event.ctrlKey && !event.shiftKey) return;
        event.preventDefault();
        zoom(event.deltaY + event.deltaX > 0 ? 1.25 : 0.8, timeAt(event));
      }}
      onPointerDown={(event) => {
        drag.current = event.clientX;
      }}
      onPointerMove={(event) => {
        if (drag.current === undefined || event.buttons !== 1) return;
        pan((drag.current - event.clientX) / (width - names));
        drag.current = event.clientX;
      }}
      onPointerUp={() => {
        drag.current = undefined;
      }}
    >
      <svg width={width} height={y + 8} viewBox={`0 0 ${width} ${y + 8}`} aria-hidden="true">
        {ticksOf(from, to, Math.max(2, Math.floor((width - names) / 110))).map((time) => (
          <g class="tick">
            <line x1={xOf(time)} x2={xOf(time)} y1={AXIS - 6} y2={y} />
            {xOf(time) + 80 < width && (
              <text x={xOf(time) + 4} y={14}>
                {tickText(time, to - from)}
              </text>
            )}
          </g>
        ))}
        {heads.map(({group, y: top}) => (
          <text class="group" x={8} y={top + 19}>
            {group}
          </text>
        ))}
        {timeline.lanes.map((lane) => (
          <LaneShape {...{lane, names, width, xOf}} y={places.get(lane.id) as number} />
        ))}
        {timeline.marks.map((mark) => {
          if (mark.at < from || mark.at > to) return null;
          // Marks of one moment stand side by side.
          const x = Math.max(xOf(mark.at), (ends.get(mark.lane) ?? 0) + MARK);
          ends.set(mark.lane, x);
          return (
            <path
              class={`mark is-${mark.kind} ${mark === selected ? 'is-selected' : ''}`}
              d={SHAPES[mark.kind]}
              transform={`translate(${x} ${(places.get(mark.lane) as number) + LANE / 2})`}
              onPointerEnter={() => select(mark)}
              onClick={() => open(mark)}
            />
          );
        })}
      </svg>
    </div>
  );
}

interface LaneProps {
  lane: Lane;
  y: number;
  names: number;
  width: number;
  xOf(time: number): number;
}

function LaneShape({lane: {id, from, to, isFailed}, y, names, width, xOf}: LaneProps): JSX.Element {
  const characters = Math.floor((names - 24) / 7);
  const name = visibleText(id.replace(/^(pod|release)\//, ''));
  const left = Math.max(names, xOf(from ?? 0));
  const right = Math.min(width, xOf(to ?? 0));
  return (
    <g class="lane">
      <line x1={0} x2={width} y1={y + LANE} y2={y + LANE} />
      <text x={16} y={y + 16}>
        {name.length > characters
          ? `${name.slice(0, characters / 2)}…${name.slice(-characters / 2)}`
          : name}
        <title>{name}</title>
      </text>
      {from !== undefined && right > left && (
        <rect
          class={isFailed ? 'span is-failed' : 'span'}
          x={left}
          y={y + 7}
          width={right - left}
          height={LANE - 14}
          rx={3}
        />
      )}
    </g>
  );
}

const STEPS = [
  10, 50, 100, 500, 1000, 5000, 15_000, 30_000, 60_000, 300_000, 900_000, 1_800_000, 3_600_000,
  10_800_000, 21_600_000, 86_400_000,
];

function ticksOf(from: number, to: number, most: number): number[] {
  const step =
    STEPS.find((each) => (to - from) / each <= most) ??
    Math.ceil((to - from) / most / 86_400_000) * 86_400_000;
  const first = Math.ceil(from / step) * step;
  return Array.from(
    {length: Math.max(0, Math.floor((to - first) / step) + 1)},
    (_, index) => first + index * step,
  );
}

function tickText(time: number, length: number): string {
  const iso = new Date(time).toISOString();
  if (length > 3 * 86_400_000) return iso.slice(5, 10);
  return length > 86_400_000
    ? iso.slice(5, 16).replace('T', ' ')
    : length < 20_000
      ? iso.slice(11, 22)
      : iso.slice(11, 19);
}

function MarkTable({marks, data}: {marks: readonly Mark[]; data: BundleData}): JSX.Element {
  if (marks.length === 0)
    return <p class="empty">The bundle has no restarts, warnings or other marks.</p>;
  return (
    <div class="table" tabIndex={0} role="region" aria-label="Marks">
      <table>
        <caption>{`${marks.length} marks, oldest first`}</caption>
        <thead>
          <tr>
            <th scope="col">Time (UTC)</th>
            <th scope="col">Kind</th>
            <th scope="col">Where</th>
            <th scope="col">What</th>
            <th scope="col">Shown in</th>
          </tr>
        </thead>
        <tbody>
          {marks.slice(0, MAX_TABLE).map((mark) => (
            <tr>
              <td>
                <a
                  class="moment"
                  href={targetOf(mark, data)}
                  title={new Date(mark.at).toISOString()}
                >
                  {clock(mark.at)}
                </a>
              </td>
              <td>
                <span class={`tag is-${mark.kind}`}>{MARK_KINDS[mark.kind]}</span>
              </td>
              <td>{visibleText(mark.lane)}</td>
              <td>{visibleText(mark.text)}</td>
              <td>
                <a
                  href={addressOf({
                    log: mark.file,
                    line: mark.line === undefined ? '' : String(mark.line),
                  })}
                >
                  {visibleText(mark.file)}
                </a>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function useTimeline(data: BundleData): Timeline | undefined {
  const [timeline, setTimeline] = useState<Timeline>();
  useEffect(() => {
    const read = async (): Promise<void> => {
      const names = [...data.files.keys()].filter(isOfTimeline);
      setTimeline(
        timelineOf(
          new Map(
            await Promise.all(names.map(async (name) => [name, await data.text(name)] as const)),
          ),
        ),
      );
    };
    void read();
  }, [data]);
  return timeline;
}
