import {describe, expect, test} from 'vitest';
import Validate from '../../../src/commands/validate.ts';
import type {FindingDocument} from '../../../src/ui/findings.ts';
import {memoryFiles} from '../../support/memory-files.ts';
import {runCommand} from '../../support/run-command.ts';

/** What validate says about files in the forms that people have: `CODE path` of each finding, and messages. */
async function check(files: Record<string, string>, ...argv: string[]) {
  const names = argv.length > 0 ? argv : [Object.keys(files)[0] as string];
  const disk = memoryFiles(files, files['-']);
  const {stdout, stderr, exit} = await runCommand(Validate, [...names, '--json'], {files: disk});
  const document = JSON.parse(stdout) as Checked & {files?: Checked[]; skipped?: number};
  const found = (document.files ?? [document]).flatMap(({findings = []}) => findings);
  return {
    exit,
    notes: stderr,
    skipped: document.skipped,
    found: found.map(({code, path}) => `${code} ${path}`.trim()).toSorted(),
    lines: found.map(({line}) => line),
    texts: found.map(({message, suggestion = ''}) => `${message} → ${suggestion}`),
  };
}

interface Checked {
  findings?: FindingDocument[];
}

const codes = async (text: string, file = 'a.yaml'): Promise<string[]> =>
  (await check({[file]: text})).found;

const TOKEN_SECRET = 'agent: {url: "https://acme.scalr.io", tokenExistingSecret: {name: t}}';
const release = (spec: string, name = 'scalr-agent'): string =>
  `apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: ${name}, namespace: agents}\nspec:\n${spec}`;
const chart = (name: string, version: string): string =>
  `  chart: {spec: {chart: ${name}, version: "${version}", sourceRef: {kind: HelmRepository, name: scalr}}}\n`;

