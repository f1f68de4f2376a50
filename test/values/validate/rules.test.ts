import {describe, expect, test} from 'vitest';
import {CHARTS} from '../../../src/charts/charts.ts';
import {KUBERNETES_RULES} from '../../../src/values/rules/kubernetes-rules.ts';
import {validate} from '../../../src/values/validate/validate.ts';
import {CASES, type Named, targetOf} from './rule-cases.ts';

const saidOf = (text: string, name: Named): string[] =>
  validate(text, targetOf(name)).map(({code, subject}) => `${code} ${subject.path}`);

describe('rules between keys', () => {
  test.each(
    CASES,
  )('%s: %s is reported with its code, and its valid neighbor is not', (name, wrong, code, path, right) => {
    expect(saidOf(wrong, name)).toContain(`${code} ${path}`);
    expect(saidOf(right, name).filter((each) => each.startsWith(`${code} `))).toEqual([]);
  });

  test.each(Object.values(CHARTS))('has a pair of cases for every rule between keys of $name', ({
    name,
    valuesRules,
  }) => {
    const tested = new Set(
      CASES.filter(([named]) => targetOf(named).chart === name).map(([, , code]) => code),
    );
    const untested = valuesRules.map(({code}) => code).filter((code) => !tested.has(code));
    expect(
      untested,
      `add a pair for ${name} to CASES in test/values/validate/rule-cases.ts`,
    ).toEqual([]);
  });
});

