import {maskSecrets} from './errors.ts';
import {changing, type Remedy} from './finding.ts';

/** An HTTP response that is not from Kubernetes. */
export interface WebPage {
  status?: number | undefined;
  /** Header of a redirect. */
  location?: string | undefined;
  body: string;
}

const MARKUP =
  /^\s*(?:<\?xml[^>]*>\s*|<!--[\s\S]*?-->\s*)*<(?:!doctype html|html|head|body|title|meta|script|center|h1|a href)\b/i;

/** The Kubernetes API answers in JSON, YAML, protobuf and plain text, but never in HTML. */
export const isWebPage = (body: string, contentType = ''): boolean =>
  /^(?:text\/html|application\/xhtml)/i.test(contentType) || MARKUP.test(body);

/** HTML in an output of kubectl or helm, where it is quoted after other words. */
export const QUOTED_PAGE = /<(?:!doctype html|html|head|a href)\b[\s\S]*/i;

/** The web page that kubectl or helm quotes in an error; undefined if there is none. */
export function webPageIn(text: string): WebPage | undefined {
  const [body] = QUOTED_PAGE.exec(text) ?? [];
  return body === undefined ? undefined : {body};
}

const MAX_TITLE = 80;

/** Stands for the address of the server until it is known. */
export const UNNAMED_SERVER = 'The server';

/** The one text for a web page instead of the API, without a full stop. It quotes the title, and no HTML. */
export function webPageText({status, location, body}: WebPage): string {
  const title = titleIn(body);
  const details = [
    ...(location === undefined ? [] : [`redirect to ${hostOf(location)}`]),
    ...(status === undefined || location !== undefined ? [] : [`status ${status}`]),
    ...(title === '' || location !== undefined ? [] : [`title "${title}"`]),
  ].join(', ');
  const what = `${UNNAMED_SERVER} returned a web page instead of a Kubernetes API response`;
  return details === '' ? what : `${what} (${details})`;
}

/** What to do about it. */
export const webPageSteps = (server?: string): (string | Remedy)[] => [
  'A proxy or login page may have responded: connect to the VPN, or log in to the proxy',
  `To bypass the proxy, add ${server === undefined ? 'the host of the API server' : hostOf(server)} to NO_PROXY`,
  changing`Check the server address of the cluster in the kubeconfig, or select another context with ${{id: 'kube-context'}}`,
];

function titleIn(html: string): string {
  const [, title = ''] = /<(?:title|h1)[^>]*>([\s\S]*?)<\/(?:title|h1)>/i.exec(html) ?? [];
  const text = title
    .replace(/<[^>]*>/g, '')
    .replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name: string) => ENTITIES[name] ?? ' ')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return maskSecrets(text.length > MAX_TITLE ? `${text.slice(0, MAX_TITLE)}…` : text);
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
};

/** Without path and query, which can contain secrets of a login. */
function hostOf(address: string): string {
  try {
    return new URL(address).host;
  } catch {
    return 'another page';
  }
}
