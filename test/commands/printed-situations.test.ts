import {describe, expect, test} from 'vitest';
import {stringify} from 'yaml';
import {goldenCases} from '../golden/cases.ts';
import {
  diskOf,
  outcomeOf,
  PLACEHOLDER,
  problemAfter,
  problemsIn,
  type Situation,
  uselessness,
  wordsOf,
} from '../support/situation.ts';
import {CHART_NAMES} from '../support/versions.ts';

type Answers = Readonly<Record<string, string>>;

const URL = '--url https://acme.scalr.io';
const ANSWERS = 'url: https://acme.scalr.io\nchart: agent-local\n';
const LOCAL =
  'agent:\n  url: https://acme.scalr.io\n  tokenExistingSecret: {name: scalr-agent-token}\n';
const KNOWN = `# Values of agent-local 0.6.5 (agent 1.4.0): only values that differ from the chart defaults.\n\n${LOCAL}`;
const UNDECIDED = 'agent: {url: https://acme.scalr.io}\n';
const FLEET = {'answers.yaml': ANSWERS, 'clusters/eu-1.yaml': '', 'clusters/eu-2.yaml': ''};

const SITUATIONS: readonly Situation[] = [
  // Success with next steps.
  {typed: `values ${URL} --out values.yaml`},
  {typed: `values ${URL} --chart agent-job --schema values.schema.json --out values.yaml`},
  {typed: 'values --answers answers.yaml --out values.yaml', files: {'answers.yaml': ANSWERS}},
  {typed: `values ${URL} --cloud eks --concurrency 5 --purpose runs`},
  {typed: `recommend ${URL} --cloud eks`},
  {typed: 'recommend --answers answers.yaml --overlay clusters', files: FLEET},
  {typed: 'images --image-registry registry.example.com/mirror'},
  {typed: `images ${URL} --chart agent-job --image-registry registry.example.com/mirror`},
  {typed: 'images --chart agent-k8s --image-registry registry.example.com'},
  {typed: `network ${URL} --chart agent-job`},
  {typed: 'schema --chart agent-local'},
  ...['argocd', 'argocd-appset', 'flux', 'terraform', 'helmfile'].flatMap((target) => {
    const git = target.startsWith('argocd') ? ' --git-url https://git.example.com/agents.git' : '';
    return [
      {typed: `export ${target} ${URL}${git} --out fleet --yes`, files: FLEET},
      {
        typed: `export ${target} --answers answers.yaml --overlay clusters${git} --out fleet --yes`,
        files: FLEET,
      },
    ];
  }),
  {typed: `export flux ${URL} --secret-store vault --out fleet --yes`, files: FLEET},
  {typed: `export helmfile ${URL} --sealed-secrets --autoscaled --out fleet --yes`, files: FLEET},
  ...['docker', 'compose', 'systemd'].map((target) => ({
    typed: `export ${target} ${URL} --out agent --yes`,
  })),
  {typed: 'export dockerfile --chart agent-job --package jq --out image --yes'},
  {typed: 'export dockerfile --chart agent-local --base agent --out image --yes'},
  {typed: 'export dockerfile --chart agent-k8s --base agent --ca-file ca.pem --out image --yes'},
  {
    typed: `export dockerfile ${URL} --chart agent-k8s --base agent --ca-file ca.pem --out image --yes`,
  },
  {
    typed: 'migrate values.yaml --from agent-local@0.6.4 --to agent-job@0.6.5',
    files: {'values.yaml': LOCAL},
  },
  {
    typed: 'migrate values.yaml --from agent-k8s@0.5.58 --to agent-local',
    files: {'values.yaml': UNDECIDED},
  },
  {typed: 'validate values.yaml --chart agent-local', files: {'values.yaml': LOCAL}},
  ...['bash', 'zsh', 'fish', 'powershell'].map((shell) => ({typed: `completion ${shell}`})),
  // Errors.
  {typed: 'values --chart agent-job'},
  {typed: `values ${URL} --chart agent-local --chart-version 0.5.63`},
  // A version that every chart has, because the error names each of them.
  {typed: `values ${URL} --chart-version 0.6.5`},
  {typed: `values ${URL} --run-cpu-request 500`},
  {typed: `values ${URL} --run-memory-request 4Gi --run-memory-limit 2Gi`},
  {typed: `values ${URL} --chart agent-local --cache efs`},
  {typed: `values ${URL} --chart agent-local --cache efs --efs-handle fs-0123456789abcdef0`},
  {typed: `values ${URL} --chart agent-job --efs-handle fs-0123456789abcdef0`},
  {
    typed: `values ${URL} --chart agent-job --chart-version 0.5.63 --image-registry registry.example.com`,
  },
  {typed: `values ${URL} --chart agent-job --chart-version 0.5.60 --client-cert-secret tls`},
  {typed: `values ${URL} --chart agent-job --shutdown-mode drain`},
  {typed: `values ${URL} --chart agent-local --chart-version 0.5.62`},
  {typed: `values ${URL} --chart agent-local --chart-version 0.5.70`},
  {typed: `values ${URL} --chart agent-local --chart-version 9.9.9`},
  {typed: `values ${URL} --purpose vcs --concurrency 3`},
  {typed: `values ${URL} --purpose vcs --isolation per-run`},
  {typed: `values ${URL} --cache existing-pvc`},
  {typed: `values ${URL} --cache pvc --concurrency 3`},
  {typed: `values ${URL} --cache ephemeral --cache-claim mine`},
  {typed: `values ${URL} --cach-size 5Gi`},
  {typed: `values ${URL} --cache`},
  {typed: `values ${URL} --cloud moon`},
  {typed: `values ${URL} --shutdown-mode now`},
  {typed: `values ${URL} --chart nginx`},
  {typed: 'values --url ftp://acme --concurrency many'},
  {typed: 'values --url https://acme.scalr.io --chart agent-local --set replicaCount=two'},
  {typed: 'values --url https://acme.scalr.io --chart agent-local --set agent.tokn=x'},
  {
    typed: `values ${URL} --chart agent-job --service-account-annotation eks.amazonaws.com/role-arn=scalr --workload-identity irsa`,
  },
  {typed: `values ${URL} --client-cert-file client.pem`},
  {typed: `values ${URL} --client-cert-file client.pem --client-cert-secret tls`},
  {typed: `values ${URL} --out values.yaml`, files: {'values.yaml': 'mine: 1\n'}},
  {
    typed: 'values --answers answers.yaml',
    files: {'answers.yaml': 'url: https://acme.scalr.io\ncach: pvc\n'},
  },
  {typed: 'values --answers nowhere.yaml'},
  {typed: 'recommend --purpose vcs --controller-replicas 2'},
  {typed: 'recommend --purpose vcs --isolation per-run'},
  {typed: 'validate', files: {'values.yaml': KNOWN, '-': KNOWN}},
  {typed: 'validate empty.yaml', files: {'empty.yaml': ''}},
  {typed: 'validate u.yaml', files: {'u.yaml': UNDECIDED}},
  {
    typed: 'validate typo.yaml --chart agent-local',
    files: {'typo.yaml': 'agent:\n  tokenExistingSecert: x\n'},
  },
  {typed: 'validate bad.yaml --chart agent-local', files: {'bad.yaml': 'a: b: c\n'}},
  {typed: 'schema'},
  {typed: 'migrate u.yaml --to agent-job@0.6.5', files: {'u.yaml': UNDECIDED}},
  {
    typed: 'migrate bad.yaml --from agent-local@0.6.4 --to agent-job@0.6.5',
    files: {'bad.yaml': 'a:\n - b\n  c: 1\n'},
  },
  {typed: 'export'},
  {typed: 'export docker-compose'},
  {typed: 'export kustomize'},
  {typed: `export compose ${URL} --chart agent-local`},
  {typed: `export compose ${URL} --overlay clusters`},
  {typed: `export compose ${URL} --package jq`},
  {typed: `export flux ${URL} --sops --sealed-secrets`},
  {typed: `export argocd ${URL} --sops`},
  {typed: `export argocd-appset ${URL}`},
  {typed: 'export dockerfile --chart agent-local --base runner'},
  {typed: 'export dockerfile --chart agent-k8s --chart-version 0.5.60 --base runner'},
  {typed: 'export dockerfile --base terraform'},
  {typed: 'completion'},
  {typed: 'completion tcsh'},
  {typed: 'debug'},
  {typed: 'debug maybe'},
  {typed: 'inspect'},
  {typed: 'pool list'},
  {typed: 'pool list --url https://acme.scalr.io'},
  {typed: 'pool show', env: {SCALR_HOSTNAME: 'acme.invalid', SCALR_TOKEN: 'token'}},
  {typed: 'install --no-input'},
  {typed: 'install --target systemd'},
  {typed: 'install --no-input --target docker'},
  {typed: `install ${URL} --target docker --chart agent-local`},
  {typed: `install ${URL} --target docker --cache pvc`},
  {typed: 'uninstall --target docker'},
  {typed: 'upgrade --target docker'},
  {typed: 'debug on --target docker'},
  {typed: 'preflight --target docker'},
  {typed: 'status --target systemd'},
  {typed: 'collect-logs --docker agent --journal'},
  {typed: 'rotate-token --target docker'},
];

