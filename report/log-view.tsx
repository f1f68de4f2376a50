import type {JSX} from 'preact';
import {useEffect, useMemo, useRef, useState} from 'preact/hooks';
import type {Block, BundleData} from './bundle-data.ts';
import {LineDetails} from './line-details.tsx';
import {foldedJson, LineText, MAX_ROW} from './line-text.tsx';
import {ABSENT, ERROR, indexOf, LEVELS, type LogIndex, WARNING, withoutTime} from './log-index.ts';
import {type Matches, patternOf, rowAt, rowsOf, search} from './log-rows.ts';
import type {ChangeRoute, Route} from './route.ts';
import {visibleText} from './untrusted-text.ts';
import {VirtualList} from './virtual-list.tsx';

const ALL = '*';
const count = (number: number): string => number.toLocaleString('en-US');
export const clock = (time: number): string =>
  time > 0 ? new Date(time).toISOString().slice(11, 23) : '';
const shortName = (file: string): string => file.replace(/^logs\//, '').replace(/\.log$/, '');

interface Props {
  data: BundleData;
  route: Route;
  change: ChangeRoute;
}

/** Lines of all containers or of one file, with search and filters. */
export function LogView({data, route, change}: Props): JSX.Element {
  const source = route.log || ALL;
  const [index, progress] = useIndex(data, source);
  const query = route.q ?? '';
  const pattern = useMemo(() => patternOf(query), [query]);
  const matches = useMatches(data, index, pattern);
  const level = Math.max(0, LEVELS.indexOf((route.level ?? 'none') as (typeof LEVELS)[number]));
  const from = route.from ? Date.parse(route.from) : -Infinity;
  const to = route.to ? Date.parse(route.to) : Infinity;
  const isOnlyMatches = route.only === '1' && pattern !== undefined;
  const filter = {level, from, to, isOnlyMatches};
  const rows = useMemo(
    () => (index === undefined ? new Uint32Array() : rowsOf(index, filter, matches)),
    [index, level, from, to, isOnlyMatches, isOnlyMatches && matches],
  );
  const selected = useMemo(
    () => (index === undefined ? -1 : selectedRow(index, rows, route)),
    [index, rows, route.line, route.t, route.of],
  );
  const [reveal, setReveal] = useState(0);
  const searchBox = useRef<HTMLInputElement>(null);
  const timeBox = useRef<HTMLInputElement>(null);
  const [, redraw] = useState(0);
  const missing = useRef(new Set<Block>());
  useEffect(() => {
    const blocks = [...missing.current];
    missing.current.clear();
    if (blocks.length > 0)
      void Promise.all(blocks.map((block) => data.lines(block))).then(() =>
        redraw((before) => before + 1),
      );
  });

  const select = (row: number): void => {
    const id = rows[row];
    if (index === undefined || id === undefined) return;
    const {log, line} = index.placeOf(id);
    change({line: String(line), t: '', of: source === ALL ? log.file.name : ''});
    setReveal((before) => before + 1);
  };
  const step = (direction: 1 | -1, is: (id: number) => boolean): void => {
    let row = selected + direction;
    while (row >= 0 && row < rows.length && !is(rows[row] as number)) row += direction;
    select(row);
  };
  const isError = (id: number): boolean => index?.levels[id] === ERROR;
  const isMatch = (id: number): boolean => matches?.flags[id] === 1;
  useKeys({
    e: () => step(1, isError),
    E: () => step(-1, isError),
    n: () => step(1, isMatch),
    N: () => step(-1, isMatch),
    j: () => step(1, () => true),
    k: () => step(-1, () => true),
    ArrowDown: () => step(1, () => true),
    ArrowUp: () => step(-1, () => true),
    '/': () => searchBox.current?.focus(),
    g: () => timeBox.current?.focus(),
  });
  const goTo = (typed: string): void => {
    const first = index?.times.find((time) => time > 0) ?? 0;
    const time = Date.parse(
      /^\d\d:/.test(typed) ? `${new Date(first).toISOString().slice(0, 11)}${typed}Z` : typed,
    );
    if (!Number.isNaN(time) && index !== undefined) select(rowAt(index, rows, time));
  };
  const row = (number: number): JSX.Element => {
    const id = rows[number] as number;
    const {log, block, row: rowInBlock, line} = (index as LogIndex).placeOf(id);
    const lines = data.decoded(block);
    if (lines === undefined && block.packed !== undefined) missing.current.add(block);
    const rank = (index as LogIndex).levels[id] as number;
    const text = rank === ABSENT ? absentText(index as LogIndex, id) : (lines?.[rowInBlock] ?? '');
    return (
      <div
        key={number}
        id={`row-${number}`}
        class={`row is-${LEVELS[rank]} ${/^\[… \d+ bytes omitted/.test(text) ? 'is-absent' : ''}`}
        role="option"
        tabIndex={-1}
        aria-selected={number === selected}
        onClick={() => select(number)}
      >
        <span class="number">{line}</span>
        <span class="time">{clock((index as LogIndex).times[id] as number)}</span>
        {source === ALL && <span class="source">{visibleText(shortName(log.file.name))}</span>}
        <span class="text">
          {rank === ABSENT ? text : <Content text={text} pattern={pattern} />}
        </span>
      </div>
    );
  };
  return (
    <main class="log">
      <h1 class="for-readers">Logs</h1>
      <Controls
        {...{data, route, change, source, searchBox, timeBox, goTo}}
        step={(direction) => step(direction, isMatch)}
      />
      <p class="status" role="status">
        {index === undefined
          ? `Reading ${count(progress)} lines…`
          : `${count(rows.length)} of ${count(index.times.length)} lines${matches === undefined ? '' : ` · ${count(matches.count)} ${matches.count === 1 ? 'match' : 'matches'}${matches.isComplete ? '' : ' so far'}`}`}
      </p>
      <VirtualList
        count={rows.length}
        label={`Lines of ${source === ALL ? 'all containers' : visibleText(source)}`}
        {...{selected, reveal, row}}
      />
      {index !== undefined && selected >= 0 && (
        <LineDetails
          data={data}
          place={index.placeOf(rows[selected] as number)}
          isMerged={source === ALL}
          change={change}
        />
      )}
    </main>
  );
}

const Content = ({text, pattern}: {text: string; pattern: RegExp | undefined}): JSX.Element => {
  const message = withoutTime(text);
  const folded = foldedJson(message);
  if (folded === undefined)
    return (
      <LineText
        text={message.slice(0, MAX_ROW) + (message.length > MAX_ROW ? ' …' : '')}
        pattern={pattern}
      />
    );
  return (
    <>
      <span class="json">{'{}'}</span> <LineText text={folded.message} pattern={pattern} />{' '}
      <span class="pairs">
        <LineText text={folded.rest.slice(0, MAX_ROW)} pattern={pattern} />
      </span>
    </>
  );
};

function absentText({levels}: LogIndex, id: number): string {
  let end = id;
  while (levels[end] === ABSENT) end += 1;
  return `${count(end - id)} lines are only in the zip file: drop it onto this page to read them`;
}

function selectedRow(index: LogIndex, rows: Uint32Array, {line, t, of, log}: Route): number {
  if (t) return rowAt(index, rows, Date.parse(t));
  const wanted = of || log;
  const start = index.logs.find(({file}) => file.name === wanted)?.start ?? -1;
  return line && start >= 0 ? rows.indexOf(start + Number(line) - 1) : -1;
}

function useIndex(data: BundleData, source: string): [LogIndex | undefined, number] {
  const [found, setFound] = useState<{index: LogIndex; source: string; data: BundleData}>();
  const [progress, setProgress] = useState(0);
  useEffect(() => {
    let isOver = false;
    const files = [...data.files.values()].filter(({name}) =>
      source === ALL ? name.startsWith('logs/') : name === source,
    );
    void indexOf(data, files, setProgress).then(
      (index) => isOver || setFound({index, source, data}),
    );
    return () => {
      isOver = true;
    };
  }, [data, source]);
  return [found?.source === source && found.data === data ? found.index : undefined, progress];
}

function useMatches(
  data: BundleData,
  index: LogIndex | undefined,
  pattern: RegExp | undefined,
): Matches | undefined {
  const [matches, setMatches] = useState<Matches>();
  useEffect(() => {
    setMatches(undefined);
    if (index === undefined || pattern === undefined) return undefined;
    const ended = new AbortController();
    void search(data, index, pattern, ended.signal, setMatches);
    return () => ended.abort();
  }, [data, index, pattern]);
  return matches;
}

/** Keys of lnav, while nothing is typed into a field. */
function useKeys(keys: Readonly<Record<string, () => void>>): void {
  const newest = useRef(keys);
  newest.current = keys;
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        (event.target as Element).closest(
          `input, select, summary${event.key.startsWith('Arrow') ? ', pre' : ''}`,
        )
      )
        return;
      const run = newest.current[event.key];
      if (run === undefined) return;
      event.preventDefault();
      run();
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
}

