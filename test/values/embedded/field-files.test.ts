import {describe, expect, test} from 'vitest';
import Migrate from '../../../src/commands/migrate.ts';
import Validate from '../../../src/commands/validate.ts';
import Values from '../../../src/commands/values.ts';
import type {FindingDocument} from '../../../src/ui/findings.ts';
import {certificates} from '../../support/certificates.ts';
import {memoryFiles} from '../../support/memory-files.ts';
import {runCommand} from '../../support/run-command.ts';

/** Files as people have them. The names are those of the collection that they were reduced from. */
const LOCAL = ['--chart', 'agent-local', '--chart-version', '0.6.5'];
const JOB = ['--chart', 'agent-job', '--chart-version', '0.6.5'];
const AGENT = 'agent:\n  url: https://acme.scalr.io\n  tokenExistingSecret: {name: t}\n';
const TOKEN = `eyJhbGciOiJub25lIn0.${Buffer.from('{"jti":"x"}').toString('base64url')}.c2lnbmF0dXJl`;

interface Report {
  findings?: FindingDocument[];
  files?: Report[];
  skipped?: number;
}

/** `CODE path → suggestion` of each finding. */
async function check(files: Record<string, string>, ...argv: string[]) {
  const {stdout, exit} = await runCommand(Validate, [...Object.keys(files), ...argv, '--json'], {
    files: memoryFiles(files),
  });
  const report = JSON.parse(stdout) as Report;
  const findings = (report.files ?? [report]).flatMap((each) => each.findings ?? []);
  return {
    exit,
    skipped: report.skipped,
    messages: findings.map(({message}) => message).join('\n'),
    found: findings
      .map(({code, path, suggestion}) =>
        [`${code} ${path}`, suggestion].filter((each) => each !== undefined).join(' → '),
      )
      .toSorted(),
  };
}

const migrated = (text: string, ...argv: string[]) =>
  runCommand(Migrate, ['input', ...argv], {files: memoryFiles({input: text})});

/** How a command was refused: its exit code, message and next steps. */
const refusalIn = ({stdout, stderr, exit}: {stdout: string; stderr: string; exit: number}) => ({
  exit: stdout === '' ? exit : 0,
  message: stderr.split('\nNext steps:')[0] as string,
  steps: [...stderr.matchAll(/^ {2}- (.*)$/gm)].map(([, step]) => step),
});
const refusal = async (text: string, ...argv: string[]) => refusalIn(await migrated(text, ...argv));

const HELM_COMMAND =
  'helm get values RELEASE --namespace NAMESPACE --output yaml | scalr-agent validate - --chart agent-k8s';

describe('04: pasted commands', () => {
  test.each([
    'KUBECONFIG=~/.kube/prod helm upgrade --install a scalr/agent-k8s --version 0.6.4 --set agent.tokenExistingSecret=t\n',
    `HELM_EXPERIMENTAL_OCI=1 helm upgrade --install a scalr/agent-k8s --set agent.token=${TOKEN}\n`,
    '# install\n$ helm repo add scalr https://scalr.github.io/agent-helm/\n$ helm upgrade --install a scalr/agent-k8s\n',
  ])('%j is not read, and its token is not printed', async (text) => {
    const {found, exit, messages} = await check({'install.txt': text});
    expect(found.at(-1)).toBe(`UNCHECKED_FILE  → ${HELM_COMMAND}`);
    expect(exit).toBe(text.includes(TOKEN) ? 3 : 2);
    expect(messages).not.toContain(TOKEN);
    expect(await refusal(text, '--to', 'agent-local@0.6.5')).toMatchObject({
      exit: 2,
      message: expect.stringContaining('a command in the file sets the values'),
      steps: [expect.stringContaining('helm get values')],
    });
  });
});

describe('06: files of machines', () => {
  const OF_UNIT = 'systemctl show UNIT';
  const OF_COMPOSE = 'docker compose config --format json';
  const OF_DOCKER = 'docker inspect CONTAINER';
  test.each([
    [
      'a unit that runs Docker',
      '[Unit]\nDescription=Agent\n\n[Service]\nExecStart=/usr/bin/docker run --rm -e SCALR_URL=https://acme.scalr.io \\\n  scalr/agent:1.3.0 run\n',
      OF_UNIT,
    ],
    [
      'a Compose file with anchors',
      'x-env: &env\n  SCALR_URL: https://acme.scalr.io\nservices:\n  a:\n    image: $REGISTRY/scalr/agent:1.3.0\n    environment: {<<: *env, SCALR_AGENT_NAME: a}\n',
      OF_COMPOSE,
    ],
    [
      'a command with variables of the shell',
      'docker run -d -e SCALR_URL -e SCALR_AGENT_TOKEN -e HTTPS_PROXY scalr/agent:1.4.0 run\n',
      OF_DOCKER,
    ],
    [
      '15: a command with fractions',
      'docker run -d -m 1.5g --cpus .5 scalr/agent run\n',
      OF_DOCKER,
    ],
    ['21: an environment file', 'SCALR_URL=https://acme.scalr.io\r\nTF_LOG=debug\r\n', OF_DOCKER],
  ])('%s: named, with the command that migrates it', async (_, text, command) => {
    const migration = `${command} | scalr-agent migrate - --to agent-job`;
    expect((await check({agent: text})).found).toEqual([`UNCHECKED_FILE  → ${migration}`]);
    expect(await refusal(text, '--to', 'agent-local@0.6.5')).toMatchObject({
      exit: 2,
      steps: [migration],
    });
  });

  test('credentials in an environment file are reported', async () => {
    const {found} = await check({'v.env': `SCALR_URL=x\nGITHUB=ghp_${'a1B2'.repeat(9)}\n`});
    expect(found[0]).toContain('CLEAR_TEXT_CREDENTIAL');
  });
});