describe('a HelmRelease of Flux', () => {
  test('has its token in a Secret that it refers to', async () => {
    const from =
      '  valuesFrom: [{kind: Secret, name: token, valuesKey: token, targetPath: agent.token}]\n';
    const values = '  values: {replicaCount: 1, agent: {url: "https://acme.scalr.io"}}\n';
    expect(await codes(release(chart('agent-local', '0.5.71') + from + values))).toEqual([]);
    const misspelled = from.replace('agent.token}', 'agent.tokn}');
    expect(await codes(release(chart('agent-local', '0.5.71') + misspelled + values))).toContain(
      'UNKNOWN_KEY agent.tokn',
    );
  });

  test('uses anchors and merge keys of the whole document', async () => {
    const text = release(
      `${chart('agent-local', '0.6.4')}  values:\n    fullnameOverride: *app\n    agent:\n      url: https://acme.scalr.io\n      tokenExistingSecret: {name: *app}\n    podAnnotations: &notes {reloader: "true"}\n    extraEnv: {<<: *notes, TZ: UTC}\n`,
    ).replace('name: scalr-agent', 'name: &app scalr-agent');
    expect(await codes(text)).toEqual([]);
    expect((await check({'a.yaml': text.replace('url:', 'urll:')})).lines).toEqual([9]);
  });

  test('may have variables that Flux substitutes, whose keys are checked', async () => {
    const text = release(
      '  chart: {spec: {chart: agent-job, version: "${VERSION:=0.6.5}"}}\n  upgrade: {crds: CreateReplace}\n  values:\n    agent:\n      url: https://${ACCOUNT}.scalr.io\n      replicaCount: ${REPLICAS:=2}\n      debgu: ${DEBUG}\n      tokenExistingSecret: {name: t}\n    task: {nodeSelector: {region: "${REGION}"}}\n',
    );
    const {found, notes} = await check({'a.yaml': text});
    expect(found).toEqual(['UNCHECKED_VALUE agent.url', 'UNKNOWN_KEY agent.debgu']);
    expect(notes).toContain('agent-job 0.6.5 (the default of ${VERSION:=0.6.5})');
  });

  const FROM = release(
    `${chart('agent-local', '0.6.5')}  valuesFrom: [{kind: KIND, name: base}]\n`,
  );
  test.each([
    ['a ConfigMap', 'ConfigMap', 'data:\n  values.yaml: |\n    TEXT'],
    ['a Secret', 'Secret', 'stringData:\n  values.yaml: |\n    TEXT'],
    ['an encoded Secret', 'Secret', 'data:\n  values.yaml: BASE64'],
  ])('has values in %s of the same files', async (_, kind, data) => {
    const values = TOKEN_SECRET.replace('name: t', 'nmae: t');
    const object =
      `apiVersion: v1\nkind: ${kind}\nmetadata: {name: base, namespace: agents}\n${data}\n`
        .replace('TEXT', values)
        .replace('BASE64', Buffer.from(values).toString('base64'));
    const wrong = ['NO_TOKEN agent.token', 'UNKNOWN_KEY agent.tokenExistingSecret.nmae'];
    const text = FROM.replace('KIND', kind);
    expect(await codes(`${object}---\n${text}`)).toEqual(wrong);
    const files = {'release.yaml': text, 'object.yaml': object};
    expect((await check(files, 'release.yaml', 'object.yaml')).found).toEqual(wrong);
    const {found, notes} = await check({'release.yaml': text});
    expect(found).toEqual([]);
    expect(notes).toContain(`checked without other values of the HelmRelease (${kind} base)`);
  });

  test.each([
    ['OCIRepository', '{url: oci://registry.corp/charts/agent-local, ref: {tag: 0.6.4}}'],
    ['OCIRepository', '{url: oci://registry.corp/charts/agent-local, ref: {semver: 0.6.x}}'],
    ['HelmChart', '{chart: agent-local, version: 0.6.4, sourceRef: {kind: HelmRepository}}'],
  ])('has its chart in a %s', async (kind, spec) => {
    const object = `apiVersion: source.toolkit.fluxcd.io/v1\nkind: ${kind}\nmetadata: {name: c, namespace: agents}\nspec: ${spec}\n`;
    const text = release(
      `  chartRef: {kind: ${kind}, name: c}\n  values: {${TOKEN_SECRET.replace('url', 'urll')}}\n`,
    );
    expect(await codes(`${object}---\n${text}`)).toContain('UNKNOWN_KEY agent.urll');
    expect((await check({'a.yaml': text, 'b.yaml': object}, 'a.yaml', 'b.yaml')).found).toContain(
      'UNKNOWN_KEY agent.urll',
    );
    expect(await codes(text)).toEqual(['UNCHECKED_FILE']);
  });

  test('is checked against the newest version in its range', async () => {
    const values = `  values:\n    ${TOKEN_SECRET}\n    persistence: {cache: {enabled: false, hostPath: {path: /mnt}}}\n`;
    const job = (version: string): string =>
      release(`${chart('agent-job', version)}  upgrade: {crds: CreateReplace}\n${values}`);
    const {found, texts} = await check({'a.yaml': job('0.5.x')});
    expect(found).toEqual(['UNKNOWN_KEY persistence.cache.hostPath', 'VERSION_RANGE']);
    expect(texts.join('\n')).toContain('Set an exact version, for example 0.5.79');
    expect(await codes(job('~0.6.2'))).not.toContain('UNKNOWN_KEY persistence.cache.hostPath');
    for (const outside of ['>=0.7.0', '~1.0', '0.4.x', '${VERSION}'])
      expect(await codes(job(outside)), outside).toEqual(['UNCHECKED_FILE']);
    expect(
      (await check({'a.yaml': job('>=0.7.0')}, 'a.yaml', '--chart-version', '0.5.79')).found,
    ).toContain('UNKNOWN_KEY persistence.cache.hostPath');
  });

  test('from a Git repository has no known version', async () => {
    const git = release(
      `  chart: {spec: {chart: ./charts/agent-local, sourceRef: {kind: GitRepository, name: a}}}\n  values: {replicas: 2}\n`,
    );
    expect(await codes(git)).toEqual(['UNCHECKED_FILE']);
    expect((await check({'a.yaml': git}, 'a.yaml', '--chart-version', '0.6.5')).found).toContain(
      'UNKNOWN_KEY replicas',
    );
  });

  test('with a version that was never released, or is too old, does not stop the others', async () => {
    const files = {
      'a.yaml': release(`${chart('agent-job', '0.6.0')}  upgrade: {crds: Create}\n`),
      'b.yaml': release(`${chart('agent-k8s', '0.5.30')}`),
      'c.yaml': release(`${chart('agent-local', '0.6.5')}  values: {replicas: 1}\n`),
    };
    expect((await check(files, 'a.yaml', 'b.yaml', 'c.yaml')).found).toEqual([
      'NO_TOKEN agent.token',
      'UNCHECKED_FILE',
      'UNKNOWN_KEY replicas',
      'VERSION_NOT_RELEASED',
    ]);
  });

  test('that is only a patch is not checked', async () => {
    expect(await codes(release(`  values: {replicaCount: 2}\n`))).toEqual(['UNCHECKED_FILE']);
    expect(await codes(release(`  values: {replicaCount: 2}\n`, 'nginx'))).toEqual([]);
  });
});

