import {expect, test} from 'vitest';
import {decryptCommand, encryptionOf} from '../../src/ground/encryption.ts';

test('the printed command is safe for every name of a file', () => {
  const sops = encryptionOf('a: ENC[AES256_GCM,data:x]');
  if (sops === undefined) throw new Error('not recognized');
  expect(decryptCommand(sops, 'values.yaml')).toBe('sops --decrypt values.yaml');
  expect(decryptCommand(sops, "my $(id)'s.yaml")).toBe("sops --decrypt 'my $(id)'\\''s.yaml'");
});
