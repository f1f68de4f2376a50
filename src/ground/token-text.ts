import {isUserToken, Secret, tokenClaims} from './secret.ts';

/** Straight quotes, and those that word processors make of them. */
const QUOTES = `"'\`\u2018\u2019\u201C-\u201E`;

/** What people copy together with a token: the name of a variable, a header or a key, quotes, the end of a line. */
const AROUND: readonly RegExp[] = [
  new RegExp(`^[\\s${QUOTES}]+`),
  new RegExp(`[\\s${QUOTES},;]+$`),
  /^(?:export|set|setx|-H|--header)\s+/i,
  // The padding of base64 is at the end of its text.
  /^(?:\$env:)?[a-z_][\w.-]*\s*=\s*(?=[^=\s])/i,
  /^[a-z_][\w.-]*["']?:(?:\s+|(?=bearer|eyJ|["'`]))/i,
  // A paste over several lines is joined without its spaces.
  /^bearer(?:\s+|(?=eyJ))/i,
];

/** The token in a pasted text, without quotes, `Bearer` or the name of a variable around it. */
export function bareToken(text: string): string {
  const shorter = AROUND.reduce((left, each) => left.replace(each, ''), text);
  return shorter === text ? text : bareToken(shorter);
}

/** Why an agent cannot use a complete token, as a message and its next step; undefined if nothing is known against it. */
export function unusableToken(
  text: string,
  now: Date,
): {message: string; nextStep: string} | undefined {
  if (isUserToken(new Secret(text)))
    return {
      message: 'This is a user token, not an agent pool token',
      nextStep: 'Create a token in the agent pool in Scalr',
    };
  const expires = tokenClaims(text)?.expires;
  if (expires === undefined || expires > now) return undefined;
  return {
    message: `The token expired on ${expires.toISOString().slice(0, 10)}`,
    nextStep: 'Create a new token in the agent pool',
  };
}