describe('12: YAML', () => {
  const replicas = 'UNKNOWN_KEY replicas → replicaCount';
  test.each([
    ['with CRLF', `${AGENT}replicas: 2\n`.replaceAll('\n', '\r\n'), [replicas]],
    ['with a byte order mark', `\uFEFF${AGENT}replicas: 2\n`, [replicas]],
    ['as JSON', '{"agent": {"tokenExistingSecret": {"name": "t"}}, "replicas": 2}', [replicas]],
    ['with a tab', `${AGENT}resources:\n\tlimits: {}\n`, ['INVALID_YAML ']],
    ['in several documents', `${AGENT}---\nreplicaCount: 2\n`, ['SEVERAL_DOCUMENTS ']],
    ['with a key twice', `agent: {}\n${AGENT}`, ['DUPLICATE_KEY agent']],
    [
      'with holders of anchors',
      `x-small: &small {limits: {cpu: 1}}\n.tolerations: &all [{operator: Exists}]\n${AGENT}resources: *small\ntolerations: *all\n`,
      [],
    ],
    [
      'in a Markdown code block',
      `\`\`\`yaml\n${AGENT}\`\`\`\n`,
      ['INVALID_YAML  → Remove the fences around the values'],
    ],
    [
      'as helm prints them',
      `USER-SUPPLIED VALUES:\n${AGENT}replicas: 2\n`,
      [
        'UNKNOWN_KEY USER-SUPPLIED VALUES → Remove it, or print the values with --output yaml',
        replicas,
      ],
    ],
    [
      'with SOPS',
      `${AGENT}extraEnv: {A: "ENC[AES256_GCM,data:x,type:str]"}\nsops: {mac: "ENC[AES256_GCM,x]", version: 3.9.0}\n`,
      ['UNCHECKED_FILE  → sops --decrypt values.yaml | scalr-agent validate -'],
    ],
    [
      'with Jinja',
      `${AGENT}{% if proxy %}\nextraEnv: {}\n{% endif %}\n`,
      ['UNCHECKED_FILE  → Render values.yaml with its variables, and validate the result'],
    ],
    [
      'of a Helm template',
      `{{- if .Values.on }}\n${AGENT}{{- end }}\n`,
      ['UNCHECKED_FILE  → Render the chart in ., and validate the result'],
    ],
    [
      'with words of YAML 1.1',
      `${AGENT}nodeSelector: {dedicated: yes}\npodAnnotations: {backup: 0123}\n`,
      [
        'OCTAL_NUMBER podAnnotations.backup → "0123" or 123',
        'UNQUOTED_TEXT nodeSelector.dedicated → "yes"',
        'UNQUOTED_TEXT podAnnotations.backup → "0123"',
      ],
    ],
    ['with a number as a variable', `${AGENT}extraEnv: {TF_PLUGIN_TIMEOUT: 120}\n`, []],
    [
      '21: in typographic quotes',
      `${AGENT}extraEnv: {HTTPS_PROXY: \u201Chttp://proxy:3128\u201D}\n`,
      ['TYPOGRAPHIC_QUOTES extraEnv.HTTPS_PROXY → "http://proxy:3128"'],
    ],
    [
      '21: with a non-breaking space',
      `${AGENT}\u00A0replicaCount: 2\n`,
      ['INVALID_YAML  → Replace it with an ordinary space'],
    ],
  ])('values %s', async (_, text, expected) => {
    expect((await check({'values.yaml': text}, ...LOCAL)).found).toEqual(expected);
  });

  test('21: UTF-16 is named', async () => {
    const text = Buffer.from(`\uFEFF${AGENT}`, 'utf16le');
    const {stdout} = await runCommand(Validate, ['a.yaml', ...LOCAL], {
      files: memoryFiles({'a.yaml': text}),
    });
    expect(stdout).toContain('The file is encoded as UTF-16, as PowerShell writes with ">"');
  });

  test('values that do not tell their chart are not clean, whatever else is found', async () => {
    const text = `${AGENT}extraEnv: {GIT_CONFIG_KEY_0: "url.https://x-access-token:hunter2hunter2@github.com/.insteadOf"}\n`;
    const {found, exit} = await check({'values.yaml': text});
    expect(found.map((each) => each.split(' ')[0])).toEqual([
      'CLEAR_TEXT_CREDENTIAL',
      'UNCHECKED_FILE',
    ]);
    expect(exit).toBe(2);
  });

  test('lists and streams of documents of other programs are skipped', async () => {
    const {found, skipped, exit} = await check({
      'playbook.yaml': '- hosts: all\n  tasks: []\n',
      'stream.yaml': 'a: 1\n---\nb: 2\n',
      'values.yaml': 'controller: {}\n',
    });
    expect({found, skipped, exit}).toEqual({found: [], skipped: 3, exit: 0});
  });
});

