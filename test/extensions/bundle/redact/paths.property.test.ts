import fc from 'fast-check';
import {expect, test} from 'vitest';
import {seen} from './helpers.ts';

const text = (characters: string, length: number): fc.Arbitrary<string> =>
  fc
    .array(fc.constantFrom(...characters), {minLength: length, maxLength: length})
    .map((chosen) => chosen.join(''));
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ANY = `${LETTERS}0123456789`;
const SMALL = 'abcdefghijklmnopqrstuvwxyz0123456789';
const HEX = '0123456789abcdef';

/** Paths and names whose random parts look like a secret: of mkdtemp, macOS, Nix, pnpm, launchd, Windows and Kubernetes. */
const path = fc.oneof(
  text(ANY, 6).map((name) => `/tmp/identity-${name}/kubeconfig`),
  text(ANY, 6).map((name) => `/tmp/scalr-agent-${name}/values.yaml`),
  text(ANY, 6).map((name) => `/var/tmp/${name}/${name}`),
  text(ANY, 10).map((name) => `/tmp/tmp.${name}/token`),
  text(ANY, 10).map((name) => `/private/tmp/com.apple.launchd.${name}/Listeners`),
  text(ANY, 12).map((name) => `~/.cache/${name}/agent-token`),
  fc
    .tuple(text(SMALL, 2), text(`${SMALL}_`, 30), text(ANY, 6))
    .map(([first, second, name]) => `/var/folders/${first}/${second}/T/identity-${name}/config`),
  text(SMALL, 32).map((hash) => `/nix/store/${hash}-kubectl-1.30.0/bin/kubectl`),
  text(HEX, 62).map((hash) => `/home/runner/.local/share/pnpm/store/v3/files/4f/${hash}`),
  text(SMALL, 12).map((hash) => `node_modules/.pnpm/yaml@2.5.0_${hash}/node_modules/yaml`),
  text(ANY, 6).map((name) => `C:\\Users\\bob\\AppData\\Local\\Temp\\tmp${name}\\kubeconfig`),
  fc
    .tuple(text('456789bcdf', 10), text('bcdfghjklmnpqrstvwxz2456789', 5))
    .map(([hash, suffix]) => `scalr-agent-${hash}-${suffix}`),
);

/** Whether a text looks random is a matter of likelihood: the same ones each time. */
const RUNS = {seed: 56, numRuns: 200};

const SENTENCES = [
  (it: string) => `The kubeconfig ${it} does not exist.`,
  (it: string) => `Cannot read the kubeconfig "${it}": permission denied`,
  (it: string) => `error: context "blue" does not exist in ${it}`,
  (it: string) => `unable to read client-key ${it} for blue due to open ${it}: no such file`,
  (it: string) => `The connection was refused with the credentials in ${it}`,
  (it: string) => `Credentials from ${it} were refused`,
  (it: string) => `Cannot log in with ${it}`,
  (it: string) => `Login to the cluster with ${it} failed`,
  (it: string) => `The token file ${it} is empty`,
  (it: string) => `password file "${it}" has mode 0644`,
  (it: string) => `The secret is in ${it}`,
  (it: string) => `Saved the token in ${it}`,
  (it: string) => `KUBECONFIG=${it} kubectl get secret`,
  (it: string) => `kubectl create secret generic agent --from-file=token=${it} --kubeconfig ${it}`,
  (it: string) => `scalr-agent install --kubeconfig ${it} --token-file ${it}`,
  (it: string) => `docker run -v ${it}:/config -p ${it} agent`,
  (it: string) => `exec: "${it}": executable file not found in PATH`,
  (it: string) => `login: ${it}`,
  (it: string) => `{"error":"cannot use the credentials of ${it.replaceAll('\\', '\\\\')}\\n"}`,
];

test.each(
  SENTENCES.map((sentence) => [sentence('PATH'), sentence] as const),
)('keeps paths and names that users need: %s', (_, sentence) => {
  fc.assert(
    fc.property(path, (it) => {
      expect(seen(sentence(it))).toBe(sentence(it));
    }),
  );
});

/** Base64 with slashes in it, also as its first character. */
const base64 = fc
  .tuple(fc.constantFrom('', 'q7'), text(`${ANY}/+`, 18), text(`${ANY}/+`, 20))
  .map(([first, left, right]) => `${first}/${left}/${right}`)
  .filter((secret) => /\d/.test(secret));

test.each([
  (it: string) => `AWS_SECRET_ACCESS_KEY=${it}`,
  (it: string) => `token: ${it}`,
  (it: string) => `{"password":"${it}"}`,
  (it: string) => `curl -u bob:${it} https://example.com`,
  (it: string) => `the secret is ${it}`,
  (it: string) => `kubectl create secret generic agent --from-literal=token=${it}`,
])('finds a secret in base64 with slashes: %s', (sentence) => {
  fc.assert(
    fc.property(base64, (it) => {
      expect(seen(sentence(it))).not.toContain(it);
    }),
    RUNS,
  );
});
