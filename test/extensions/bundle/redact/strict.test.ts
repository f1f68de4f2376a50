import {expect, test} from 'vitest';
import {redactor} from '../../../../src/extensions/bundle/redact/redactor.ts';
import {KEY, known, seen} from './helpers.ts';

const strict = (text: string): string =>
  redactor({knownSecrets: known({}), level: 'strict', key: KEY}).text('log', text);

test.each([
  ['a host name', 'cannot reach acme.scalr.io:443', 'acme.scalr.io'],
  ['an IPv4 address', 'dial tcp 10.0.1.23:5432: refused', '10.0.1.23'],
  ['an IPv6 address', 'listening on fe80::1ff:fe23:4567:890a', '4567:890a'],
  ['an uncertain key', 'session: summer-picnic-place', 'summer-picnic-place'],
  ['a shorter random string', 'got aB3dE5fG7hJ9k from it', 'aB3dE5fG7hJ9k'],
  [
    'a word with digits behind the name of a secret',
    'secret rotated on db-01, use hunter-77 from now',
    'hunter-77',
  ],
  ['a word with digits before it', 'swordfish9 was taken as the password', 'swordfish9'],
  [
    'a passphrase near it',
    'the token is in my notes: correct-horse-battery',
    'correct-horse-battery',
  ],
])('hides %s only with --redact strict', (_, text, secret) => {
  expect(seen(text)).toContain(secret);
  expect(strict(text)).not.toContain(secret);
});

test.each([
  'started in 12.5s, version v1.31.0',
  '10:00:05 12 of 40 done.',
  'main.go:42 panic',
  'password policy of v1.31.0 read in auth.go:42',
])('keeps numbers, times and files: %s', (text) => {
  expect(strict(text)).toBe(text);
});

test.each([
  '2026-11-26T10:00:00.123Z [DEBUG] provider.terraform-provider-aws_v5.80.0_x5: HTTP Request Sent: aws.region=eu-west-1 rpc.method=GetSecretValue tf_aws.sdk=aws-sdk-go-v2 tf_req_id=7b0f1a52-5c6d-4a3e-9f10-2b3c4d5e6f70 tf_resource_type=aws_secretsmanager_secret_version',
  '2026-11-26T10:00:00.123Z [ERROR] provider.terraform-provider-azurerm_v4.1.0_x5: diagnostic_summary="AADSTS7000222: The provided client secret keys for app are expired" tf_rpc=Configure',
  '2026-11-26T10:00:00.123Z [TRACE] vertex "module.db.aws_s3_object.token_file": visit complete',
  '2026-11-26T10:00:00.123Z [TRACE] vertex "random_password.db_password (expand)": starting visit (*terraform.nodeExpandPlannableResource)',
  '2026-11-26T10:00:00.123Z [DEBUG] Acquired lock on secret state, LockID: run-v0oabc123def456',
  '2026-11-26T10:00:00.123Z [DEBUG] checking for credentials for registry.terraform.io/hashicorp/aws 5.80.0',
  'Error: reading Secrets Manager Secret (arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-a1B2c3): AccessDeniedException, status code: 400',
  'CKV_AWS_149: "Ensure that Secrets Manager secret is encrypted using KMS CMK"',
  'run-v0o1abcd2efgh: token accepted, max_tokens: 4096, X509v3 key usage',
])('keeps providers, addresses, error codes and run ids of TF_LOG: %s', (text) => {
  expect(strict(text)).toBe(text);
});