/** Type, key of agent-job, what Kubernetes refuses there, the finding, and what it takes. */
const KUBERNETES: readonly [
  type: string,
  path: string,
  wrong: string,
  code: string,
  right: string,
][] = [
  [
    'AppArmorProfile',
    'agent.podSecurityContext',
    '{appArmorProfile: {type: Localhost}}',
    'REJECTED_BY_KUBERNETES',
    '{appArmorProfile: {type: RuntimeDefault}}',
  ],
  [
    'ConfigMapVolumeSource',
    'task.extraVolumes',
    '[{name: a, configMap: {name: c, defaultMode: 1000}}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: a, configMap: {name: c, defaultMode: 0755}}]',
  ],
  [
    'Container',
    'task.sidecars',
    '[{name: My_Sidecar, image: a}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: my-sidecar, image: a}]',
  ],
  [
    'ContainerPort',
    'task.sidecars',
    '[{name: a, image: a, ports: [{containerPort: 70000}]}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: a, image: a, ports: [{containerPort: 8080}]}]',
  ],
  [
    'EnvFromSource',
    'agent.controller.extraEnvFrom',
    '[{prefix: A_}]',
    'REJECTED_BY_KUBERNETES',
    '[{prefix: A_, secretRef: {name: s}}]',
  ],
  [
    'EnvVar',
    'agent.controller.extraEnv',
    '[{name: A, value: b, valueFrom: {secretKeyRef: {name: s, key: k}}}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}]',
  ],
  [
    'EnvVar',
    'agent.controller.extraEnv',
    '[{name: A, value: 1}]',
    'UNQUOTED_TEXT',
    '[{name: A, value: "1"}]',
  ],
  [
    'EnvVarSource',
    'agent.controller.extraEnv',
    '[{name: A, valueFrom: {}}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: A, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]',
  ],
  [
    'HostPathVolumeSource',
    'task.extraVolumes',
    '[{name: a, hostPath: {path: var/x}}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: a, hostPath: {path: /var/x}}]',
  ],
  ['Labels', 'task.nodeSelector', '{pool: 1}', 'UNQUOTED_TEXT', '{pool: "1"}'],
  ['Labels', 'task.podLabels', '{team: "a b"}', 'WRONG_VALUE', '{team: a-b}'],
  ['Labels', 'task.podLabels', '{"a b": c}', 'WRONG_VALUE', '{example.com/a: c}'],
  [
    'Annotations',
    'task.podAnnotations',
    '{flag: true}',
    'UNQUOTED_TEXT',
    '{flag: "true", other: "a b: c"}',
  ],
  [
    'LabelSelectorRequirement',
    'task.affinity',
    '{podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, labelSelector: {matchExpressions: [{key: a, operator: In}]}}]}}',
    'REJECTED_BY_KUBERNETES',
    '{podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, labelSelector: {matchExpressions: [{key: a, operator: In, values: [b]}]}}]}}',
  ],
  [
    'LocalObjectReference',
    'global.imagePullSecrets',
    '[{name: My_Secret}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: my-secret}]',
  ],
  [
    'LocalObjectReference',
    'global.imagePullSecrets',
    '[my-secret]',
    'WRONG_TYPE',
    '[{name: my-secret}]',
  ],
  [
    'LocalObjectReference',
    'global.imagePullSecrets',
    '[{name: a}, {name: a}]',
    'DUPLICATE_ITEM',
    '[{name: a}, {name: b}]',
  ],
  [
    'NodeSelector',
    'task.affinity',
    '{nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}',
    'REJECTED_BY_KUBERNETES',
    '{nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}}',
  ],
  [
    'NodeSelectorRequirement',
    'task.affinity',
    '{nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Gt, values: [x]}]}]}}}',
    'REJECTED_BY_KUBERNETES',
    '{nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Gt, values: ["3"]}]}]}}}',
  ],
  [
    'PersistentVolumeClaimVolumeSource',
    'task.extraVolumes',
    '[{name: a, persistentVolumeClaim: {claimName: My_Claim}}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: a, persistentVolumeClaim: {claimName: my-claim}}]',
  ],
  [
    'PodAffinityTerm',
    'task.affinity',
    '{podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: ""}]}}',
    'REJECTED_BY_KUBERNETES',
    '{podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname}]}}',
  ],
  [
    'PodSecurityContext',
    'global.podSecurityContext',
    '{fsGroup: -1}',
    'REJECTED_BY_KUBERNETES',
    '{fsGroup: 2000}',
  ],
  [
    'PolicyRule',
    'rbac.rules',
    '[{apiGroups: [""], resources: [pods], verbs: []}]',
    'REJECTED_BY_KUBERNETES',
    '[{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]',
  ],
  [
    'PreferredSchedulingTerm',
    'task.affinity',
    '{nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 0, preference: {}}]}}',
    'REJECTED_BY_KUBERNETES',
    '{nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {}}]}}',
  ],
  [
    'ResourceRequirements',
    'agent.resources',
    '{requests: {memory: 2Gi}, limits: {memory: 1Gi}}',
    'REQUEST_ABOVE_LIMIT',
    '{requests: {memory: 1Gi}, limits: {memory: 1Gi}}',
  ],
  [
    'ResourceRequirements',
    'agent.resources',
    '{requests: {memory: 512MB}}',
    'WRONG_VALUE',
    '{requests: {memory: 512Mi}}',
  ],
  [
    'ResourceRequirements',
    'agent.resources',
    '{memory: 512Mi}',
    'UNKNOWN_KEY',
    '{requests: {memory: 512Mi}}',
  ],
  [
    'ResourceRequirements',
    'task.runner.resources',
    '{limits: {memory: 256Mi}}',
    'REQUEST_ABOVE_LIMIT',
    '{limits: {memory: 3Gi}}',
  ],
  [
    'ResourceRequirements',
    'task.runner.resources',
    '{limits: {memory: 3000m}, requests: {memory: 1000m}}',
    'UNLIKELY_AMOUNT',
    '{limits: {memory: 3000M}, requests: {memory: 1000M}}',
  ],
  [
    'ResourceRequirements',
    'agent.resources',
    '{requests: {cpu: 500}}',
    'UNLIKELY_AMOUNT',
    '{requests: {cpu: 500m}}',
  ],
  [
    'SeccompProfile',
    'global.podSecurityContext',
    '{seccompProfile: {type: RuntimeDefault, localhostProfile: a}}',
    'REJECTED_BY_KUBERNETES',
    '{seccompProfile: {type: Localhost, localhostProfile: a}}',
  ],
  [
    'SecretVolumeSource',
    'task.extraVolumes',
    '[{name: a, secret: {}}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: a, secret: {secretName: s}}]',
  ],
  [
    'SecurityContext',
    'task.runner.securityContext',
    '{privileged: true, allowPrivilegeEscalation: false}',
    'REJECTED_BY_KUBERNETES',
    '{privileged: true, allowPrivilegeEscalation: null}',
  ],
  [
    'SecurityContext',
    'task.worker.securityContext',
    '{runAsNonRoot: true, runAsUser: 0}',
    'REJECTED_BY_KUBERNETES',
    '{runAsNonRoot: true, runAsUser: 1}',
  ],
  [
    'Toleration',
    'task.tolerations',
    '[{key: a, operator: Exists, value: b}]',
    'REJECTED_BY_KUBERNETES',
    '[{key: a, operator: Equal, value: b}]',
  ],
  [
    'Toleration',
    'task.tolerations',
    '[{key: a, effect: NoSchedules}]',
    'WRONG_VALUE',
    '[{key: a, effect: NoSchedule}]',
  ],
  ['Toleration', 'task.tolerations', '{key: a}', 'WRONG_TYPE', '[{key: a}]'],
  [
    'TopologySpreadConstraint',
    'agent.topologySpreadConstraints',
    '[{maxSkew: 0, topologyKey: a, whenUnsatisfiable: DoNotSchedule}]',
    'REJECTED_BY_KUBERNETES',
    '[{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule}]',
  ],
  [
    'TopologySpreadConstraint',
    'agent.topologySpreadConstraints',
    '[{maxSkew: 1, topologyKey: a}]',
    'MISSING_KEY',
    '[{maxSkew: 1, topologyKey: a, whenUnsatisfiable: ScheduleAnyway}]',
  ],
  [
    'Volume',
    'task.extraVolumes',
    '[{name: a, emptyDir: {}, hostPath: {path: /a}}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: a, emptyDir: {}}]',
  ],
  [
    'VolumeMount',
    'task.sidecars',
    '[{name: a, image: a, volumeMounts: [{name: tmp-dir, mountPath: "a:b"}]}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: a, image: a, volumeMounts: [{name: tmp-dir, mountPath: /b}]}]',
  ],
  [
    'WeightedPodAffinityTerm',
    'task.affinity',
    '{podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 101, podAffinityTerm: {topologyKey: a}}]}}',
    'REJECTED_BY_KUBERNETES',
    '{podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 100, podAffinityTerm: {topologyKey: a}}]}}',
  ],
  [
    'CSIVolumeSource',
    'task.extraVolumes',
    '[{name: a, csi: {driver: My_Driver}}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: a, csi: {driver: secrets-store.csi.k8s.io}}]',
  ],
  [
    'CSIVolumeSource',
    'task.extraVolumes',
    `[{name: a, csi: {driver: ${'a'.repeat(64)}}}]`,
    'REJECTED_BY_KUBERNETES',
    `[{name: a, csi: {driver: Secrets-Store.csi.k8s.io}}]`,
  ],
  [
    'ConfigMapEnvSource',
    'agent.controller.extraEnvFrom',
    '[{configMapRef: {name: My_Map}}]',
    'REJECTED_BY_KUBERNETES',
    '[{configMapRef: {name: my-map}}]',
  ],
  [
    'ConfigMapKeySelector',
    'agent.controller.extraEnv',
    '[{name: A, valueFrom: {configMapKeyRef: {name: a, key: a b}}}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: A, valueFrom: {configMapKeyRef: {name: a, key: a_b}}}]',
  ],
  [
    'ConfigMapProjection',
    'task.extraVolumes',
    '[{name: a, projected: {sources: [{configMap: {}}]}}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: a, projected: {sources: [{configMap: {name: b}}]}}]',
  ],
  [
    'ConfigMapVolumeSource',
    'task.extraVolumes',
    '[{name: a, configMap: {}}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: a, configMap: {name: b}}]',
  ],
  [
    'DownwardAPIVolumeFile',
    'task.extraVolumes',
    '[{name: a, downwardAPI: {items: [{path: a, fieldRef: {fieldPath: status.podIP}}]}}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: a, downwardAPI: {items: [{path: a, fieldRef: {fieldPath: metadata.name}}]}}]',
  ],
  [
    'DownwardAPIVolumeSource',
    'task.extraVolumes',
    '[{name: a, downwardAPI: {defaultMode: 1000}}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: a, downwardAPI: {defaultMode: 256}}]',
  ],
  [
    'EphemeralVolumeSource',
    'task.extraVolumes',
    '[{name: a, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce]}}}}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: a, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}]',
  ],
  [
    'EphemeralVolumeSource',
    'task.extraVolumes',
    '[{name: a, ephemeral: {volumeClaimTemplate: {metadata: {name: b}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: a, ephemeral: {volumeClaimTemplate: {metadata: {labels: {b: c}}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}]',
  ],
  [
    'ExecAction',
    'task.sidecars',
    '[{name: a, image: b, livenessProbe: {exec: {command: []}}}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: a, image: b, livenessProbe: {exec: {command: [ls]}}}]',
  ],
  [
    'EnvVarSource',
    'agent.controller.extraEnv',
    '[{name: A, valueFrom: {fieldRef: {fieldPath: spec.node}}}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: A, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]',
  ],
  [
    'HTTPGetAction',
    'task.sidecars',
    '[{name: a, image: b, livenessProbe: {httpGet: {port: "80"}}}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: a, image: b, livenessProbe: {httpGet: {port: 80}}}]',
  ],
  [
    'HTTPHeader',
    'task.sidecars',
    '[{name: a, image: b, livenessProbe: {httpGet: {port: 80, httpHeaders: [{name: a b, value: c}]}}}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: a, image: b, livenessProbe: {httpGet: {port: 80, httpHeaders: [{name: a-b, value: c}]}}}]',
  ],
  [
    'KeyToPath',
    'task.extraVolumes',
    '[{name: a, secret: {secretName: b, items: [{key: c, path: /d}]}}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: a, secret: {secretName: b, items: [{key: c, path: d}]}}]',
  ],
  [
    'LabelSelector',
    'task.affinity',
    '{podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, labelSelector: {matchLabels: {a: b c}}}]}}',
    'REJECTED_BY_KUBERNETES',
    '{podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, labelSelector: {matchLabels: {a: b-c}}}]}}',
  ],
  [
    'LabelSelectorRequirement',
    'task.affinity',
    '{podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, labelSelector: {matchExpressions: [{key: a, operator: Equals, values: [b]}]}}]}}',
    'REJECTED_BY_KUBERNETES',
    '{podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, labelSelector: {matchExpressions: [{key: a, operator: In, values: [b]}]}}]}}',
  ],
  [
    'LifecycleHandler',
    'task.sidecars',
    '[{name: a, image: b, lifecycle: {preStop: {}}}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: a, image: b, lifecycle: {preStop: {sleep: {seconds: 5}}}}]',
  ],
  [
    'NFSVolumeSource',
    'task.extraVolumes',
    '[{name: a, nfs: {server: b, path: c}}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: a, nfs: {server: b, path: /c}}]',
  ],
  [
    'ObjectMeta',
    'task.extraVolumes',
    '[{name: a, ephemeral: {volumeClaimTemplate: {metadata: {labels: {b: c d}}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: a, ephemeral: {volumeClaimTemplate: {metadata: {labels: {b: c-d}}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}]',
  ],
  [
    'PersistentVolumeClaimSpec',
    'task.extraVolumes',
    '[{name: a, ephemeral: {volumeClaimTemplate: {spec: {storageClassName: Fast_One, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: a, ephemeral: {volumeClaimTemplate: {spec: {storageClassName: fast-one, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}]',
  ],
  [
    'PodAffinityTerm',
    'task.affinity',
    '{podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, namespaces: [My_Space]}]}}',
    'REJECTED_BY_KUBERNETES',
    '{podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, namespaces: [my-space]}]}}',
  ],
  [
    'PodSecurityContext',
    'global.podSecurityContext',
    '{supplementalGroups: [-1]}',
    'REJECTED_BY_KUBERNETES',
    '{supplementalGroups: [2000]}',
  ],
  [
    'PodSecurityContext',
    'global.podSecurityContext',
    '{sysctls: [{name: a, value: "1"}, {name: a, value: "2"}]}',
    'REJECTED_BY_KUBERNETES',
    '{sysctls: [{name: a, value: "1"}, {name: b, value: "2"}]}',
  ],
  [
    'Probe',
    'task.sidecars',
    '[{name: a, image: b, livenessProbe: {periodSeconds: 5}}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: a, image: b, livenessProbe: {periodSeconds: 5, tcpSocket: {port: 80}}}]',
  ],
  [
    'Probe',
    'task.sidecars',
    '[{name: a, image: b, livenessProbe: {periodSeconds: -5, tcpSocket: {port: 80}}}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: a, image: b, livenessProbe: {periodSeconds: 5, tcpSocket: {port: 80}}}]',
  ],
  [
    'ProjectedVolumeSource',
    'task.extraVolumes',
    '[{name: a, projected: {sources: [{secret: {name: b, items: [{key: c, path: d}]}}, {secret: {name: e, items: [{key: f, path: d}]}}]}}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: a, projected: {sources: [{secret: {name: b, items: [{key: c, path: d}]}}, {secret: {name: e, items: [{key: f, path: g}]}}]}}]',
  ],
  [
    'ResourceFieldSelector',
    'agent.controller.extraEnv',
    '[{name: A, valueFrom: {resourceFieldRef: {resource: memory}}}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: A, valueFrom: {resourceFieldRef: {resource: limits.memory}}}]',
  ],
  [
    'ResourceRequirements',
    'agent.resources',
    '{limits: {nvidia.com/gpu: 500m}}',
    'REJECTED_BY_KUBERNETES',
    '{limits: {nvidia.com/gpu: 1}}',
  ],
  [
    'ResourceRequirements',
    'agent.resources',
    '{requests: {cpu: "1e3"}, limits: {cpu: 4}}',
    'REQUEST_ABOVE_LIMIT',
    '{requests: {cpu: 4}, limits: {cpu: "1e1"}}',
  ],
  [
    'SeccompProfile',
    'global.podSecurityContext',
    '{seccompProfile: {type: Localhost, localhostProfile: /a}}',
    'REJECTED_BY_KUBERNETES',
    '{seccompProfile: {type: Localhost, localhostProfile: a}}',
  ],
  [
    'SecretEnvSource',
    'agent.controller.extraEnvFrom',
    '[{secretRef: {}}]',
    'REJECTED_BY_KUBERNETES',
    '[{secretRef: {name: s}}]',
  ],
  [
    'SecretKeySelector',
    'agent.controller.extraEnv',
    '[{name: A, valueFrom: {secretKeyRef: {name: s, key: a/b}}}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: A, valueFrom: {secretKeyRef: {name: s, key: a.b}}}]',
  ],
  [
    'SecretProjection',
    'task.extraVolumes',
    '[{name: a, projected: {sources: [{secret: {}}]}}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: a, projected: {sources: [{secret: {name: b}}]}}]',
  ],
  [
    'SecurityContext',
    'task.worker.securityContext',
    '{runAsGroup: -1}',
    'REJECTED_BY_KUBERNETES',
    '{runAsGroup: 1}',
  ],
  [
    'ServiceAccountTokenProjection',
    'task.extraVolumes',
    '[{name: a, projected: {sources: [{serviceAccountToken: {path: a, expirationSeconds: 60}}]}}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: a, projected: {sources: [{serviceAccountToken: {path: a, expirationSeconds: 600}}]}}]',
  ],
  [
    'Sysctl',
    'global.podSecurityContext',
    '{sysctls: [{name: A B, value: "1"}]}',
    'REJECTED_BY_KUBERNETES',
    '{sysctls: [{name: net.ipv4.tcp_syncookies, value: "1"}]}',
  ],
  [
    'TCPSocketAction',
    'task.sidecars',
    '[{name: a, image: b, startupProbe: {tcpSocket: {port: 70000}}}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: a, image: b, startupProbe: {tcpSocket: {port: http}}}]',
  ],
  ['Toleration', 'task.tolerations', '{}', 'WRONG_TYPE', '[]'],
  [
    'TopologySpreadConstraint',
    'agent.topologySpreadConstraints',
    '[{maxSkew: 1, topologyKey: a, whenUnsatisfiable: ""}]',
    'REJECTED_BY_KUBERNETES',
    '[{maxSkew: 1, topologyKey: a, whenUnsatisfiable: ScheduleAnyway}]',
  ],
  [
    'Volume',
    'task.extraVolumes',
    '[{name: a}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: a, emptyDir: {}}]',
  ],
  [
    'VolumeProjection',
    'task.extraVolumes',
    '[{name: a, projected: {sources: [{secret: {name: b}, configMap: {name: c}}]}}]',
    'REJECTED_BY_KUBERNETES',
    '[{name: a, projected: {sources: [{downwardAPI: {}}]}}]',
  ],
  [
    'ResourceRequirements',
    'agent.resources',
    '{limits: {cpu: null}}',
    'NULL_IS_ZERO',
    '{requests: {cpu: null}}',
  ],
  [
    'ResourceRequirements',
    'task.runner.resources',
    '{limits: {nvidia.com/gpu: null}}',
    'NULL_IS_ZERO',
    '{limits: {cpu: null}}',
  ],
];