interface ControlsProps extends Props {
  source: string;
  searchBox: {current: HTMLInputElement | null};
  timeBox: {current: HTMLInputElement | null};
  goTo(typed: string): void;
  step(direction: 1 | -1): void;
}

function Controls({
  data,
  route,
  change,
  source,
  searchBox,
  timeBox,
  goTo,
  step,
}: ControlsProps): JSX.Element {
  const names = [...data.files.keys()];
  const onEnter = (
    event: KeyboardEvent & {currentTarget: HTMLInputElement},
    run: (shift: boolean) => void,
  ): void => {
    if (event.key === 'Enter') run(event.shiftKey);
    if (event.key === 'Enter' || event.key === 'Escape') event.currentTarget.blur();
  };
  return (
    <form class="controls" onSubmit={(event) => event.preventDefault()}>
      <label>
        <span>Source</span>
        <select
          value={source}
          onChange={(event) => change({log: event.currentTarget.value, line: '', of: '', t: ''})}
        >
          <option value={ALL}>All containers, by time</option>
          <optgroup label="Containers">
            {names
              .filter((name) => name.startsWith('logs/'))
              .map((name) => (
                <option value={name}>{visibleText(shortName(name))}</option>
              ))}
          </optgroup>
          <optgroup label="Other files">
            {names
              .filter((name) => !name.startsWith('logs/'))
              .map((name) => (
                <option value={name}>{visibleText(name)}</option>
              ))}
          </optgroup>
        </select>
      </label>
      <label>
        <span>
          Level <kbd>e</kbd>
        </span>
        <select
          value={route.level ?? 'none'}
          onChange={(event) => change({level: event.currentTarget.value.replace('none', '')})}
        >
          <option value="none">All levels</option>
          <option value={LEVELS[WARNING]}>Warnings and errors</option>
          <option value={LEVELS[ERROR]}>Errors</option>
        </select>
      </label>
      <label class="wide">
        <span>
          Search <kbd>/</kbd> <kbd>n</kbd>
        </span>
        <input
          type="search"
          ref={searchBox}
          value={route.q ?? ''}
          placeholder="Text or regular expression"
          onInput={(event) => change({q: event.currentTarget.value})}
          onKeyDown={(event) => onEnter(event, (isShift) => step(isShift ? -1 : 1))}
        />
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={route.only === '1'}
          onChange={(event) => change({only: event.currentTarget.checked ? '1' : ''})}
        />
        <span>Only matches</span>
      </label>
      <label>
        <span>
          Time (UTC) <kbd>g</kbd>
        </span>
        <input
          type="text"
          size={12}
          ref={timeBox}
          placeholder="08:15:00"
          onKeyDown={(event) => onEnter(event, () => goTo(event.currentTarget.value))}
        />
      </label>
      {(route.from || route.to) && (
        <button type="button" onClick={() => change({from: '', to: ''})}>
          Only {clock(Date.parse(route.from ?? ''))} to {clock(Date.parse(route.to ?? ''))} ✕
        </button>
      )}
    </form>
  );
}
