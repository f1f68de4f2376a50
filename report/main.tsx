import {h, type JSX, render} from 'preact';
import {useEffect, useState} from 'preact/hooks';
import type {ObjectFinding} from '../src/ground/finding.ts';
import {type BundleData, dataOfPage, dataOfZip} from './bundle-data.ts';
import {copyText} from './copy-text.ts';
import {type ElementMaker, firstScreen} from './first-screen.ts';
import {LogView} from './log-view.tsx';
import {ObjectsView} from './objects.tsx';
import {useRoute, VIEWS, type View, viewOf} from './route.ts';
import {TimelineView} from './timeline.tsx';
import {visibleText} from './untrusted-text.ts';

const overview = document.getElementById('overview') as HTMLElement;
const TITLE = document.title;

function App({embedded}: {embedded: BundleData}): JSX.Element {
  const {data, note, open} = useBundle(embedded);
  const [route, change] = useRoute();
  const view = viewOf(route);
  useEffect(() => {
    overview.hidden = view !== 'overview';
    document.title = view === 'overview' ? TITLE : `${VIEWS[view]} – ${TITLE}`;
    if (view !== 'log') scrollTo(0, 0);
  }, [view]);
  useEffect(() => {
    document.ondragover = (event) => event.preventDefault();
    document.ondrop = (event) => {
      event.preventDefault();
      open(event.dataTransfer?.files[0]);
    };
    overview.onclick = (event) => copyTicket(event, data);
    for (const button of overview.querySelectorAll<HTMLElement>('.copy')) button.hidden = false;
  });
  return (
    <div class={`app is-${view}`}>
      <header class="bar">
        <nav aria-label="Views">
          {(Object.keys(VIEWS) as View[]).map((each) => (
            <a
              href={each === 'overview' ? '#' : `#${each}=`}
              {...(each === view ? {'aria-current': 'page'} : {})}
            >
              {VIEWS[each]}
            </a>
          ))}
        </nav>
        <label class="open">
          <input
            type="file"
            accept=".zip"
            onChange={(event) => open(event.currentTarget.files?.[0])}
          />
          <span>Open a bundle, or drop it here</span>
        </label>
        <p role="status">{note}</p>
      </header>
      {view === 'timeline' && <TimelineView data={data} />}
      {view === 'log' && <LogView {...{data, route, change}} />}
      {view === 'object' && <ObjectsView {...{data, route}} />}
    </div>
  );
}

/** The embedded files, or those of a zip file that the reader opened. */
function useBundle(embedded: BundleData) {
  const [data, setData] = useState(embedded);
  const [note, setNote] = useState('');
  const read = async (zip: Blob): Promise<void> => {
    try {
      const opened = await dataOfZip(zip, (done, all) =>
        setNote(`Reading file ${done + 1} of ${all}…`),
      );
      const summary = await opened.text('SUMMARY.md');
      const findings = await opened.json('findings.json');
      if (summary === '') throw new Error('This zip file is not a support bundle.');
      showOverview(summary, Array.isArray(findings) ? (findings as ObjectFinding[]) : []);
      setData(opened);
      setNote('Showing the files of the zip file.');
    } catch (error) {
      setNote(`Cannot read the file. ${(error as Error).message}`);
    }
  };
  const open = (zip: Blob | undefined): void => {
    if (zip) void read(zip);
  };
  return {data, note, open};
}

async function copyTicket(event: MouseEvent, data: BundleData): Promise<void> {
  const button = (event.target as Element).closest('.copy');
  if (button === null) return;
  await copyText(
    visibleText(`${await data.text('SUMMARY.md')}\n\n${await data.text('TICKET.md')}`),
  );
  button.textContent = 'Copied';
}

function showOverview(summary: string, findings: readonly ObjectFinding[]): void {
  overview.replaceChildren();
  const maker: ElementMaker<JSX.Element> = (tag, attributes, ...children) =>
    h(tag, {...attributes}, ...children);
  render(firstScreen(maker, {summary, findings}), overview);
}

async function start(): Promise<void> {
  const app = document.getElementById('app') as HTMLElement;
  try {
    render(<App embedded={await dataOfPage(document)} />, app);
  } catch (error) {
    app.textContent = `This browser cannot show logs and timeline (${(error as Error).message}). Use a current version of Chrome, Edge, Firefox or Safari.`;
  }
}

void start();
