import type {Container} from '../define.ts';
import {FLAT, NESTED} from './versions.ts';

/** Which extra variables end up in which container (templates/agent.yaml and task.yaml). */
export const containers: readonly Container[] = [
  {name: 'controller', in: FLAT, extraEnv: ['extraEnv']},
  {name: 'controller', in: NESTED, extraEnv: ['agent.extraEnv', 'agent.controller.extraEnv']},
  {name: 'worker', in: NESTED, extraEnv: ['agent.extraEnv', 'task.worker.extraEnv']},
  {
    name: 'runner',
    in: NESTED,
    extraEnv: ['task.runner.extraEnv'],
    own: new Set(['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'SSL_CERT_FILE', 'SCALR_AGENT_CA_CERT']),
  },
];