describe('12: migrate', () => {
  test('refuses values whose meaning is unknown, instead of dropping them', async () => {
    const text = `${AGENT}nodeSelector: {kubernetes.io/arch: arm64, dedicated: true}\n`;
    const chart = ['--from', 'agent-local@0.6.3', '--to', 'agent-job@0.6.5'];
    expect(await refusal(text, ...chart)).toMatchObject({
      exit: 3,
      message: expect.stringContaining('nodeSelector.dedicated: Must be a string'),
    });
  });

  test('says nothing about a number in a map of variables', async () => {
    const text = `${AGENT}extraEnv:\n  TF_PLUGIN_TIMEOUT: 120\n  TF_LOG: debug\n`;
    const {stdout, stderr} = await migrated(
      text,
      ...['--from', 'agent-local@0.6.3', '--to', 'agent-local@0.6.5'],
    );
    expect(stdout).toBe(text);
    expect(stderr).toContain('no changes');
  });
});

describe('13: NO_PROXY', () => {
  const list = (text: string): Record<string, string> => ({
    'values.yaml': `${AGENT}extraEnv:\n  HTTPS_PROXY: http://proxy.corp:3128\n  NO_PROXY: ${JSON.stringify(text)}\n`,
  });
  const path = 'extraEnv.NO_PROXY';
  const hosts =
    'Use hosts and networks without schemes and spaces, for example .example.com,10.0.0.0/8';
  test.each([
    ['localhost,127.0.0.1,169.254.169.254,cluster.local,10.0.0.0/8', []],
    ['169.254.169.254/32,.amazonaws.com,s3.eu-west-1.amazonaws.com', []],
    [
      '*.corp.example.com,*.svc.cluster.local',
      [`UNLIKELY_AMOUNT ${path} → ".corp.example.com,.svc.cluster.local"`],
    ],
    ['.cluster.local.,.svc', [`UNLIKELY_AMOUNT ${path} → ".cluster.local,.svc"`]],
    [
      'localhost|127.0.0.1|*.corp',
      [`WRONG_OPTION ${path} → Separate entries with commas: localhost,127.0.0.1,.corp`],
    ],
    [
      'localhost;127.0.0.1',
      [`WRONG_OPTION ${path} → Separate entries with commas: localhost,127.0.0.1`],
    ],
    ['10.0.0.0/8 .corp', [`WRONG_OPTION ${path} → Separate entries with commas: 10.0.0.0/8,.corp`]],
    ['http://intranet.corp', [`WRONG_OPTION ${path} → ${hosts}`]],
    ['10.*,192.168.*', [`WRONG_OPTION ${path} → ${hosts}`]],
    ['"localhost,127.0.0.1"', [`WRONG_OPTION ${path} → ${hosts}`]],
    ...['acme.scalr.io,.corp', '.scalr.io'].map((text): [string, string[]] => [
      text,
      [
        `SCALR_BYPASSES_PROXY ${path} → Remove it from the exceptions, unless the nodes reach Scalr directly`,
      ],
    ]),
  ] as [string, string[]][])('%s', async (text, expected) => {
    expect((await check(list(text), ...LOCAL)).found).toEqual(expected);
  });
});

