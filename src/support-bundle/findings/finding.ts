/** Something that support would look at first. */
export interface Finding {
  severity: 'error' | 'warning';
  code: string;
  /** What it is about: pod/name, release/name. */
  object: string;
  message: string;
  /** The file of the bundle where it can be seen. */
  evidence?: string;
  /** Of that file, 1-based. */
  line?: number;
  remedy: string;
}

/** Pods of one workload that fare the same are told once. */
export function foldAlike(found: readonly {key: string; finding: Finding}[]): Finding[] {
  const groups = new Map<string, Finding[]>();
  for (const {key, finding} of found) groups.set(key, [...(groups.get(key) ?? []), finding]);
  return [...groups.values()].map((alike) => {
    const [first] = alike as [Finding];
    const more = new Set(alike.map(({object}) => object)).size - 1;
    return more === 0 ? first : {...first, message: `${first.message} (and ${more} more ${more === 1 ? 'pod' : 'pods'})`};
  });
}
