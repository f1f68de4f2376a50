import type {ValuesRule} from '../define.ts';
import {at, getAt, type Values} from '../tree.ts';
import {directories, runsNotCovered, tokenInOnePiece, urlOfAccount} from '../values-rules/agent.ts';
import {textAt} from '../values-rules/reading.ts';
import {notNull, printedBare, selectorLabels} from '../values-rules/texts.ts';

const isHostPath = (values: Values): boolean => textAt(values, 'efsVolumeHandle') === '';

/** Rules between keys of agent-k8s. */
export const valuesRules: readonly ValuesRule[] = [
  tokenInOnePiece,
  urlOfAccount,
  ...['agent.ca_cert', 'agent.container_task_ca_cert'].map(
    (path): ValuesRule => ({
      id: 'T11',
      code: 'NOT_ONE_LINE',
      severity: 'error',
      test: (values) => {
        const text = textAt(values, path);
        // Line ends, quotes and backslashes break the manifest: T12 speaks of those.
        const isFine = /^\/\S*$|^[A-Za-z0-9+/]*=*$|[\n"\\]/.test(text);
        return isFine
          ? []
          : [
              {
                path: at(path),
                message: 'This takes the path of a file in the image or the base64 of the PEM file in one line (base64 -w0).',
              },
            ];
      },
    }),
  ),
  {
    id: 'R24',
    code: 'NOT_ROOT_ON_HOSTPATH',
    severity: 'warning',
    test: (values) =>
      isHostPath(values)
        ? ['securityContext.runAsUser', 'podSecurityContext.runAsUser'].flatMap((path) =>
            Number(getAt(values, at(path)) ?? 0) === 0
              ? []
              : [
                  {
                    path: at(path),
                    message:
                      'The kubelet makes the data directory of the node for root, and another user cannot write there: only with EFS.',
                  },
                ],
          )
        : [],
  },
  runsNotCovered('*', 'the controller and the workers'),
  {
    id: 'R43',
    code: 'NO_PERMISSIONS',
    severity: 'error',
    test: (values) =>
      getAt(values, at('serviceAccount.create')) === false && textAt(values, 'serviceAccount.name') === ''
        ? [
            {
              path: at('serviceAccount.create'),
              message:
                'Without it the chart makes no Role either, and the controller runs as the default account, which may not create pods.',
              suggestion: 'Leave it true, or set serviceAccount.name to an account that has a Role',
            },
          ]
        : [],
  },
  selectorLabels(
    'R44',
    '*',
    ['agent.kubernetes_task_labels'],
    ['app.kubernetes.io/name', 'app.kubernetes.io/instance'],
    'The selector of the workers looks for this label, and they could adopt the pods of runs.',
  ),
  {
    id: '2.6',
    code: 'IMAGE_MODE',
    in: '>=0.5.67',
    severity: 'warning',
    test: (values) =>
      textAt(values, 'agent.container_task_image_mode') === 'legacy'
        ? [
            {
              path: at('agent.container_task_image'),
              message: 'The mode is legacy, and this image counts only in golden mode.',
              suggestion: 'agent.container_task_image_mode: golden',
            },
          ]
        : [
            {
              path: at('agent.container_task_image_registry'),
              message: 'The mode is golden, where the whole reference stands in agent.container_task_image (T49).',
            },
          ],
  },
  printedBare(
    '*',
    'nameOverride',
    'fullnameOverride',
    'serviceAccount.name',
    'agent.tokenExistingSecret',
    'agent.tokenExistingSecretKey',
    'agent.data_home',
    'efsVolumeHandle',
  ),
  notNull('*', 'podAnnotations', 'controllerPodAnnotations', 'workerPodAnnotations'),
  directories('*', 'agent.data_home'),
];