describe('14: certificates', () => {
  const CA = String(certificates['ca.pem']);
  const OTHER = String(certificates['second-ca.pem']);
  const EXPIRED = String(certificates['expired.pem']);
  const LEAF = String(certificates['client.pem']);
  const KEY = String(certificates['client.key']);
  const TRUSTED = CA.replaceAll('CERTIFICATE', 'TRUSTED CERTIFICATE');
  const PKCS7 = CA.replaceAll('CERTIFICATE', 'PKCS7');
  const ONE_LINE = CA.replaceAll('\n', '');
  const indented = CA.replaceAll(/^(?=.)/gm, '    ');
  const withText = `# Corp bundle\n\nRoot CA\n=======\n${CA}Certificate:\n    Data:\n        Version: 3 (0x2)\n${OTHER}`;

  /** What --ca-file makes of a file: how many certificates, or why none. */
  async function taken(content: string | Buffer): Promise<string | number> {
    const argv = ['--chart', 'agent-local', '--chart-version', '0.6.5', '--ca-file', 'ca'];
    const run = await runCommand(
      Values,
      [...argv, '--url', 'https://acme.scalr.io', '--token-secret', 't'],
      {files: memoryFiles({ca: content})},
    );
    return run.exit === 0
      ? (run.stdout.match(/BEGIN CERTIFICATE/g) ?? []).length
      : refusalIn(run).message;
  }

  test.each<[string, string | Buffer, number | RegExp]>([
    ['with comments and text around', withText, 2],
    ['with CRLF', (CA + OTHER).replaceAll('\n', '\r\n'), 2],
    ['with an expired root among others', CA + EXPIRED, 1],
    ['of one expired root', EXPIRED, /expired on/],
    ['in DER', certificates['ca.der'] as Buffer, 1],
    ['with a key', CA + KEY, /private key/],
    ['with duplicates', CA + OTHER + CA, 2],
    ['without a last line end', (CA + OTHER).trimEnd(), 2],
    ['in one line', ONE_LINE, /neither PEM nor DER/],
    ['in base64', Buffer.from(CA).toString('base64'), 1],
    ['in PKCS 7', PKCS7, /contains PKCS7 but no certificate/],
    ['with trust settings', TRUSTED, /contains TRUSTED CERTIFICATE but no certificate/],
    ['with a byte order mark', `\uFEFF${CA}`, 1],
    ['of a server', LEAF, /is a server certificate, not a CA/],
    ['in UTF-16', Buffer.from(CA, 'utf16le'), /neither PEM nor DER/],
    ['that is cut off', CA.slice(0, 200), /truncated/],
    ['whose lines are indented', indented, /cannot be parsed/],
  ])('a file %s', async (_, content, expected) => {
    const result = await taken(content);
    if (typeof expected === 'number') expect(result).toBe(expected);
    else expect(result).toMatch(expected);
  });

  /** Findings about a bundle below a key; `|` keeps its lines. */
  const inline = async (pem: string, style = '|'): Promise<string[]> => {
    const block = pem.replaceAll(/^(?=.)/gm, '      ');
    return (await check({'a.yaml': `${AGENT}  tls:\n    caBundle: ${style}\n${block}`}, ...LOCAL))
      .found;
  };
  const path = 'agent.tls.caBundle';
  const again = 'Copy the file again';
  test.each<[string, string, string, string[]]>([
    ['as a literal text', CA, '|', []],
    ['with CRLF', CA.replaceAll('\n', '\r\n'), '|', []],
    ['with text around', withText, '|', []],
    ['as folded text', CA, '>', [`NOT_PEM ${path} → ${path}: |`]],
    ['as folded text, stripped', CA, '>-', [`NOT_PEM ${path} → ${path}: |`]],
    [
      'in base64, as agent-k8s has it',
      Buffer.from(CA).toString('base64'),
      '|',
      [`NOT_PEM ${path} → Write the content of the PEM file below the key`],
    ],
    [
      'with an expired root among others',
      CA + EXPIRED,
      '|',
      [`EXPIRED_CERTIFICATE ${path} → Remove them, or use renewed ones`],
    ],
    [
      'of an expired root',
      EXPIRED,
      '|',
      [`EXPIRED_CERTIFICATE ${path} → Remove them, or use renewed ones`],
    ],
    [
      'with a key',
      CA + KEY,
      '|',
      [
        `CLEAR_TEXT_CREDENTIAL ${path} → Store it in a Kubernetes Secret or in Scalr, and replace it where it was used`,
        `KEY_IN_CA_BUNDLE ${path} → Remove the key; a bundle holds only certificates`,
      ],
    ],
    ['in PKCS 7', PKCS7, '|', [`NOT_PEM ${path} → Export the certificate in PEM format`]],
    ['that is cut off', `${CA.slice(0, 200)}\n`, '|', [`NOT_PEM ${path} → ${again}`]],
    [
      'that is damaged',
      CA.replace(/^MII.*\n/m, 'MIIDXTCCAkWgAwIBAgIJAKZ...\n'),
      '|',
      [`NOT_PEM ${path} → ${again}, including line breaks`],
    ],
  ])('a bundle below a key %s', async (_, pem, style, expected) => {
    expect(await inline(pem, style)).toEqual(expected);
  });

  test('agent-k8s has bundles in base64, on one line', async () => {
    const found = async (value: string, ...chart: string[]): Promise<string[]> => {
      const text = `agent:\n  url: https://acme.scalr.io\n  tokenExistingSecret: t\n  ca_cert: ${value}\n`;
      return (await check({'a.yaml': text}, ...chart)).found;
    };
    const K8S = ['--chart', 'agent-k8s', '--chart-version', '0.6.5'];
    const base64 = Buffer.from(withText).toString('base64');
    expect(await found(base64, ...K8S)).toEqual([]);
    const lines = base64.replaceAll(/.{76}/g, '$&\n').replaceAll(/^/gm, '    ');
    for (const style of ['|', '>-'])
      expect(await found(`${style}\n${lines}`, ...K8S)).toEqual(['NOT_ONE_LINE agent.ca_cert']);
    expect(await found(`|\n${indented}`, ...K8S)).toEqual([
      'BREAKS_TEMPLATES agent.ca_cert → Encode the PEM file as base64 on one line: base64 --wrap=0 ca.pem',
    ]);
    expect(await found(base64, ...LOCAL)).toContain(
      'UNKNOWN_KEY agent.ca_cert → agent.tls.caBundle',
    );
  });
});

