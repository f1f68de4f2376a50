import type {JSX} from 'preact';
import {useEffect, useState} from 'preact/hooks';
import type {BundleData} from './bundle-data.ts';
import {copyText} from './copy-text.ts';
import {foldedJson, LineText, MAX_DETAILS} from './line-text.tsx';
import {type LinePlace, timeOf, withoutTime} from './log-index.ts';
import type {ChangeRoute} from './route.ts';
import {visibleText} from './untrusted-text.ts';

interface Props {
  data: BundleData;
  place: LinePlace;
  /** The list shows all containers. */
  isMerged: boolean;
  change: ChangeRoute;
}

/** The whole selected line, JSON unfolded. */
export function LineDetails({
  data,
  place: {log, block, row, line},
  isMerged,
  change,
}: Props): JSX.Element {
  const [text, setText] = useState('');
  const [isWhole, setWhole] = useState(false);
  const {name} = log.file;
  useEffect(() => {
    setWhole(false);
    void data.lines(block).then((lines) => setText(lines[row] ?? ''));
  }, [block, row]);
  const message = withoutTime(text);
  const folded = foldedJson(message);
  const shown = folded === undefined ? message : JSON.stringify(folded.whole, undefined, 2);
  const isCut = !isWhole && shown.length > MAX_DETAILS;
  const time = timeOf(text);
  const other = isMerged ? {log: name, of: ''} : {log: '*', of: name};
  return (
    <section class="details" aria-label="Selected line">
      <p>
        <b>
          {visibleText(name)}, line {line}
        </b>
        {time !== undefined && <span class="quiet">{new Date(time).toISOString()}</span>}
        <button type="button" onClick={() => void copyText(text)}>
          Copy line
        </button>
        {name.startsWith('logs/') && (
          <button
            type="button"
            onClick={() => change({...other, line: String(line), level: '', only: '', t: ''})}
          >
            {isMerged ? 'Only this container' : 'All containers at this time'}
          </button>
        )}
        <button type="button" onClick={() => change({line: '', of: '', t: ''})}>
          Close
        </button>
      </p>
      <pre tabIndex={0}>
        <LineText text={isCut ? shown.slice(0, MAX_DETAILS) : shown} />
      </pre>
      {isCut && (
        <button type="button" onClick={() => setWhole(true)}>
          Show all {shown.length.toLocaleString('en-US')} characters
        </button>
      )}
    </section>
  );
}