describe('files of other engines', () => {
  const argo = (source: string): string =>
    `apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: scalr-agent}\nspec:\n  source:\n    repoURL: https://scalr.github.io/agent-helm/\n${source}`;

  test('parameters of an Application are checked by their names and values', async () => {
    const text = argo(
      '    chart: agent-k8s\n    targetRevision: 0.5.70\n    helm:\n      parameters:\n        - {name: agent.url, value: "https://acme.scalr.io"}\n        - {name: agent.tokenExistingSecret, value: t}\n        - {name: agent.container_task_cpu_limt, value: "4"}\n        - {name: workerNodeSelector.pool, value: "true", forceString: true}\n        - {name: agent.debug, value: "true"}\n',
    );
    const {found, lines} = await check({'a.yaml': text});
    expect(found).toEqual(['UNKNOWN_KEY agent.container_task_cpu_limt']);
    expect(lines).toEqual([13]);
  });

  test.each([
    [
      'Kustomize',
      'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nhelmCharts:\n- name: agent-local\n  version: 0.6.3\n  valuesInline: VALUES\n',
    ],
    [
      'Rancher Fleet',
      'defaultNamespace: agents\nhelm:\n  repo: https://scalr.github.io/agent-helm/\n  chart: agent-local\n  version: 0.6.3\n  values: VALUES\n',
    ],
    [
      'Crossplane',
      'apiVersion: helm.crossplane.io/v1beta1\nkind: Release\nspec:\n  forProvider:\n    chart: {name: agent-local, version: 0.6.3}\n    values: VALUES\n',
    ],
    [
      'K3s, as JSON in JSON',
      JSON.stringify({
        apiVersion: 'helm.cattle.io/v1',
        kind: 'HelmChart',
        metadata: {name: 'a'},
        spec: {chart: 'agent-local', version: '0.6.3', valuesContent: 'VALUES'},
      }),
    ],
    [
      'a List',
      `apiVersion: v1\nkind: List\nitems:\n- apiVersion: argoproj.io/v1alpha1\n  kind: Application\n  spec: {source: {chart: agent-local, targetRevision: 0.6.3, helm: {valuesObject: VALUES}}}\n`,
    ],
    [
      'Helmfile with merge keys',
      'templates:\n  default: &default\n    namespace: agents\n    values: [VALUES]\nreleases:\n  - name: a\n    chart: scalr/agent-local\n    version: 0.6.3\n    <<: *default\n',
    ],
  ])('%s: the values are read', async (_, text) => {
    const values = 'agent: {url: "https://acme.scalr.io", tokenExistingSecret: {name: t}}';
    const wrong = `{replicas: 2, ${values}}`;
    const written = text.startsWith('{') ? JSON.stringify(wrong).slice(1, -1) : wrong;
    expect(await codes(text.replace('VALUES', written))).toEqual(['UNKNOWN_KEY replicas']);
  });

  test('a HelmChartConfig overrides the values of its HelmChart', async () => {
    const files = {
      'chart.yaml': `apiVersion: helm.cattle.io/v1\nkind: HelmChart\nmetadata: {name: a, namespace: kube-system}\nspec:\n  chart: agent-local\n  version: 0.6.3\n  valuesContent: |-\n    ${TOKEN_SECRET}\n`,
      'config.yaml':
        'apiVersion: helm.cattle.io/v1\nkind: HelmChartConfig\nmetadata: {name: a, namespace: kube-system}\nspec:\n  valuesContent: |-\n    replicas: 3\n',
    };
    expect((await check(files, 'chart.yaml', 'config.yaml')).found).toEqual([
      'UNKNOWN_KEY replicas',
    ]);
  });

  test('the values of dependencies are found through Chart.yaml, with their alias', async () => {
    const dependency = (more: string): string =>
      `  - {name: agent-local, version: 0.6.5, repository: "https://scalr.github.io/agent-helm/"${more}}\n`;
    const files = (more: string, section: string) => ({
      'u/prod.yaml': `${section}:\n  replicas: 2\n  ${TOKEN_SECRET}\nother: {enabled: true}\n`,
      'u/Chart.yaml': `apiVersion: v2\nname: platform\nversion: 0.1.0\ndependencies:\n${dependency(more)}`,
    });
    for (const given of [files('', 'agent-local'), files(', alias: scalr', 'scalr')]) {
      const {found, lines} = await check(given);
      expect(found).toEqual(['UNKNOWN_KEY replicas']);
      expect(lines).toEqual([2]);
    }
  });

  test.each([
    [
      'an ApplicationSet whose chart is a template',
      'apps.yaml',
      `apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nspec:\n  generators: [{list: {elements: [{chart: agent-local, repo: "https://scalr.github.io/agent-helm/"}]}}]\n  template: {spec: {source: {chart: "{{chart}}", targetRevision: 0.6.5}}}\n`,
    ],
    [
      'an Application of a parent chart',
      'app.yaml',
      argo(
        '    path: charts/scalr-agent\n    helm:\n      valuesObject: {agent-local: {replicas: 2}}\n',
      ),
    ],
    [
      'a Helmfile with templates',
      'helmfile.yaml',
      'releases:\n  - name: a\n    chart: scalr/agent-local\n    installed: {{ .Values.on }}\n',
    ],
    [
      'a template of a Helm chart',
      'templates/app.yaml',
      `{{- range .Values.clusters }}\n---\n${argo('    chart: agent-local\n')}{{- end }}\n`,
    ],
    [
      'a workflow',
      'deploy.yaml',
      'jobs:\n  a:\n    steps:\n      - run: helm upgrade --install a scalr/agent-local --set agent.url=x\n',
    ],
    [
      'a program of Pulumi',
      'index.ts',
      'import * as k8s from "@pulumi/kubernetes";\nnew k8s.helm.v3.Release("scalr", {chart: "agent-local"});\n',
    ],
    [
      'Skaffold',
      'skaffold.yaml',
      'apiVersion: skaffold/v4beta11\nkind: Config\ndeploy: {helm: {releases: [{remoteChart: agent-local, repo: "https://scalr.github.io/agent-helm/"}]}}\n',
    ],
    ['Terragrunt', 'terragrunt.hcl', 'inputs = {\n  chart = "agent-local"\n}\n'],
    ['a Makefile', 'Makefile', 'deploy:\n\thelm upgrade --install a scalr/agent-local\n'],
    [
      'rendered objects',
      'out.yaml',
      'apiVersion: v1\nkind: Secret\nmetadata: {name: a, labels: {helm.sh/chart: agent-local-0.6.5}}\n',
    ],
    [
      'an encrypted HelmRelease',
      'enc.yaml',
      `${release(chart('agent-local', '0.6.5'))}  values: {agent: {token: "ENC[AES256_GCM,data:x,iv:y,tag:z,type:str]"}}\nsops: {mac: "ENC[AES256_GCM,x]", version: 3.9.0}\n`,
    ],
    [
      'values with Jinja',
      'values.yaml',
      'agent:\n  url: https://{{ account }}.scalr.io\n{% if proxy %}\nextraEnv: {}\n{% endif %}\n',
    ],
  ])('%s: not checked, with the command that checks it', async (_, file, text) => {
    const {found, texts, exit} = await check({[file]: text});
    expect(found).toEqual(['UNCHECKED_FILE']);
    expect(texts[0]).toMatch(/ → .*(?:validate|Render)/);
    expect(exit).toBe(2);
  });

  test('objects and files without a release are skipped and counted', async () => {
    const files = {
      'release.yaml': release(`${chart('agent-local', '0.6.5')}  values: {${TOKEN_SECRET}}\n`),
      'account.yaml': 'apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: scalr-agent}\n',
      'sync.yaml':
        '---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nspec: {}\n---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nspec: {path: ./clusters}\n',
      'store.yaml': 'apiVersion: external-secrets.io/v1\nkind: ClusterSecretStore\n',
      'sealed.yaml':
        'apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nmetadata: {name: scalr-agent-token}\nspec: {encryptedData: {token: AgBy3i4OJSWK}}\n',
      'ca.yaml':
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: corp-ca, namespace: scalr-agent}\ndata: {ca.pem: "-----BEGIN CERTIFICATE-----"}\n',
      'nginx-values.yaml': 'controller: {replicaCount: 2}\n',
      'renovate.json': '{"extends": ["config:recommended"]}',
    };
    const names = Object.keys(files);
    const {found, skipped, exit} = await check(files, ...names);
    expect({found, skipped, exit}).toEqual({found: [], skipped: 7, exit: 0});
    const {stdout} = await runCommand(Validate, names, {files: memoryFiles(files)});
    expect(stdout).toBe(
      'release.yaml: no problems found (agent-local 0.6.5)\n8 files (1 checked, 7 without an agent): no problems found\n',
    );
  });

  test.each([
    'sarif',
    'junit',
    'github',
  ])('one bad file hides no finding with --format %s', async (format) => {
    const files = {
      'a.yaml': release(`${chart('agent-local', '0.6.5')}  values: {replicas: 1}\n`),
      'main.tf': 'resource "helm_release" "a" {\n  chart = "scalr/agent-local"\n}\n',
      'broken.yaml': 'agent: [\n',
      'other.yaml': 'controller: {}\n',
    };
    const {stdout, exit} = await runCommand(Validate, [...Object.keys(files), '--format', format], {
      files: memoryFiles(files),
    });
    expect(stdout).toContain('UNKNOWN_KEY');
    expect(stdout).toContain('UNCHECKED_FILE');
    expect(stdout).toContain('INVALID_YAML');
    expect(exit).toBe(3);
  });
});