describe('15 and 16: amounts, and keys of other charts', () => {
  test('amounts have a suggestion in the unit that was meant', async () => {
    const text = `${AGENT}resources:\n  requests: {cpu: 500M, memory: 512m}\n`;
    expect((await check({'values.yaml': text}, ...LOCAL)).found).toEqual([
      'REQUEST_ABOVE_LIMIT resources.requests.cpu',
      'UNLIKELY_AMOUNT resources.requests.cpu → 500m',
      'UNLIKELY_AMOUNT resources.requests.memory → 512Mi',
    ]);
    const words = `${AGENT}resources:\n  requests: {cpu: "1,5", memory: 500MB}\n  limits: {cpu: 2 cores, memory: 2GB}\n`;
    expect((await check({'values.yaml': words}, ...LOCAL)).found).toEqual([
      'WRONG_VALUE resources.limits.cpu → 2',
      'WRONG_VALUE resources.limits.memory → 2Gi',
      'WRONG_VALUE resources.requests.cpu → 1.5',
      'WRONG_VALUE resources.requests.memory → 500Mi',
    ]);
    const large = `${AGENT}resources:\n  limits: {cpu: 2G, memory: 1024}\n`;
    expect((await check({'values.yaml': large}, ...LOCAL)).found).toEqual([
      'REQUEST_ABOVE_LIMIT resources.requests.memory',
      'UNLIKELY_AMOUNT resources.limits.cpu → 2',
      'UNLIKELY_AMOUNT resources.limits.memory → Mi or Gi',
    ]);
    const exact = `${AGENT}resources:\n  requests: {cpu: "0.5", memory: "536870912"}\n  limits: {cpu: 2e3m, memory: 2e9}\n`;
    expect((await check({'values.yaml': exact}, ...LOCAL)).found).toEqual([
      'WRONG_VALUE resources.limits.cpu',
    ]);
  });

  test('volumes without a unit, and requests above limits, are named', async () => {
    const text = `${AGENT}task:\n  runner:\n    resources:\n      requests: {cpu: 1500m, memory: 1Gi}\n      limits: {cpu: 1, memory: 2048}\npersistence: {cache: {enabled: true, persistentVolumeClaim: {storage: 100, storageClassName: efs, accessMode: ReadWriteMany}}}\n`;
    const {found} = await check({'values.yaml': text}, ...JOB);
    expect(found.filter((each) => !each.startsWith('CACHES_OFF'))).toEqual([
      'REQUEST_ABOVE_LIMIT task.runner.resources.requests.cpu',
      'REQUEST_ABOVE_LIMIT task.runner.resources.requests.memory',
      'UNLIKELY_AMOUNT task.runner.resources.limits.memory → Mi or Gi',
      'UNQUOTED_TEXT persistence.cache.persistentVolumeClaim.storage → 100Gi',
    ]);
  });

  test('placement that Kubernetes rejects is named', async () => {
    const text = `${AGENT}tolerations:
- {key: CriticalAddonsOnly, operator: Exists}
- {operator: Exists, effect: NoExecute}
- {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: "300"}
- {key: spot, value: true, effect: NoSchedule}
- {key: kubernetes.azure.com/scalesetpriority, operator: equal, value: spot}
- {key: team, operator: Exists, value: infra}
affinity:
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      nodeSelectorTerms:
      - matchExpressions:
        - {key: kubernetes.io/arch, operator: In, values: amd64}
        - {key: karpenter.sh/initialized, operator: Exists, values: []}
        - {key: cpu, operator: Gt, values: [4]}
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
    - {labelSelector: {matchLabels: {app: scalr}}, topologyKey: zone}
topologySpreadConstraints:
- {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}
`;
    const {found} = await check({'values.yaml': text}, ...LOCAL);
    const places = found.map((each) => each.replace(/ → .*/, ''));
    expect(places).toEqual([
      'MISSING_KEY affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]',
      'MISSING_KEY affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]',
      'REJECTED_BY_KUBERNETES tolerations[5].value',
      'UNKNOWN_KEY affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].labelSelector',
      'UNKNOWN_KEY affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].topologyKey',
      'UNKNOWN_KEY topologySpreadConstraints',
      'UNQUOTED_TEXT affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[2].values[0]',
      'UNQUOTED_TEXT tolerations[3].value',
      'WRONG_TYPE affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values',
      'WRONG_TYPE tolerations[2].tolerationSeconds',
      'WRONG_VALUE tolerations[4].operator',
    ]);
  });

  test('access modes can be abbreviated as kubectl does', async () => {
    const text = `${AGENT}persistence: {cache: {persistentVolumeClaim: {accessMode: RWX}}}\n`;
    expect((await check({'values.yaml': text}, ...JOB)).found).toContain(
      'WRONG_VALUE persistence.cache.persistentVolumeClaim.accessMode → ReadWriteMany',
    );
  });

  test('names that other charts use lead to those of this chart', async () => {
    const text = `agent: {url: "https://acme.scalr.io", existingSecret: t}
imagePullSecrets: [{name: a}]
extraEnv: [{name: TF_LOG, value: debug}]
containerSecurityContext: {runAsUser: 1000}
serviceAccount: {automountServiceAccountToken: true}
rbac: {create: true}
pdb: {create: true}
volumes: []
volumeMounts: []
initContainers: []
`;
    const {found} = await check({'values.yaml': text}, ...JOB);
    expect(found.filter((each) => each.startsWith('UNKNOWN_KEY'))).toEqual([
      'UNKNOWN_KEY agent.existingSecret → agent.tokenExistingSecret',
      'UNKNOWN_KEY containerSecurityContext → task.runner.securityContext',
      'UNKNOWN_KEY extraEnv → task.runner.extraEnv',
      'UNKNOWN_KEY imagePullSecrets → global.imagePullSecrets',
      'UNKNOWN_KEY initContainers',
      'UNKNOWN_KEY pdb → task.podDisruptionBudget',
      'UNKNOWN_KEY serviceAccount.automountServiceAccountToken → serviceAccount.automountToken',
      'UNKNOWN_KEY volumeMounts → task.runner.extraVolumeMounts',
      'UNKNOWN_KEY volumes → task.extraVolumes',
    ]);
  });

  test('labels of Azure Workload Identity are named where no key exists for them', async () => {
    const text = `${AGENT}podLabels: {azure.workload.identity/use: "true"}\n`;
    const {messages} = await check({'values.yaml': text}, ...LOCAL);
    expect(messages).toContain('Azure Workload Identity requires this label');
  });

  test('annotations and selectors of clouds must be quoted', async () => {
    const text = `${AGENT}serviceAccount:\n  create: true\n  annotations: {eks.amazonaws.com/sts-regional-endpoints: true, eks.amazonaws.com/token-expiration: 86400}\nnodeSelector: {iam.gke.io/gke-metadata-server-enabled: true}\n`;
    expect((await check({'values.yaml': text}, ...LOCAL)).found).toEqual([
      'UNQUOTED_TEXT nodeSelector.iam.gke.io/gke-metadata-server-enabled → "true"',
      'UNQUOTED_TEXT serviceAccount.annotations.eks.amazonaws.com/sts-regional-endpoints → "true"',
      'UNQUOTED_TEXT serviceAccount.annotations.eks.amazonaws.com/token-expiration → "86400"',
    ]);
  });
});

