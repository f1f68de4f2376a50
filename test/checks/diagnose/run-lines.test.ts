import {expect, test} from 'vitest';
import {codeOfRun} from '../../../src/checks/diagnose/run-lines.ts';
import causeExamples from '../../../templates/findings/cause-examples.json' with {type: 'json'};
import {AGENT_LINES} from './agent-lines.ts';

test.each([
  ...AGENT_LINES.map(({line}) => line),
  ...Object.values(causeExamples).map((each) => each.replaceAll(/\s+/g, ' ')),
  'pq: password authentication failed for user "scalr"',
  'failed to provision volume: rpc error: code = Internal desc = api error UnauthorizedOperation: You are not authorized',
  'OCI runtime create failed: exec: "aws": executable file not found in $PATH: unknown',
  'Failed to pull image "a": 403 AccessDenied',
  'Error: Kubernetes cluster unreachable: Get "http://localhost:8080/version": dial tcp 127.0.0.1:8080: connect: connection refused',
])('a line of an agent or of Kubernetes is none of a run: %s', (line) => {
  expect(codeOfRun(line)).toBeUndefined();
});