const below = (path: string, text: string): string =>
  path.split('.').reduceRight((inner, key) => `{${key}: ${inner}}`, text);

describe('what Kubernetes refuses', () => {
  const said = (path: string, text: string) =>
    validate(`${below(path, text).slice(1, -1)}\n`, targetOf('job 0.6.5')).filter(
      ({code}) => code !== 'NO_TOKEN' && code !== 'CACHES_LARGER_THAN_VOLUME',
    );

  test.each(
    KUBERNETES,
  )('%s in %s: %s is reported, and its valid neighbor is not', (_, path, wrong, code, right) => {
    const found = said(path, wrong);
    expect(found.map((each) => each.code)).toContain(code);
    expect(found.every(({subject}) => subject.line === 1)).toBe(true);
    expect(said(path, right)).toEqual([]);
  });

  test('has a pair of cases for every rule', () => {
    expect(
      Object.keys(KUBERNETES_RULES).filter((type) => !KUBERNETES.some((each) => each[0] === type)),
    ).toEqual([]);
  });
});

test.each([
  ['', 'persistence.cache.emptyDir.sizeLimit'],
  [
    'persistence: {cache: {enabled: true, persistentVolumeClaim: {storage: 1Gi}}}\n',
    'persistence.cache.persistentVolumeClaim.storage',
  ],
])('caches that exceed their volume name the key of that volume: %s', (volume, key) => {
  const found = validate(
    `agent: {providerCache: {enabled: true, sizeLimit: 40Gi}}\n${volume}`,
    targetOf('job 0.6.5'),
  );
  const [larger] = found.filter(({code}) => code === 'CACHES_LARGER_THAN_VOLUME');
  expect(larger?.message).toContain(`Increase ${key},`);
});
