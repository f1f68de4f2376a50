import type {JSX} from 'preact';
import {useEffect, useState} from 'preact/hooks';
import type {ObjectFinding} from '../src/ground/finding.ts';
import type {BundleData} from './bundle-data.ts';
import {LineText} from './line-text.tsx';
import {addressOf, type Route} from './route.ts';
import {visibleText} from './untrusted-text.ts';
import {yamlText} from './yaml-text.ts';

interface OwnerReference {
  kind: string;
  name: string;
}

interface ObjectContent {
  metadata?: {name?: string; ownerReferences?: readonly OwnerReference[]};
  spec?: {
    nodeName?: string;
    volumeName?: string;
    volumes?: readonly {persistentVolumeClaim?: {claimName?: string}}[];
  };
}

const IS_OBJECT =
  /^(gone\/)?objects\/|^releases\/|^(docker|systemd|host)\/|^(network|version|tools)\.json$/;

/** Folder of a file in the tree, and its name there. */
function placeOf(file: string): [folder: string, name: string] {
  const parts = file.split('/');
  const name = parts.pop() as string;
  return [
    parts.join('/').replace(/^objects\//, '') || 'cluster',
    name.replace(/\.(json|txt)$/, ''),
  ];
}

/** Objects by kind, with their YAML and relations; releases with values and history. */
export function ObjectsView({data, route}: {data: BundleData; route: Route}): JSX.Element {
  const files = [...data.files.keys()].filter((name) => IS_OBJECT.test(name));
  const folders = grouped(
    files.toSorted(
      (one, other) => Number(other.startsWith('releases/')) - Number(one.startsWith('releases/')),
    ),
  );
  const selected =
    route.object || files.find((file) => file.endsWith('/values.json')) || files[0] || '';
  const openFolder = placeOf(selected)[0];
  return (
    <main class="objects">
      <nav class="tree" aria-label="Objects">
        <h1>Objects</h1>
        {[...folders].map(([folder, members]) => (
          <details open={folder === openFolder}>
            <summary>
              {visibleText(folder)} <span class="quiet">{members.length}</span>
            </summary>
            <ul>
              {members.map((file) => (
                <li>
                  <a
                    href={addressOf({object: file})}
                    {...(file === selected ? {'aria-current': 'page'} : {})}
                  >
                    {visibleText(placeOf(file)[1])}
                  </a>
                </li>
              ))}
            </ul>
          </details>
        ))}
      </nav>
      <ObjectContentView key={selected} data={data} file={selected} />
    </main>
  );
}

function grouped(files: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const file of files)
    found.set(placeOf(file)[0], [...(found.get(placeOf(file)[0]) ?? []), file]);
  return found;
}

function ObjectContentView({data, file}: {data: BundleData; file: string}): JSX.Element {
  const [text, setText] = useState<string>();
  const [related, setRelated] = useState<readonly string[][]>([]);
  const [findings, setFindings] = useState<readonly ObjectFinding[]>([]);
  useEffect(() => {
    const read = async (): Promise<void> => {
      const content = await data.json(file);
      setText(content === undefined ? await data.text(file) : yamlText(content));
      setRelated(await relationsOf(data, file));
      setFindings(await findingsOf(data, file));
    };
    void read();
  }, [data, file]);
  return (
    <section class="object" aria-label={visibleText(file)}>
      <h2>{visibleText(file)}</h2>
      <p class="links">
        <a href={addressOf({log: file})}>Lines of the file</a>
      </p>
      {related.map((chain) => (
        <ol class="chain" aria-label="Relations">
          {chain.map((each) => (
            <li>
              {data.files.has(each) ? (
                <a href={addressOf({object: each})}>{visibleText(shortOf(each))}</a>
              ) : (
                visibleText(shortOf(each))
              )}
            </li>
          ))}
        </ol>
      ))}
      {file.endsWith('/values.json') && (
        <p class="note">Values that differ from the chart defaults:</p>
      )}
      <pre tabIndex={0}>{text === undefined ? 'Reading…' : <LineText text={text} />}</pre>
      {findings.length > 0 && <h3>Findings</h3>}
      {findings.map(({code, subject, message, remedies}) => (
        <p>
          <code>{visibleText(code)}</code> {visibleText(subject.object)}: {visibleText(message)}.{' '}
          {remedies.map(({text}) => visibleText(text)).join('. ')}
        </p>
      ))}
    </section>
  );
}

/** Findings about an object; for a file of a release, about the release and about its objects that differ in the cluster. */
async function findingsOf(data: BundleData, file: string): Promise<readonly ObjectFinding[]> {
  const release = /^releases\/[^/]+/.exec(file)?.[0];
  const {inCluster = []} = ((await data.json(`${release}/differences.json`)) ?? {}) as {
    inCluster?: readonly {object: string}[];
  };
  const objects = inCluster.map(({object}) =>
    object.replace(/^\w+ /, (kind) => kind.toLowerCase().replace(' ', '/')),
  );
  const names =
    release === undefined ? [shortOf(file)] : [release.replace('releases', 'release'), ...objects];
  return (((await data.json('findings.json')) ?? []) as readonly ObjectFinding[]).filter(
    ({subject}) => names.includes(subject.object),
  );
}

const shortOf = (file: string): string => file.replace(/^objects\//, '').replace(/\.json$/, '');

/** Chains of files: pod, its owners; pod, node; pod, claim, volume. The pods of a node, claim or owner lead back. */
async function relationsOf(data: BundleData, file: string): Promise<string[][]> {
  const read = async (name: string): Promise<ObjectContent> =>
    ((await data.json(name)) as ObjectContent | null | undefined) ?? {};
  const fileOf = (kind: string, name: string): string =>
    `objects/${kind.toLowerCase()}/${name}.json`;
  if (!/^(gone\/)?objects\//.test(file)) return [];
  const own = await read(file);
  const chains: string[][] = [];
  const owners = [file];
  for (let owner = own.metadata?.ownerReferences?.[0]; owner !== undefined && owners.length < 8; ) {
    owners.push(fileOf(owner.kind, owner.name));
    owner = (await read(owners.at(-1) as string)).metadata?.ownerReferences?.[0];
  }
  if (owners.length > 1) chains.push(owners);
  if (own.spec?.nodeName) chains.push([file, fileOf('node', own.spec.nodeName)]);
  for (const {persistentVolumeClaim} of own.spec?.volumes ?? []) {
    if (!persistentVolumeClaim?.claimName) continue;
    const claim = fileOf('persistentvolumeclaim', persistentVolumeClaim.claimName);
    const volume = (await read(claim)).spec?.volumeName;
    chains.push([file, claim, ...(volume ? [fileOf('persistentvolume', volume)] : [])]);
  }
  if (file.includes('/pod/')) return chains;
  for (const pod of [...data.files.keys()]
    .filter((name) => name.includes('objects/pod/'))
    .slice(0, 500)) {
    const {metadata, spec} = await read(pod);
    const uses = [
      ...(metadata?.ownerReferences ?? []).map(({kind, name}) => fileOf(kind, name)),
      ...(spec?.nodeName ? [fileOf('node', spec.nodeName)] : []),
      ...(spec?.volumes ?? []).map(({persistentVolumeClaim: claim}) =>
        fileOf('persistentvolumeclaim', claim?.claimName ?? ''),
      ),
    ];
    if (uses.includes(file)) chains.push([file, pod]);
  }
  return chains;
}
