import {decodedBase64, Secret} from '../../ground/secret.ts';
import {bareToken, unusableToken} from '../../ground/token-text.ts';
import {InvalidValue, type Kind, type ParseContext} from './kind.ts';

const isToken = (text: string): boolean => /^eyJ[\w-]*\.[\w-]+\.[\w-]*$/.test(text);

/** A pasted agent pool token. What was copied with it is taken off; a token that no agent can use is an error. */
export const secret = ({isFile = false} = {}): Kind<Secret> => ({
  jsonSchema: {type: 'string', minLength: 1},
  hint: 'PATH',
  isFile,
  readsStdin: isFile,
  isSecret: true,
  parse(raw, {now, note}) {
    const value = decodedToken(bareToken(String(raw).trim()), note);
    if (value === '')
      throw new InvalidValue('The token is empty', 'Copy the token again from the agent pool page');
    if (/\s/.test(value))
      throw new InvalidValue(
        'The token contains whitespace',
        'Copy the token again without spaces and line breaks',
      );
    if (/^<.*>$/.test(value))
      throw new InvalidValue('The token is a placeholder', 'Replace it with your agent pool token');
    const problem = unusableToken(value, now);
    if (problem !== undefined) throw new InvalidValue(problem.message, problem.nextStep);
    return new Secret(value);
  },
  format: () => [],
});

/** kubectl prints the data of a Secret in base64. */
function decodedToken(text: string, note: ParseContext['note']): string {
  const decoded = bareToken(decodedBase64(text) ?? '');
  if (!isToken(decoded)) return text;
  note?.('is base64-encoded, and was decoded');
  return decoded;
}
