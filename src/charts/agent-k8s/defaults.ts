import {cache, dataHome} from '../../settings/storage.ts';
import {asDefault, dataPath} from '../clouds.ts';
import type {ChartDefault} from '../define.ts';

/** What follows from other settings in agent-k8s. */
export const defaults: readonly ChartDefault[] = [
  {
    setting: dataHome,
    value: (get) => {
      const found = get(cache) === 'efs' ? undefined : dataPath(get);
      return found && asDefault(found);
    },
  },
];
