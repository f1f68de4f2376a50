import type {Random} from './random.ts';

const WORDS = [
  'winter',
  'summer',
  'dragon',
  'monkey',
  'orange',
  'silver',
  'falcon',
  'purple',
  'cactus',
  'harbor',
  'meadow',
  'rocket',
  'velvet',

  'thunder',
  'copper',
  'island',
  'maple',
  'bridge',
  'forest',
  'pepper',
  'castle',
  'lemon',
  'tiger',
  'ocean',
  'planet',
  'coffee',

  'banana',
  'guitar',
  'window',
  'marble',
  'yellow',
  'turtle',
  'kitten',
  'spring',
  'autumn',
  'garden',
  'mountain',
  'river',
  'sunset',
];

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

export const word = (random: Random): string => random.pick(WORDS);

/** What a person thinks of. */
export function humanPassword(random: Random): string {
  const first = word(random);
  const second = word(random);
  return random.pick([
    () =>
      `${capital(first)}${random.between(1970, 2026)}${random.pick(['!', '!', '#', '$', '@', '*', ''])}`,
    () =>
      `${capital(first)}${capital(second)}${random.between(1, 999)}${random.pick(['!', '', '?', '#'])}`,
    () =>
      `${first.replace('e', '3').replace('o', '0').replace('a', '@')}${random.between(10, 9999)}`,
    () => `${first}_${second}_${random.between(10, 99)}`,
    () => `P@ss${capital(first)}${random.between(1, 99)}`,
  ])();
}

/** `random_password` with the signs that Terraform takes by default. */
export function randomPassword(
  random: Random,
  length = random.pick([16, 16, 20, 20, 24, 32]),
): string {
  return random.signs(
    'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!@#$%&*()-_=+[]{}<>:?',
    length,
  );
}

export const passphrase = (random: Random): string =>
  Array.from({length: 4}, () => word(random)).join(random.pick(['-', '-', '.', '_']));

export const alnumPassword = (random: Random): string =>
  random.signs('alnum', random.pick([12, 16, 16, 20, 24, 32]));

export function password(random: Random): string {
  const chance = random.below(100);
  if (chance < 32) return randomPassword(random);
  if (chance < 64) return alnumPassword(random);
  return chance < 90 ? humanPassword(random) : passphrase(random);
}

/** From a password manager, with signs that every format escapes. */
export const hardPassword = (random: Random): string =>
  `${random.signs('alnum', 5)}${random.pick(['"', '\\', '"', '&'])}${random.signs(`abcdefghkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"\\^~|;.!`, 11)}`;