describe('17: releases in forms that are not read', () => {
  test.each([
    [
      'Sveltos',
      'apiVersion: config.projectsveltos.io/v1beta1\nkind: ClusterProfile\nspec:\n  helmCharts: [{chartName: scalr/agent-k8s, values: "replicas: 2"}]\n',
    ],
    [
      'Cluster API',
      'apiVersion: addons.cluster.x-k8s.io/v1alpha1\nkind: HelmChartProxy\nspec: {chartName: agent-k8s, valuesTemplate: "replicas: 2"}\n',
    ],
    [
      'k0s',
      'apiVersion: k0s.k0sproject.io/v1beta1\nkind: ClusterConfig\nspec: {extensions: {helm: {charts: [{chartname: scalr/agent-k8s}]}}}\n',
    ],
    [
      'Kustomize, as it was',
      'apiVersion: builtin\nkind: HelmChartInflationGenerator\nname: agent-k8s\nrepo: https://scalr.github.io/agent-helm/\n',
    ],
    [
      'KubeVela',
      'apiVersion: core.oam.dev/v1beta1\nkind: Application\nspec: {components: [{properties: {repoType: helm, chart: agent-k8s}}]}\n',
    ],
    [
      'Zarf',
      'kind: ZarfPackageConfig\ncomponents: [{charts: [{name: agent-k8s, url: "https://scalr.github.io/agent-helm/"}]}]\n',
    ],
    ['Ansible', '- tasks:\n  - kubernetes.core.helm: {chart_ref: scalr/agent-k8s}\n'],
    ['Helmsman', 'apps: {agent: {chart: "scalr/agent-k8s", version: "0.6.5"}}\n'],
    [
      'K3s with an archive',
      'apiVersion: helm.cattle.io/v1\nkind: HelmChart\nmetadata: {name: scalr-agent}\nspec: {chart: "https://charts.corp/agent-k8s-0.6.5.tgz"}\n',
    ],
  ])('%s: not checked', async (_, text) => {
    expect((await check({'a.yaml': text})).found).toEqual([`UNCHECKED_FILE  → ${HELM_COMMAND}`]);
  });

  test.each([
    ['app.jsonnet', "{spec: {source: {chart: 'agent-k8s', targetRevision: '0.6.5'}}}\n"],
    ['agent.nix', '{ services.k3s.charts.agent = { chart = "scalr/agent-k8s"; }; }\n'],
  ])('%s: not checked', async (file, text) => {
    expect((await check({[file]: text})).found).toEqual([`UNCHECKED_FILE  → ${HELM_COMMAND}`]);
  });

  test('programs that only mention a chart are skipped, whatever YAML would make of them', async () => {
    const files = {
      'images.py':
        '#!/usr/bin/env python3\n"""Writes Chart.yaml: images.py charts/agent-local"""\nCHARTS = {"agent-local": (1, 2)}\n',
      Makefile: 'test:\n\thelm lint charts/agent-local\n',
      'pack.sh': 'for chart in agent-k8s agent-local; do\n  helm package "charts/$chart"\ndone\n',
    };
    expect(await check(files)).toMatchObject({found: [], skipped: 3, exit: 0});
  });

  test('beside a release that is read', async () => {
    const text = `apiVersion: argoproj.io/v1alpha1\nkind: Application\nspec: {source: {chart: agent-k8s, targetRevision: 0.6.5, helm: {valuesObject: {agent: {urll: x, tokenExistingSecret: t}}}}}\n---\napiVersion: addons.cluster.x-k8s.io/v1alpha1\nkind: HelmChartProxy\nspec: {chartName: agent-k8s}\n`;
    expect((await check({'a.yaml': text})).found).toEqual([
      `UNCHECKED_FILE  → ${HELM_COMMAND}`,
      'UNKNOWN_KEY agent.urll → agent.url',
    ]);
  });

  const CONFIG =
    'apiVersion: helm.cattle.io/v1\nkind: HelmChartConfig\nmetadata: {name: scalr-agent, namespace: kube-system}\nspec: {valuesContent: "replicas: 3"}\n';
  const CHART =
    'apiVersion: helm.cattle.io/v1\nkind: HelmChart\nmetadata: {name: scalr-agent, namespace: kube-system}\nspec: {chart: agent-k8s, version: 0.6.5, valuesContent: "agent: {tokenExistingSecret: t}"}\n';
  test('a HelmChartConfig is checked with its HelmChart, or not', async () => {
    const both = {'chart.yaml': CHART, 'config.yaml': CONFIG};
    expect(await check(both)).toMatchObject({
      found: ['UNKNOWN_KEY replicas'],
      skipped: 1,
    });
    const {found, exit} = await check({'config.yaml': CONFIG});
    expect(found.map((each) => each.split(' ')[0])).toEqual(['UNCHECKED_FILE']);
    expect(exit).toBe(2);
  });

  test('sources of Flux have no values', async () => {
    const text =
      'apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmChart\nspec: {chart: agent-k8s, version: 0.6.5}\n';
    expect((await check({'a.yaml': text})).found).toEqual([]);
  });
});

