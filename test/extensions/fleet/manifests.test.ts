import {describe, expect, test} from 'vitest';
import {parseAllDocuments} from 'yaml';
import ExportCommand from '../../../src/commands/export.ts';
import type {Values} from '../../../src/ground/tree.ts';
import {violations} from '../../support/output-schema.ts';
import {runCommand} from '../../support/run-command.ts';

async function exported(...argv: string[]) {
  const {stdout, stderr, exit} = await runCommand(ExportCommand, argv);
  expect({stderr, exit}).toMatchObject({exit: 0});
  expect(stdout).not.toMatch(/[&*]a\d/);
  return {
    stderr,
    objects: parseAllDocuments(stdout).map(
      (each) => each.toJS() as Values & {spec: Values; metadata: Values},
    ),
  };
}

const SYSTEM = 'fs-0123456789abcdef0';

describe('volume', () => {
  test.each([
    [['--cloud', 'gke'], 'filestore.csi.storage.gke.io', '1Ti'],
    [['--cloud', 'gke-autopilot', '--cache-size', '2Ti'], 'filestore.csi.storage.gke.io', '2Ti'],
    [['--cloud', 'aks'], 'file.csi.azure.com', '100Gi'],
    [['--cloud', 'eks', '--efs-handle', SYSTEM], 'efs.csi.aws.com', '5Gi'],
  ])('writes a StorageClass and a shared PVC with %j', async (argv, provisioner, storage) => {
    const {objects, stderr} = await exported('volume', ...argv, '--namespace', 'agents');
    const [storageClass, claim] = objects;
    expect(storageClass).toMatchObject({
      kind: 'StorageClass',
      provisioner,
      reclaimPolicy: 'Retain',
    });
    expect(claim).toMatchObject({
      metadata: {name: 'scalr-agent-cache', namespace: 'agents'},
      spec: {
        accessModes: ['ReadWriteMany'],
        storageClassName: storageClass?.metadata['name'],
        resources: {requests: {storage}},
      },
    });
    expect(stderr).toContain(
      'add these flags to scalr-agent install: --cache existing-pvc --cache-claim scalr-agent-cache',
    );
  });

  test('lets user 1000 of the charts write', async () => {
    const efs = await exported('volume', '--cloud', 'eks', '--efs-handle', SYSTEM);
    expect(efs.objects[0]).toMatchObject({
      parameters: {provisioningMode: 'efs-ap', fileSystemId: SYSTEM, uid: '1000', gid: '1000'},
    });
    const azure = await exported('volume', '--cloud', 'aks');
    expect(azure.objects[0]?.['mountOptions']).toEqual(
      expect.arrayContaining(['uid=1000', 'gid=1000']),
    );
  });

  test('binds an EFS access point that exists', async () => {
    const handle = `${SYSTEM}::fsap-0123456789abcdef0`;
    const {objects, stderr} = await exported(
      'volume',
      '--cloud',
      'eks',
      '--efs-handle',
      handle,
      '--release',
      'second',
    );
    const [volume, claim] = objects;
    expect(volume?.spec).toMatchObject({
      csi: {driver: 'efs.csi.aws.com', volumeHandle: handle},
      claimRef: {namespace: 'scalr-agent', name: 'second-cache'},
      persistentVolumeReclaimPolicy: 'Retain',
    });
    expect(claim?.spec).toMatchObject({storageClassName: '', volumeName: volume?.metadata['name']});
    expect(stderr).toContain('The access point must use user and group 1000.');
  });

  test.each([
    [[], 'For a cluster in GKE: scalr-agent export volume --cloud gke\n'],
    [['--cloud', 'other'], 'For a cluster in AKS: scalr-agent export volume --cloud aks\n'],
    [['--cloud', 'eks'], 'Add --efs-handle, for example fs-'],
    [
      ['--cloud', 'aks', '--efs-handle', SYSTEM],
      '--efs-handle is only for EFS, not for --cloud aks.',
    ],
  ])('names what is missing or does not fit with %j', async (argv, flag) => {
    const {stderr, exit} = await runCommand(ExportCommand, ['volume', ...argv]);
    expect(exit).toBe(2);
    expect(stderr).toContain(flag);
  });

  test('describes its files as JSON', async () => {
    const {stdout} = await runCommand(ExportCommand, ['volume', '--cloud', 'aks', '--json']);
    expect(violations('export', stdout)).toEqual([]);
  });
});

describe('prepull', () => {
  test('holds the runner images on the nodes of runs', async () => {
    const placed = [
      '--node-selector',
      'pool=runs',
      '--toleration',
      'spot:NoExecute',
      '--image-pull-secret',
      'mirror',
    ];
    const {objects} = await exported(
      'prepull',
      '--chart',
      'agent-job',
      '--image-registry',
      'registry.example.com',
      ...placed,
    );
    expect(objects).toHaveLength(1);
    const {spec, kind} = objects[0] as unknown as Values & {
      spec: {selector: Values; template: {spec: Values; metadata: Values}};
    };
    expect(kind).toBe('DaemonSet');
    expect(spec.template.metadata['labels']).toEqual(spec.selector['matchLabels']);
    expect(spec.template.spec).toMatchObject({
      nodeSelector: {pool: 'runs'},
      tolerations: [{key: 'spot', operator: 'Exists', effect: 'NoExecute'}],
      imagePullSecrets: [{name: 'mirror'}],
      automountServiceAccountToken: false,
    });
    const containers = spec.template.spec['containers'] as {image: string}[];
    expect(containers.map(({image}) => image)).toEqual([
      'registry.example.com/scalr/agent:1.4.0',
      'registry.example.com/scalr/runner:0.2.0',
    ]);
  });

  test('warns of images that the agent selects', async () => {
    const unknown = 'The agent selects a runner image per tool and version';
    expect((await exported('prepull', '--chart', 'agent-k8s')).stderr).toContain(unknown);
    const {objects, stderr} = await exported(
      'prepull',
      '--chart',
      'agent-k8s',
      '--runner-image',
      'scalr/runner:0.3.0',
    );
    expect(stderr).not.toContain(unknown);
    expect(JSON.stringify(objects)).toContain('scalr/runner:0.3.0');
  });
});