describe('what is printed can be typed', () => {
  test.each(SITUATIONS)('$typed', async (situation) => {
    const words = wordsOf(situation.typed);
    const disk = diskOf(situation);
    const {text} = await outcomeOf(words, disk, situation.env);
    const isJson = words.includes('--json') || /^(?:completion|schema)\b/.test(situation.typed);
    const withJson = isJson ? words : [...words, '--json'];
    const documented = await outcomeOf(withJson, diskOf(situation), situation.env);
    const next = [...documented.text.matchAll(/"(scalr-agent (?:[^"\\]|\\.)*)"/g)]
      .map(([, command = '']) => command)
      .filter((command) => !PLACEHOLDER.test(command));
    const written = disk.written.map((file) => file.text.replaceAll(/ \\\n# */g, ' '));
    const printed = [text.replaceAll(/ \\\n# */g, ' '), ...written, ...next].join('\n');
    const wrong = await problemsIn(printed, disk, situation.env);
    const useless = await Promise.all(
      documented.suggestions.map((each) =>
        uselessness(each, withJson, documented, diskOf(situation), situation.env),
      ),
    );
    expect([...wrong, ...useless.flatMap((each) => each ?? [])], text).toEqual([]);
  });
});

/** Every rejected combination of settings that a golden file has. */
const REJECTED = CHART_NAMES.flatMap((chart) =>
  Object.entries(goldenCases(chart)).flatMap(([name, {answers, error}]) =>
    error === undefined ? [] : [{name: `${chart} ${name}`, answers: answers as Answers}],
  ),
);

test.each(REJECTED)('the suggestions for $name are accepted', async ({answers}) => {
  const situation = {typed: 'values', files: {'answers.yaml': stringify(answers)}};
  const target = (['chart', 'chart-version'] as const).flatMap((key) =>
    answers[key] === undefined ? [] : [`--${key}`, answers[key]],
  );
  const words = ['values', '--answers', 'answers.yaml', ...target, '--json'];
  const outcome = await outcomeOf(words, diskOf(situation));
  expect(outcome.suggestions).not.toEqual([]);
  const useless = await Promise.all(
    outcome.suggestions.map((each) => uselessness(each, words, outcome, diskOf(situation))),
  );
  const refused = await Promise.all(
    outcome.suggestions
      .filter((each) => /^Use --chart(?:-version)? /.test(each))
      .map((each) => problemAfter(each, words, diskOf(situation))),
  );
  expect([...useless, ...refused].flatMap((each) => each ?? [])).toEqual([]);
});

test.each([
  ['Use --chart agent-job, which supports it (up to 0.5.63)', 'already given'],
  ['Use --chart-version 0.5.63, which supports it', 'agent-job 0.5.63 is broken'],
  ['Use --chart agent-k8s|agent-local', 'not one value'],
  ['Add --efs-handle fs-0123456789abcdef0', 'already given'],
])('a useless suggestion is found: %s', async (suggestion, problem) => {
  const words = wordsOf(`values ${URL} --chart agent-job --efs-handle fs-0123456789abcdef0 --json`);
  const disk = diskOf({typed: ''});
  const outcome = await outcomeOf(words, disk);
  expect(await uselessness(suggestion, words, outcome, disk)).toBe(`${suggestion}: ${problem}`);
});

test.each([
  ['Next: scalr-agent install --chart agent-job', 'MISSING_SETTING'],
  [
    'Next: scalr-agent values --url https://acme.scalr.io --chart agent-job --chart-version 0.5.63',
    'broken',
  ],
  ['- Use it: scalr-agent schema --chart agent-k8s|agent-local', 'another way'],
  ['- Use it: scalr-agent values --url https://<account>.scalr.io', 'another way'],
  ['- Use it: scalr-agent values --uri https://acme.scalr.io', 'Nonexistent flag'],
  ['- Use it: scalr-agent value --url https://acme.scalr.io', 'unknown command'],
])('a command that fails is found: %s', async (text, problem) => {
  expect(await problemsIn(text, diskOf({typed: ''}))).toEqual([expect.stringContaining(problem)]);
});