describe('a plan of OpenTofu', () => {
  const resource = (values: object, address = 'helm_release.agent') => ({
    address,
    type: 'helm_release',
    values: {chart: 'agent-local', version: '0.6.5', ...values},
  });
  const plan = (resources: object[], unknown: Record<string, object> = {}) =>
    JSON.stringify({
      format_version: '1.2',
      planned_values: {root_module: {child_modules: [{address: 'module.a', resources}]}},
      resource_changes: Object.entries(unknown).map(([address, after_unknown]) => ({
        address,
        change: {after_unknown},
      })),
    });

  test('has findings with the address of the resource', async () => {
    const text = plan([
      resource({values: [`replicas: 2\n${TOKEN_SECRET}\n`]}, 'module.a.helm_release.agent'),
      {address: 'aws_vpc.a', type: 'aws_vpc', values: {}},
    ]);
    const {found, texts, lines} = await check({'-': text}, '-');
    expect(found).toEqual(['UNKNOWN_KEY replicas']);
    expect(texts[0]).toMatch(/^module\.a\.helm_release\.agent: /);
    expect(lines).toEqual([undefined]);
  });

  test('has set blocks, whose names are checked even where their values are unknown', async () => {
    const set = [
      {name: 'agent.url', value: 'https://acme.scalr.io', type: ''},
      {name: 'agent.container_task_cpu_limt', value: '4', type: ''},
      {name: 'agent.tokenExistingSecret', value: null, type: ''},
    ];
    const text = plan([resource({chart: 'agent-k8s', version: '0.5.70', values: null, set})], {
      'helm_release.agent': {set: [{}, {}, {value: true}]},
    });
    expect((await check({'-': text}, '-')).found).toEqual([
      'UNKNOWN_KEY agent.container_task_cpu_limt',
    ]);
  });

  test('with values known after the apply lacks nothing, and says so', async () => {
    const text = plan([resource({values: null})], {'helm_release.agent': {values: true}});
    const {found, notes} = await check({'-': text}, '-');
    expect(found).toEqual([]);
    expect(notes).toContain(
      'checked without other values of the helm_release.agent (values known only after the apply)',
    );
  });

  test('without a release of ours is skipped', async () => {
    expect((await check({'-': plan([resource({chart: 'nginx'})])}, '-')).found).toEqual([]);
  });
});