describe('07 and 10: values beside a release', () => {
  test('a generator of ConfigMaps names files, and no chart', async () => {
    const text =
      'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [release.yaml]\nconfigMapGenerator: [{name: scalr-agent-values, files: ["values.yaml=./values.yaml"]}]\n';
    expect(await check({'kustomization.yaml': text})).toMatchObject({found: [], exit: 0});
  });

  test('comments of other tools behind a version are ignored', async () => {
    const text = `apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a}\nspec:\n  chart:\n    spec:\n      chart: agent-local\n      version: 0.6.3 # renovate: depName=agent-local\n  values: {agent: {tokenExistingSecret: {name: t}}}\n`;
    expect(await check({'a.yaml': text})).toMatchObject({found: [], exit: 0});
  });

  const HELMFILE =
    'templates:\n  default: &default\n    namespace: agents\n    values: [FILE]\nreleases:\n  - {name: a, chart: scalr/agent-local, version: 0.6.5, <<: *default}\n  - {name: b, chart: scalr/agent-local, version: 0.6.5, <<: *default, namespace: other}\n';
  test('a file that two releases of a Helmfile have in common is read for both', async () => {
    const files = {
      'helmfile.yaml': HELMFILE.replace('FILE', 'values/common.yaml'),
      'values/common.yaml': `${AGENT}replicas: 1\n`,
    };
    const {stdout} = await runCommand(Validate, ['helmfile.yaml'], {files: memoryFiles(files)});
    expect(stdout.match(/UNKNOWN_KEY/g)).toHaveLength(1);
    expect(stdout).toContain('values/common.yaml:4:1 error replicas');
  });

  test('a template of values is named, and only keys that are there are judged', async () => {
    const files = {
      'helmfile.yaml': HELMFILE.replace('FILE', './values.yaml.gotmpl'),
      'values.yaml.gotmpl': 'replicas: {{ .Values.replicas }}\n',
    };
    const {stderr, exit} = await runCommand(Validate, ['helmfile.yaml'], {
      files: memoryFiles(files),
    });
    expect(stderr).toContain('checked without other values of the helmfile (./values.yaml.gotmpl)');
    expect(exit).toBe(0);
  });
});

