/** Length of an anchor: characters of a spelling that are searched, before the characters around them are compared. */
export const ANCHOR_LENGTH = 6;

/** A good place for an anchor: with different characters. Undefined if all are too common, such as a ruler of dashes. */
export function anchorIn(
  text: string,
  from: number,
  to: number,
  isFull?: (at: number) => boolean,
): number | undefined {
  let best: number | undefined;
  let most = 3;
  const end = Math.min(to, text.length - ANCHOR_LENGTH + 1);
  for (let at = from; at < end && most <= ANCHOR_LENGTH; at += 1) {
    const rank = rankAt(text, at);
    if (rank <= most || isFull?.(at)) continue;
    best = at;
    most = rank;
  }
  return best;
}

function rankAt(text: string, at: number): number {
  let rank = 0;
  for (let position = at; position < at + ANCHOR_LENGTH; position += 1) {
    const code = text.charCodeAt(position);
    let earlier = at;
    while (text.charCodeAt(earlier) !== code) earlier += 1;
    if (earlier === position) rank += 1;
    // Small letters stand in every word.
    if (code < 97 || code > 122) rank += 0.1;
  }
  return rank;
}
