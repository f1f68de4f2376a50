import {defineSetting} from './define.ts';
import {onOff} from './kinds.ts';

export const allowClearText = defineSetting('Chart values', 'allow-clear-text', {
  question: 'Store recognized credentials in clear text?',
  summary:
    'Write tokens, private keys and passwords in URLs to values and files. By default, they are rejected.',
  kind: onOff(),
  explained:
    'Everyone who can read the file, the Helm release or the pods can read the credential. Rotate it if the file was committed.',
});
