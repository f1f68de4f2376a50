import {expect, test} from 'vitest';
import {apiErrorOf, apiFailure} from '../../src/cluster/kubernetes/api-error.ts';
import {toolFailure} from '../../src/ground/tool-errors.ts';
import {isWebPage, webPageText} from '../../src/ground/web-page.ts';

const DENIED =
  '<html><head><title>Access &amp; Login</title></head><body><h1>Blocked by policy</h1></body></html>';

test.each([
  [
    {status: 200, body: '<!DOCTYPE html>\n<title>\n Sign\tin </title>'},
    'The server returned a web page instead of a Kubernetes API response (status 200, title "Sign in")',
  ],
  [
    {status: 302, location: 'https://me:pw@login.example.com/?rd=secret', body: ''},
    'The server returned a web page instead of a Kubernetes API response (redirect to login.example.com)',
  ],
  [
    {body: '<html><body><h1>503 <b>Unavailable</b></h1></body></html>'},
    'The server returned a web page instead of a Kubernetes API response (title "503 Unavailable")',
  ],
  [
    {body: '<html>auth</html>'},
    'The server returned a web page instead of a Kubernetes API response',
  ],
])('describes a web page by its title or its redirect: %j', (page, text) => {
  expect(webPageText(page)).toBe(text);
});

test('tells a web page from the API by its content or its type', () => {
  expect(isWebPage('  <!-- a comment -->\n<HTML lang="en">')).toBe(true);
  expect(isWebPage('<?xml version="1.0"?><html/>')).toBe(true);
  expect(isWebPage('Sign in', 'text/html; charset=utf-8')).toBe(true);
  expect(isWebPage('{"kind":"Status"}', 'application/json')).toBe(false);
  expect(isWebPage('the agent logs <html> sometimes', 'text/plain')).toBe(false);
});

test.each([
  302, 403, 404, 407, 503,
])('is not a missing permission or object in a response with status %i', (status) => {
  const failure = apiFailure(apiErrorOf(status, DENIED), {});
  expect(failure.code).toBe('CLUSTER_UNREACHABLE');
  expect(failure.message).toContain(`(status ${status}, title "Access & Login")`);
  expect(failure.message).not.toContain('<');
});

test.each([
  ['helm', 'Error: kubernetes cluster unreachable: '],
  ['kubectl', 'Error from server (Forbidden): '],
] as const)('is named instead of quoted when %s fails because of it', (tool, before) => {
  const stderr = `${before}${DENIED}`;
  const failure = toolFailure(
    {tool, verb: 'version', kubeTarget: {namespace: 'team'}},
    {exitCode: 1, stdout: '', stderr},
  );
  expect(failure).toMatchObject({
    code: 'CLUSTER_UNREACHABLE',
    message:
      'The server returned a web page instead of a Kubernetes API response (title "Access & Login").',
  });
});
