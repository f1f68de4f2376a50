import {shellWord} from './command-line.ts';
import {type ExpectedError, failed} from './errors.ts';

/** A way to encrypt a file whose content this program would misread. */
export interface Encryption {
  name: string;
  pattern: RegExp;
  /** Prints the decrypted file. */
  command: readonly string[];
}

const ENCRYPTIONS: readonly Encryption[] = [
  {
    name: 'SOPS',
    pattern:
      /ENC\[AES256_GCM,|(?:^|[{,])\s*["']?sops["']?\s*:(?=[\s\S]*["']?(?:mac|lastmodified)["']?\s*:)/m,
    command: ['sops', '--decrypt'],
  },
  {
    name: 'Ansible Vault',
    pattern: /^(?:\uFEFF)?\$ANSIBLE_VAULT;|!vault\s*\|/,
    command: ['ansible-vault', 'view'],
  },
  {
    name: 'age',
    pattern: /^(?:-----BEGIN AGE ENCRYPTED FILE-----|age-encryption\.org\/)/,
    command: ['age', '--decrypt', '--identity', 'KEY'],
  },
  {name: 'git-crypt', pattern: /^\0GITCRYPT\0/, command: ['git-crypt', 'unlock;', 'cat']},
];

/** How the text is encrypted, whole or in parts; undefined if it is not. */
export const encryptionOf = (text: string): Encryption | undefined =>
  ENCRYPTIONS.find(({pattern}) => pattern.test(text));

/** The command that prints the decrypted file. */
export const decryptCommand = ({command}: Encryption, file = 'FILE'): string =>
  [...command, file === '-' ? 'FILE' : shellWord(file)].join(' ');

/** @throws ExpectedError for an encrypted file, whose values would be written as they are; `use` is the way to give the decrypted one */
export function refuseEncrypted(
  file: string,
  text: string,
  use: (decrypt: string) => string,
): void {
  const found = encryptionOf(text);
  if (found !== undefined) throw encryptedError(file, found, use(decryptCommand(found, file)));
}

const encryptedError = (file: string, {name}: Encryption, remedy: string): ExpectedError =>
  failed(
    'ENCRYPTED_FILE',
    `${file === '-' ? 'Standard input' : file} is encrypted with ${name}, so its values cannot be read.`,
    [remedy],
  );
