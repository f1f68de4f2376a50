import {type ExpectedError, failed} from '../../ground/errors.ts';
import {isFields, jsonIn} from '../../ground/json.ts';

/** What a request is for; part of its error message. */
export interface Purpose {
  /** Infinitive: create agent pool eks-prod. */
  what: string;
  /** The permission of Scalr's roles that it requires, if it is known. */
  permission?: string | undefined;
}

/** Where a request went, and with which credential. */
export interface AccountRef {
  /** Host name, with its port if there is one. */
  host: string;
  /** Variable or file with the credential. */
  source: string;
}

/** An entry of `errors` in an error response. Scalr sends `title` although its schema does not list it. */
interface ApiErrorItem {
  title?: unknown;
  detail?: unknown;
  source?: unknown;
}

/** Texts of an error response; empty for a body that is not from Scalr, such as the HTML page of a proxy. */
function messagesIn(body: string): string[] {
  const document = jsonIn(body);
  const errors =
    isFields(document) && Array.isArray(document['errors'])
      ? (document['errors'] as unknown[]).filter(isFields)
      : [];
  return errors.map(({title, detail, source}: ApiErrorItem) => {
    const text =
      [detail, title].find((each) => typeof each === 'string' && each !== '') ?? 'no details';
    const {pointer, parameter} = isFields(source) ? source : {};
    const place = [pointer, parameter].find((each) => typeof each === 'string');
    return place === undefined ? String(text) : `${text} (${place})`;
  });
}

const sentence = (text: string): string => text.replace(/(?<![.!?])$/, '.');

/** The error for a response with this status. Scalr also answers 404 if the user has no permission. */
export function responseFailure(
  {status, body}: {status: number; body: string},
  {what, permission}: Purpose,
  at: AccountRef,
): ExpectedError {
  const messages = messagesIn(body);
  const details = messages.map((each) => ` ${sentence(each)}`).join('');
  const request =
    permission === undefined ? [] : [`Request the permission ${permission} for your user in Scalr`];
  if (status === 401) return unauthorized(at);
  if (status === 403) {
    return failed(
      'SCALR_DENIED',
      `Cannot ${what}: permission denied (HTTP 403).${details}`,
      request.length > 0 ? request : ['Request the permission for your user in Scalr'],
    );
  }
  if (status === 404 && messages.length > 0) {
    return failed(
      'SCALR_NOT_FOUND',
      `Cannot ${what}: it does not exist, or your user has no permission (HTTP 404).${details}`,
      ['Check the name or ID', ...request],
    );
  }
  if (status === 429 || status >= 500)
    return failed(
      'SCALR_UNREACHABLE',
      `https://${at.host} ${status === 429 ? 'receives too many requests' : 'reports an error'} (HTTP ${status}).${details}`,
      [
        'Run the same command again in some minutes',
        'If the error persists, check the status page of Scalr, and the proxy',
      ],
    );
  if (messages.length === 0) return notScalr(at, `HTTP ${status}`);
  return failed(
    'SCALR_REJECTED',
    `Cannot ${what} (HTTP ${status}).${details}`,
    status === 409
      ? ['Check the state of the object and the quotas of the account in Scalr']
      : ['Correct the value in the message'],
  );
}

const unauthorized = ({host, source}: AccountRef): ExpectedError =>
  failed('SCALR_DENIED', `${host} rejected the token from ${source} (HTTP 401).`, [
    `Create a token for ${host} in Scalr, and replace the one in ${source}`,
    'Use the token of a user or service account. An agent pool token has no access to the API',
  ]);

/** The account did not answer; what a change has done is unknown. */
export const unreachable = ({host}: AccountRef, reason: string): ExpectedError =>
  failed('SCALR_UNREACHABLE', `Cannot reach Scalr at https://${host} (${reason}).`, [
    /certificate|issuer|self.signed/i.test(reason)
      ? 'Add the CA of the host or of the proxy with --ca-file FILE'
      : 'Check the host, and the proxy in --https-proxy or HTTPS_PROXY',
    'Run the same command again',
  ]);

/** Something else answers at the host. */
export const notScalr = ({host}: AccountRef, reason: string): ExpectedError =>
  failed('SCALR_UNREACHABLE', `https://${host} does not respond like the Scalr API (${reason}).`, [
    'Use the URL in your browser when you are logged in to Scalr, for example --url https://acme.scalr.io',
  ]);
