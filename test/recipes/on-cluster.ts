import {installPlace, TOKEN} from '../support/install-place.ts';
import {type} from './recipe.ts';
import {BUILT, workshop} from './workshop.ts';

/** What would go anywhere but to the cluster ends at a closed door. */
const ALONE = {
  HTTP_PROXY: 'http://127.0.0.1:9',
  HTTPS_PROXY: 'http://127.0.0.1:9',
  NO_PROXY: '127.0.0.1,localhost',
};

/** A shell with the built program, and a namespace of its own. */
export async function onCluster(helm?: string) {
  const place = await installPlace();
  const shop = await workshop(BUILT, helm);
  const env = {
    ...shop.env,
    ...ALONE,
    KUBECONFIG: place.kubeconfig,
    SCALR_AGENT_INSTALL_NAMESPACE: place.namespace,
  };
  /** Types what the page says, in the namespace of this test. */
  const typed = (text: string, more: Readonly<Record<string, string>> = TOKEN) =>
    type(text.replaceAll('--namespace scalr-agent', `--namespace ${place.namespace}`), {
      cwd: shop.cwd,
      env: {...env, ...more},
    });
  return {...shop, place, typed};
}