describe('09: generators of an ApplicationSet', () => {
  const set = (values: string, revision = '0.6.5'): Record<string, string> => ({
    'apps.yaml': `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: a}
spec:
  goTemplate: true
  generators: [{matrix: {generators: [{clusters: {}}, {git: {files: [{path: "clusters/*.json"}]}}]}}]
  template:
    spec:
      source:
        chart: agent-local
        targetRevision: "${revision}"
        helm:
          values: |
${values.replaceAll(/^(?=.)/gm, '            ')}`,
  });

  test('give unknown values, whose keys are checked', async () => {
    const values = `agent: {url: "https://{{.account}}.scalr.io", tokenExistingSecret: {name: "{{.name}}"}}\nreplicas: "{{.replicas}}"\n`;
    expect((await check(set(values))).found).toEqual([
      'UNCHECKED_VALUE agent.url → Render the file with its variables, and validate the result',
      'UNKNOWN_KEY replicas → replicaCount',
    ]);
  });

  test('can make values that only Argo CD can evaluate', async () => {
    const values = `{{- if .proxy }}\nextraEnv: {HTTPS_PROXY: {{.proxy}}}\n{{- end }}\n${AGENT}`;
    expect(await check(set(values))).toMatchObject({found: [], exit: 0});
    const {stderr} = await runCommand(Validate, ['apps.yaml'], {files: memoryFiles(set(values))});
    expect(stderr).toContain(
      'other values of the ApplicationSet (the template spec.template.spec.source.helm.values)',
    );
  });

  test('can give the version, which is then unknown', async () => {
    expect((await check(set(AGENT, '{{.version}}'))).found).toEqual([
      'UNCHECKED_FILE  → scalr-agent validate apps.yaml --chart-version VERSION',
    ]);
  });
});

describe('18: answers files', () => {
  const answers = (text: string) =>
    runCommand(Values, ['--answers', 'a.yaml'], {
      files: memoryFiles({'a.yaml': `url: https://acme.scalr.io\nchart: agent-local\n${text}`}),
    });

  test('with underscores get the right names', async () => {
    const {exit, steps} = refusalIn(await answers('chart_version: 0.6.5\nno_proxy: [.corp]\n'));
    expect(exit).toBe(2);
    expect(steps).toEqual([
      'Did you mean chart-version instead of chart_version?',
      'Did you mean no-proxy instead of no_proxy?',
    ]);
  });

  test('with tolerations as objects get an example', async () => {
    const text = 'toleration: [{key: dedicated, operator: Equal, value: scalr}]\n';
    expect(refusalIn(await answers(text)).steps).toEqual([
      'Write it as key=value:effect, for example dedicated=scalr:NoSchedule',
    ]);
  });

  test('with maps, lists and networks are read', async () => {
    const {stdout} = await answers(
      'chart-version: 0.6.5\nhttps-proxy: http://proxy:3128\nno-proxy: [.corp, 10.0.0.0/8]\nnode-selector: {dedicated: scalr}\ntoleration: [dedicated=scalr:NoSchedule]\nextra-env: {TF_CLI_ARGS_plan: -parallelism=30}\n',
    );
    expect(stdout).toContain('NO_PROXY: ".corp,10.0.0.0/8,');
    expect(stdout).toContain('effect: "NoSchedule"');
  });
});

describe('20: versions', () => {
  const OLD = 'url: https://acme.scalr.io\ndataHome: /var/lib/scalr-agent\nreplicaCount: 2\n';

  test('too old: the oldest supported one, and what it hides', async () => {
    expect(
      await refusal(OLD, '--from', 'agent-local@0.5.40', '--to', 'agent-local@0.6.5'),
    ).toMatchObject({
      exit: 2,
      steps: [
        'Use the oldest supported version: --from agent-local@0.5.63',
        expect.stringContaining('changes before that version are not listed'),
      ],
    });
    const release = `apiVersion: helm.cattle.io/v1\nkind: HelmChart\nmetadata: {name: a}\nspec: {chart: agent-k8s, version: 0.5.30}\n`;
    const {found, messages} = await check({'a.yaml': release});
    expect(found).toEqual(['UNCHECKED_FILE  → scalr-agent validate a.yaml --chart-version 0.5.58']);
    expect(messages).toContain('keys that it no longer has are unknown keys');
  });

  test.each([
    ['--from agent-local', ['--from', 'agent-local']],
    ['the chart alone', []],
  ])('none, from %s: how to find it', async (_, from) => {
    expect(await refusal(`${AGENT}${OLD}`, ...from, '--to', 'agent-local@0.6.5')).toMatchObject({
      exit: 2,
      steps: [
        'Add the installed version: --from agent-local@VERSION',
        'Find it in the column CHART of helm list --all-namespaces',
      ],
    });
  });

  test.each([
    ['agent-job', '0.5.80', '0.5.79'],
    ['agent-job', '0.6.0', '0.6.1'],
  ])('never released: the nearest of %s %s with the same minor version', async (chart, version, nearest) => {
    const release = `apiVersion: helm.cattle.io/v1\nkind: HelmChart\nmetadata: {name: a}\nspec: {chart: ${chart}, version: ${version}}\n`;
    expect((await check({'a.yaml': release})).found).toEqual([
      `VERSION_NOT_RELEASED  → Use the nearest version: version ${nearest}`,
    ]);
  });
});
