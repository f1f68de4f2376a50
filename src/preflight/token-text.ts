/** What a JSON Web Token says of itself; undefined where the text is none. Nothing of it may be printed. */
export function claimsOf(text: string): {expires?: Date} | undefined {
  const [header, payload, signature] = text.trim().split('.');
  const [parsed] = [header, payload].map(mapIn).slice(1);
  if (signature === undefined || mapIn(header) === undefined || parsed === undefined) return undefined;
  const {exp} = parsed as {exp?: unknown};
  return typeof exp === 'number' ? {expires: new Date(exp * 1000)} : {};
}

function mapIn(part: string | undefined): object | undefined {
  try {
    const found: unknown = JSON.parse(Buffer.from(part ?? '', 'base64url').toString('utf8'));
    return typeof found === 'object' && found !== null ? found : undefined;
  } catch {
    return undefined;
  }
}
