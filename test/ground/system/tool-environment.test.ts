import {expect, test} from 'vitest';
import {toolEnvironment} from '../../../src/ground/system/tool-environment.ts';

test('tools and their plugins get no token or setting of this program, and no variable that replaces a flag', () => {
  const kept = {HOME: '/home/me', HTTPS_PROXY: 'http://proxy:3128', AWS_PROFILE: 'prod'};
  const environment = toolEnvironment({
    ...kept,
    SCALR_TOKEN: 'a',
    SCALR_AGENT_TOKEN: 'b',
    TF_TOKEN_acme_scalr_io: 'c',
    SCALR_AGENT_INSTALL_HTTPS_PROXY: 'http://me:hunter2@proxy:3128',
    HELM_NAMESPACE: 'other',
    KUBERC: '/home/me/kuberc',
  });
  expect(environment).toEqual({...kept, KUBERC: 'off'});
});
