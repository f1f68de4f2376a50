/** Whether a text has letters of both cases and digits, mixed as in no word; or is a long mix of digits and letters of one case. */
export function looksRandom(text: string, least = 20): boolean {
  if (text.length < least || isName(text)) return false;
  if (isMixed(text)) return true;
  return (
    /[-_]/.test(text) && text.split(/[-_]/).some((part) => part.length >= least && isMixed(part))
  );
}

/** `DigiCert_Global_Root_G2`: words of a name, also in capitals. */
const WORDS = /[A-Z]?[a-z]{3,}|[A-Z]{3,}(?![a-z])/g;
const isName = (text: string): boolean =>
  text.split(/[-_]/).length > 3 && text.replace(WORDS, '').length < 0.5 * text.length;

function isMixed(text: string): boolean {
  const counts = [0, 0, 0, 0];
  let changes = 0;
  let last = -1;
  for (let at = 0; at < text.length; at += 1) {
    const kind = kindOf(text.charCodeAt(at));
    counts[kind] = (counts[kind] as number) + 1;
    if (kind !== last) changes += 1;
    last = kind;
  }
  const [small = 0, capital = 0, digits = 0, others = 0] = counts;
  const rate = changes / text.length;
  if (small > 0 && capital > 0 && digits > 0) return rate >= (text.length < 32 ? 0.42 : 0.36);
  if (small > 0 && capital > 0) return text.length >= 24 && others === 0 && rate >= 0.42;
  return (
    text.length >= 32 &&
    others === 0 &&
    digits > text.length / 12 &&
    rate >= 0.2 &&
    !/^(?:[0-9a-f]+|[0-9A-F]+)$/.test(text)
  );
}

function kindOf(code: number): number {
  if (code >= 97 && code <= 122) return 0;
  if (code >= 65 && code <= 90) return 1;
  return code >= 48 && code <= 57 ? 2 : 3;
}
