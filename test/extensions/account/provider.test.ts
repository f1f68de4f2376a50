import {readFileSync} from 'node:fs';
import {request} from 'node:https';
import {expect, test} from 'vitest';
import {USER_TOKEN} from './mock-account.ts';
import {mockApi} from './mock-api.ts';

interface Recorded {
  method: string;
  path: string;
  body?: object;
}

/**
 * Recorded from Scalr's Terraform provider at e29c00c, under OpenTofu 1.12.6 against this mock: apply of a pool, its token and a data
 * source, a plan without changes, destroy.
 */
const RECORDED: Recorded[] = JSON.parse(
  readFileSync(new URL('provider-requests.json', import.meta.url), 'utf8'),
);

const AUTHORIZATION = {authorization: `Bearer ${USER_TOKEN}`, accept: 'application/vnd.api+json'};

test("the mock understands every request of Scalr's Terraform provider", async () => {
  const api = await mockApi();
  const environment = api.account.environment('prod');
  expect(environment.id).toBe('env-v0001');
  const send = ({method, path, body}: Recorded): Promise<number> =>
    new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const headers = {
        ...AUTHORIZATION,
        ...(text === undefined ? {} : {'content-type': 'application/vnd.api+json'}),
      };
      const call = request(
        `${api.url}/api/iacp/v3${path}`,
        {method, headers, ca: api.ca},
        (answer) => {
          answer.resume();
          answer.once('end', () => resolve(answer.statusCode ?? 0));
        },
      );
      call.once('error', reject).end(text);
    });
  const statuses: number[] = [];
  for (const each of RECORDED) statuses.push(await send(each));
  expect(statuses).toEqual(RECORDED.map(({method}) => ({POST: 201, DELETE: 204})[method] ?? 200));
  expect(api.account.ofType('agent-pools')).toEqual([]);
});
